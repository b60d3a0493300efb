/** PostgreSQL returns wide integers as text, SQLite as numbers. */
export function integer(value: unknown): number {
  return Number(value)
}

export function integerOrNull(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value)
}

export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** A row as the driver returns it. */
export type Row = Readonly<Record<string, unknown>>

/** After all ids, bytewise: the start of a list in descending order. */
export const BEHIND_ALL = '~'

/** Columns and values of an INSERT of a row. */
export function insertion(row: Row): { readonly sql: string; readonly bind: readonly unknown[] } {
  const columns = Object.keys(row)
  return {
    sql: `(${columns.join(', ')}) VALUES (${columns.map((_, index) => `$${index + 1}`).join(', ')})`,
    bind: Object.values(row),
  }
}

/** Parses a column of JSON; null for NULL. */
export function jsonOrNull<T>(value: unknown): T | null {
  return typeof value === 'string' ? (JSON.parse(value) as T) : null
}

/** The assignments of an UPDATE, for the named columns only, with values bound from `$from` on. */
export function assignments(
  changes: Readonly<Record<string, unknown>>,
  from: number,
): { readonly sql: string; readonly bind: readonly unknown[] } {
  const columns = Object.keys(changes)
  return {
    sql: columns.map((column, index) => `${column} = $${from + index}`).join(', '),
    bind: Object.values(changes),
  }
}
