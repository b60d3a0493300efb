import type { Query, Way } from './client.ts'
import type { Row } from './rows.ts'

/** What an index answers of a filtered list, in the order of its pages. */
export interface IndexedRows {
  readonly table: string
  /** The columns that order the list. */
  readonly key: readonly string[]
  readonly order: Way
  /** SQL: conditions that the index answers, with the values bound to it. */
  readonly where: string
  readonly bind: readonly unknown[]
}

/**
 * The key of the last row that a page looks at; undefined when there are fewer rows. It reads the index
 * alone. The page itself then has a range of the index that ends there.
 */
export async function lastLookedAt(
  query: Query,
  { table, key, order, where, bind }: IndexedRows,
  most: number,
): Promise<Row | undefined> {
  const [row] = await query(
    `SELECT ${key.join(', ')} FROM ${table} WHERE ${where}
     ORDER BY ${key.map((column) => `${column} ${order}`).join(', ')}
     LIMIT 1 OFFSET $${bind.length + 1}`,
    [...bind, most - 1],
  )
  return row
}

/** The same of a list in the order of its ids. */
export async function lastIdLookedAt(
  query: Query,
  rows: Omit<IndexedRows, 'key'>,
  most: number,
): Promise<string | undefined> {
  const row = await lastLookedAt(query, { ...rows, key: ['id'] }, most)
  return row && String(row['id'])
}
