/** The tables of the core store by plain name. The prefix allows them in the database of an embedder. */
const NAMES = [
  'accounts',
  'attempts',
  'audit',
  'changes',
  'changes_head',
  'deliveries',
  'event_types',
  'events',
  'idempotency',
  'key_secrets',
  'keys',
  'meta',
  'migrations',
  'processes',
  'publishing',
  'sessions',
  'settling',
  'setup_links',
  'users',
  'webhook_secrets',
  'webhooks',
] as const

export type Tables = NamesOf<typeof NAMES>

type NamesOf<Names extends readonly string[]> = Readonly<Record<Names[number], string>>

/** @throws TypeError for a prefix that is not [a-z][a-z0-9_]{0,20} or empty */
export function nameTables(prefix: string): Tables {
  return prefixNames(prefix, NAMES)
}

/** @throws TypeError for a prefix that is not [a-z][a-z0-9_]{0,20} or empty */
export function prefixNames<const Names extends readonly string[]>(
  prefix: string,
  names: Names,
): NamesOf<Names> {
  if (!/^([a-z][a-z0-9_]{0,20})?$/.test(prefix)) {
    throw new TypeError(
      `table prefix ${JSON.stringify(prefix)} must be lower case letters, digits and _`,
    )
  }
  return Object.fromEntries(names.map((name) => [name, prefix + name])) as NamesOf<Names>
}
