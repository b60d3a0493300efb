import type { Row } from '../../store/sql/rows.ts'
import type { PlatformTables } from '../sql/tables.ts'
import type { Column, ColumnType, Declared, Field, RecordOfDeclared } from './columns.ts'
import { group } from './columns.ts'

/**
 * A noun of the platform, declared once: its record type, its rows and what is checked against the schema
 * follow from it.
 */
export interface Model<D extends Declared = Declared> {
  readonly table: keyof PlatformTables
  /** Names of the columns, in the order of their declaration. */
  readonly columns: readonly string[]
  /** What the schema must say of each column, internal ones included. */
  readonly schema: ReadonlyMap<string, { readonly type: ColumnType; readonly nullable: boolean }>
  readonly record: Field<RecordOfDeclared<D>>
  toRecord(row: Row): RecordOfDeclared<D>
  /** The columns of the given properties alone. */
  toRow(values: Partial<RecordOfDeclared<D>>): Row
}

/** The record that a model declares. */
export type RecordOf<M> = M extends Model<infer D> ? RecordOfDeclared<D> : never

/**
 * Declares a noun.
 *
 * @param internal columns that are no part of the record, such as claims
 * @example
 * const LABELS = defineModel('labels', { app_id: id(), name: text(), pinned: flag() })
 * type Label = RecordOf<typeof LABELS> // { app_id: string; name: string; pinned: boolean }
 */
export function defineModel<const D extends Declared>(
  table: keyof PlatformTables,
  declared: D,
  internal: Readonly<Record<string, Column<unknown>>> = {},
): Model<D> {
  const record = group(declared)
  return {
    table,
    columns: Object.keys(record.columns),
    schema: new Map(Object.entries({ ...record.columns, ...internal })),
    record,
    toRecord: record.read,
    toRow: record.write,
  }
}
