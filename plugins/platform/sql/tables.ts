import type { NamesOf } from '../../store/sql/tables.ts'
import { prefixNames } from '../../store/sql/tables.ts'

/** The tables of the platform's nouns by their plain names, and one of the core that they read. */
const NAMES = [
  'access_lines',
  'accounts',
  'app_bytes',
  'app_checks',
  'app_chunks',
  'app_probes',
  'app_usage',
  'apps',
  'deployment_lines',
  'deployments',
  'domains',
  'edit_lines',
  'edits',
  'file_chunks',
  'file_vectors',
  'file_words',
  'files',
  'job_lines',
  'jobs',
  'left_aliases',
  'observers',
  'problems',
  'removed_files',
  'revisions',
  'service_secrets',
  'services',
  'sign_in',
  'sites',
] as const

export type PlatformTables = NamesOf<typeof NAMES>

/** @throws TypeError for a prefix that is not [a-z][a-z0-9_]{0,20} or empty */
export function namePlatformTables(prefix: string): PlatformTables {
  return prefixNames(prefix, NAMES)
}
