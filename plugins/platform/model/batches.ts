import type { Dialect } from '../../store/sql/client.ts'
import type { Field } from '../../store/sql/columns.ts'
import { castTo, isText } from '../../store/sql/conditions.ts'

/** Many records that one statement takes as one value. */
export interface Batch<T> {
  /** SQL: the columns, between commas. */
  readonly columns: string
  /** SQL: a SELECT of them, each as its type, from the value at `$1`. */
  readonly rows: string
  value(records: readonly T[]): string
}

export function batchOf<T>(dialect: Dialect, { columns, write }: Field<T>): Batch<T> {
  const names = Object.keys(columns)
  const typed = Object.entries(columns).map(([name, { type }], index) => {
    const value = `one.value ->> ${index}`
    return `${isText(type) ? value : castTo(type, value)} AS ${name}`
  })
  return {
    columns: names.join(', '),
    rows: `SELECT ${typed.join(', ')} FROM ${dialect.each('$1', 'one')}`,
    value: (records) =>
      JSON.stringify(
        records.map((record) => {
          const row = write(record)
          return names.map((name) => row[name])
        }),
      ),
  }
}
