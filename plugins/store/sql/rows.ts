import type { Creator } from '../../../lib/key/record.ts'
import type { Page } from '../contract/page.ts'

/** PostgreSQL answers wide integers as text, SQLite as numbers. */
export function integer(value: unknown): number {
  return Number(value)
}

export function integerOrNull(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value)
}

export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** Who made a record, of the two columns that say so. */
export function toCreator(row: Row): Creator {
  return { type: row['created_by_type'] as Creator['type'], id: textOrNull(row['created_by_id']) }
}

/** A row as a driver answers it. */
export type Row = Readonly<Record<string, unknown>>

/** Ids lie between them, bytewise: where a list begins, or ends. */
export const BEFORE_ALL = ''
export const BEHIND_ALL = '~'

/** Cuts what was read with one row more than asked for. */
export function cutPage<T>(rows: readonly T[], limit: number): Page<T> {
  return { rows: rows.slice(0, limit), more: rows.length > limit }
}

/** What INSERT INTO a table is followed by: these columns of a record. */
export function insertion<Column extends string>(
  columns: readonly Column[],
  values: Readonly<Record<Column, unknown>>,
): { readonly sql: string; readonly bind: readonly unknown[] } {
  return {
    sql: `(${columns.join(', ')}) VALUES (${columns.map((_, index) => `$${index + 1}`).join(', ')})`,
    bind: columns.map((column) => values[column]),
  }
}

/** Of a column that holds JSON, or nothing. */
export function jsonOrNull<T>(value: unknown): T | null {
  return typeof value === 'string' ? (JSON.parse(value) as T) : null
}

/** The columns of an update: only those named, bound from `$from` on. */
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
