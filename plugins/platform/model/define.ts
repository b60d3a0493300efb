import type { Row } from '../../store/sql/rows.ts'
import type {
  Column,
  ColumnType,
  Declared,
  Field,
  RecordOfDeclared,
} from '../../store/sql/columns.ts'
import { group } from '../../store/sql/columns.ts'

/**
 * A noun of the platform, declared once: its record type, its rows and what is checked against the schema
 * follow from it.
 */
export interface Model<D extends Declared = Declared, Table extends string = string> {
  readonly table: Table
  /** Names of the columns, in the order of their declaration. */
  readonly columns: readonly string[]
  /** What the schema must say of each column, internal ones included. */
  readonly schema: ReadonlyMap<string, { readonly type: ColumnType; readonly nullable: boolean }>
  readonly record: Field<RecordOfDeclared<D>>
  /** Of a noun that jobs carry out: on what condition it shows its job, beside that there is one. */
  readonly job?: string
  toRecord(row: Row): RecordOfDeclared<D>
  /** The columns of the given properties alone. */
  toRow(values: Partial<RecordOfDeclared<D>>): Row
}

/** The record that a model declares. */
export type RecordOf<M> = M extends Model<infer D> ? RecordOfDeclared<D> : never

/** What records show of the jobs that carry them out. */
interface Shown<J extends Declared> {
  readonly shows: J
  /** SQL: only where this holds. Default: always. */
  readonly only?: string
}

/**
 * Declares a noun.
 *
 * @param internal columns that are no part of the record, such as claims
 * @param job what of the record are columns of its job
 * @example
 * const LABELS = defineModel('labels', { app_id: id(), name: text(), pinned: flag() })
 * type Label = RecordOf<typeof LABELS> // { app_id: string; name: string; pinned: boolean }
 */
export function defineModel<
  const Table extends string,
  const D extends Declared,
  const J extends Declared = NonNullable<unknown>,
>(
  table: Table,
  declared: D,
  internal: Readonly<Record<string, Column<unknown>>> = {},
  job?: Shown<J>,
): Model<D & J, Table> {
  const { columns, write } = group<Declared>(declared)
  const { read } = group<Declared>({ ...declared, ...job?.shows })
  const record = { columns, read, write } as Field<RecordOfDeclared<D & J>>
  return {
    table,
    columns: Object.keys(columns),
    schema: new Map(Object.entries({ ...columns, ...internal })),
    record,
    ...(job !== undefined && { job: job.only ?? 'TRUE' }),
    toRecord: record.read,
    toRow: record.write,
  }
}
