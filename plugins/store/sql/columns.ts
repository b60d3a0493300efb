import type { Creator } from '../../../lib/key/record.ts'
import type { Row } from './rows.ts'
import { integer } from './rows.ts'

/** As the migrations spell it; `id` is text that is compared bytewise. */
export type ColumnType = 'id' | 'text' | 'smallint' | 'integer' | 'bigint' | 'serial' | 'bytes'

/** One column, and what its values mean. */
export interface Column<T> {
  readonly type: ColumnType
  readonly nullable: boolean
  /** Of what a driver returns: PostgreSQL returns wide integers as text, SQLite as numbers. */
  read(value: unknown): T
  /** As a driver takes it. */
  write(value: T): unknown
}

/** A property of a record and the columns that hold it. */
export interface Field<T> {
  readonly columns: Readonly<Record<string, Pick<Column<unknown>, 'type' | 'nullable'>>>
  read(row: Row): T
  write(value: T): Row
}

/** A record of fields, of which some may be written alone. */
export interface Group<T> extends Field<T> {
  write(values: Partial<T>): Row
}

/** Properties of a record: each a column of the same name, or a field. Its type is inferred, so it may be any. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Declared = Readonly<Record<string, Column<any> | Field<any>>>

/** What a column or field holds. */
export type ValueOf<T> = T extends { read(of: never): infer V } ? V : never

export type RecordOfDeclared<D extends Declared> = { readonly [Name in keyof D]: ValueOf<D[Name]> }

const column = <T>(type: ColumnType, read: (value: unknown) => T): Column<T> => ({
  type,
  nullable: false,
  read,
  write: (value) => value,
})

/** Some texts alone where they are named. A single signature would take its type from what it is given to. */
interface Texts {
  (): Column<string>
  <T extends string>(): Column<T>
}

const texts =
  (type: 'id' | 'text'): Texts =>
  <T extends string>() =>
    column(type, (value) => String(value) as T)

/** Compared bytewise. */
export const id = texts('id')
export const text = texts('text')
export const small = (): Column<number> => column('smallint', integer)
export const int = (): Column<number> => column('integer', integer)
/** Counters, and instants in milliseconds. */
export const big = (): Column<number> => column('bigint', integer)
/** A place that only grows, given out by the database. */
export const serial = (): Column<number> => column('serial', integer)

const NO_BYTES = new Uint8Array()

/** Empty in a row that was read without the column. */
export const bytes = (): Column<Uint8Array> =>
  column('bytes', (value) => (value as Uint8Array | undefined) ?? NO_BYTES)

/** Kept as 0 or 1. */
export function flag(): Column<boolean> {
  return {
    type: 'smallint',
    nullable: false,
    read: (value) => integer(value) === 1,
    write: (value) => (value ? 1 : 0),
  }
}

/** Kept as its text. */
export function json<T>(): Column<T> {
  return {
    type: 'text',
    nullable: false,
    read: (value) => JSON.parse(String(value)) as T,
    write: (value) => JSON.stringify(value),
  }
}

export function orNull<T>({ type, read, write }: Column<T>): Column<T | null> {
  return {
    type,
    nullable: true,
    read: (value) => (value === null || value === undefined ? null : read(value)),
    write: (value) => (value === null ? null : write(value)),
  }
}

/** A property that is called otherwise than its column. */
export function named<T>(name: string, of: Column<T>): Field<T> {
  return {
    columns: { [name]: of },
    read: (row) => of.read(row[name]),
    write: (value) => ({ [name]: of.write(value) }),
  }
}

/** An object of properties, those of a record or of one of its properties. Only what is given is written. */
export function group<const D extends Declared>(declared: D): Group<RecordOfDeclared<D>> {
  const properties = Object.entries(declared)
  const columns = properties.map(([name, one]) =>
    'columns' in one ? one.columns : { [name]: one },
  )
  return {
    columns: Object.assign({}, ...columns) as Field<unknown>['columns'],
    read(row) {
      const record: Record<string, unknown> = {}
      for (const [name, one] of properties) {
        record[name] = 'columns' in one ? one.read(row) : one.read(row[name])
      }
      return record as RecordOfDeclared<D>
    },
    write(values) {
      const given: Readonly<Record<string, unknown>> = values
      const row: Record<string, unknown> = {}
      for (const [name, one] of properties) {
        const value = given[name]
        if (value === undefined) continue
        if ('columns' in one) Object.assign(row, one.write(value))
        else row[name] = one.write(value)
      }
      return row
    },
  }
}

/** Who made a record. */
export const creator = (): Field<Creator> =>
  group({
    type: named('created_by_type', text<Creator['type']>()),
    id: named('created_by_id', orNull(text())),
  })
