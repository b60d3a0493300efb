/** Every table by its plain name; the prefix lets them live inside somebody else's database. */
const NAMES = [
  'access_lines',
  'accounts',
  'app_bytes',
  'app_checks',
  'app_chunks',
  'app_probes',
  'app_usage',
  'apps',
  'attempts',
  'audit',
  'changes',
  'changes_head',
  'deliveries',
  'domains',
  'deployment_lines',
  'deployments',
  'edit_lines',
  'edits',
  'event_types',
  'events',
  'file_chunks',
  'file_vectors',
  'file_words',
  'files',
  'idempotency',
  'key_secrets',
  'keys',
  'left_aliases',
  'meta',
  'migrations',
  'observers',
  'problems',
  'processes',
  'publishing',
  'revisions',
  'service_secrets',
  'services',
  'sessions',
  'settling',
  'setup_links',
  'sign_in',
  'sites',
  'users',
  'webhook_secrets',
  'webhooks',
] as const

export type Tables = Readonly<Record<(typeof NAMES)[number], string>>

/** @throws TypeError for a prefix that is not [a-z][a-z0-9_]{0,20} or empty */
export function nameTables(prefix: string): Tables {
  if (!/^([a-z][a-z0-9_]{0,20})?$/.test(prefix)) {
    throw new TypeError(
      `table prefix ${JSON.stringify(prefix)} must be lower case letters, digits and _`,
    )
  }
  return Object.fromEntries(NAMES.map((name) => [name, prefix + name])) as Tables
}
