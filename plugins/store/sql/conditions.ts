import type { ColumnType } from './columns.ts'

/** A condition on rows. */
export interface Condition {
  /** Its values are `$1`, `$2`, …; `allOf` renumbers them. */
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

/** A filter: `sql` is a condition on its value, `$1`; every row passes when the value is null. */
export function asked(type: ColumnType, value: string | number | null, sql: string): Condition {
  return { sql: `(${castTo(type, '$1')} IS NULL OR ${sql})`, bind: [value] }
}

/** A filter by a list; every row passes when it is null. */
export function askedList(values: readonly string[] | null, sql: string): Condition {
  return asked('text', values && JSON.stringify(values), sql)
}

/** Whether every row passes. */
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
