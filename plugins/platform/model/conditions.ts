import type { ColumnType } from '../../store/sql/columns.ts'
import type { Model } from './define.ts'

/** A condition on rows. */
export interface Condition {
  /** Values are `$1`, `$2`, …, whatever other conditions it stands beside. */
  readonly sql: string
  readonly bind: readonly unknown[]
}

/** Values that columns must have. */
export type Key = Readonly<Record<string, string | number>>

export function equal(values: Key): Condition {
  const columns = Object.keys(values)
  return {
    sql: columns.map((column, index) => `${column} = $${index + 1}`).join(' AND '),
    bind: Object.values(values),
  }
}

/** What is asked for if anything is: `sql` is a condition on the value, `$1`, where that is not null. */
export function asked(type: ColumnType, value: string | number | null, sql: string): Condition {
  return { sql: `(${castTo(type, '$1')} IS NULL OR ${sql})`, bind: [value] }
}

/** Columns that have these values, those aside that are null. */
export function having(
  { schema }: Model,
  values: Readonly<Record<string, string | number | null>>,
): readonly Condition[] {
  return Object.entries(values).map(([column, value]) =>
    asked(schema.get(column)?.type ?? 'text', value, `${column} = $1`),
  )
}

/** Whether nothing is asked for. */
export function takesAll(filters: readonly Condition[]): boolean {
  return filters.every(({ bind }) => bind.every((value) => value === null))
}

export function allOf(conditions: readonly Condition[]): Condition {
  const bind: unknown[] = []
  const texts = conditions.map(({ sql, bind: own }) => {
    const before = bind.length
    bind.push(...own)
    return sql.replaceAll(/\$(\d+)/g, (_, place) => `$${before + Number(place)}`)
  })
  return { sql: texts.join(' AND '), bind }
}

export const isText = (type: ColumnType): boolean => type === 'id' || type === 'text'

/** SQL for a value as a column of this type holds it; bytes are not cast. */
export function castTo(type: ColumnType, value: string): string {
  const name = isText(type) ? 'text' : type === 'serial' ? 'bigint' : type
  return `CAST(${value} AS ${name.toUpperCase()})`
}
