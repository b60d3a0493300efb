import { prefixNames } from '../../store/sql/tables.ts'
import type { Declared } from '../../store/sql/columns.ts'
import type { Model } from '../model/define.ts'
import { MODELS } from '../models.ts'

/** Tables that no model declares: of bytes and passages, of the core, and those that migrations drop. */
const OTHERS = [
  'accounts',
  'app_bytes',
  'app_chunks',
  'deployment_lines',
  'edit_lines',
  'file_chunks',
  'file_vectors',
  'file_words',
  'removed_files',
] as const

type TableName = (typeof MODELS)[number]['table'] | (typeof OTHERS)[number]

/** The tables of the platform's nouns by their plain names, and one of the core that they read. */
export type PlatformTables = Readonly<Record<TableName, string>>

/** A model that has a table of the platform. */
export type PlatformModel<D extends Declared = Declared> = Model<D, TableName>

/** @throws TypeError for a prefix that is not [a-z][a-z0-9_]{0,20} or empty */
export function namePlatformTables(prefix: string): PlatformTables {
  return prefixNames(prefix, [...MODELS.map(({ table }) => table), ...OTHERS])
}
