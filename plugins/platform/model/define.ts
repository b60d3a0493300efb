import type { Row } from '../../store/sql/rows.ts'
import type { PlatformTables } from '../sql/tables.ts'
import type { Column, ColumnType, Declared, Field } from './columns.ts'

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
  toRecord(row: Row): RecordOfDeclared<D>
  /** The columns of the given properties alone. */
  toRow(values: Partial<RecordOfDeclared<D>>): Row
}

type ValueOf<T> = T extends Column<infer V> | Field<infer V> ? V : never

type RecordOfDeclared<D extends Declared> = { readonly [Name in keyof D]: ValueOf<D[Name]> }

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
  const fields = Object.entries(declared).map(([name, one]) => [name, toField(name, one)] as const)
  const own = Object.assign(
    {},
    ...fields.map(([, { columns }]) => columns),
  ) as Field<unknown>['columns']
  return {
    table,
    columns: Object.keys(own),
    schema: new Map(Object.entries({ ...own, ...internal })),
    toRecord: (row) =>
      Object.fromEntries(
        fields.map(([name, field]) => [name, field.read(row)]),
      ) as RecordOfDeclared<D>,
    toRow: (values) => {
      const given = values as Readonly<Record<string, unknown>>
      const named = fields.filter(([name]) => given[name] !== undefined)
      return Object.assign({}, ...named.map(([name, field]) => field.write(given[name]))) as Row
    },
  }
}

function toField(name: string, declared: Column<unknown> | Field<unknown>): Field<unknown> {
  if ('columns' in declared) return declared
  return {
    columns: { [name]: declared },
    read: (row) => declared.read(row[name]),
    write: (value) => ({ [name]: declared.write(value) }),
  }
}
