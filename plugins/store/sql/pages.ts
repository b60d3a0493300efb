import type { Page } from '../contract/page.ts'
import { leadOn } from '../contract/page.ts'
import type { Query, Way } from './client.ts'
import type { Condition } from './conditions.ts'
import { allOf, takesAll } from './conditions.ts'
import type { Row } from './rows.ts'
import { integer } from './rows.ts'

/** The order of a list. */
export interface Order {
  readonly table: string
  /** The columns that order the list; together they identify a row. */
  readonly key: readonly string[]
  readonly order: Way
}

export interface FilteredPage extends Order {
  /** Conditions that the index answers, with the start of the page. */
  readonly indexed: readonly Condition[]
  /** What is asked for besides, which no index answers. */
  readonly filters: readonly Condition[]
  /** Maximum rows to examine when there is a filter. Default: no limit. */
  readonly most: number | undefined
  /** The position of a row in the list. Default: its id. */
  print?(row: Row): string
  /** A condition: at or before this row. Default: by its id. */
  upTo?(row: Row): Condition
}

/** One page of a filtered list: it ends after the rows that may be examined, however few of them match. */
export async function readFilteredPage<T>(
  query: Query,
  page: FilteredPage,
  read: (where: Condition) => Promise<Page<T>>,
): Promise<Page<T>> {
  const { indexed, filters, most, order, print = idOf } = page
  const upTo = page.upTo ?? ((row) => idUpTo(order, row))
  const last =
    most === undefined || takesAll(filters)
      ? undefined
      : await lastExamined(query, page, allOf(indexed), most)
  if (last === undefined) return read(allOf([...indexed, ...filters]))
  return leadOn(await read(allOf([...indexed, upTo(last), ...filters])), print(last))
}

const idOf = (row: Row): string => String(row['id'])

const idUpTo = (order: Way, row: Row): Condition => ({
  sql: `id ${order === 'desc' ? '>=' : '<='} $1`,
  bind: [idOf(row)],
})

/**
 * The key of the last row that a page examines; undefined when there are fewer rows. It reads the index
 * alone. The page itself then has a range of the index that ends there.
 */
async function lastExamined(
  query: Query,
  { table, key, order }: Order,
  { sql, bind }: Condition,
  most: number,
): Promise<Row | undefined> {
  const [row] = await query(
    `SELECT ${key.join(', ')} FROM ${table} WHERE ${sql}
     ORDER BY ${inOrder(key, order)} LIMIT 1 OFFSET $${bind.length + 1}`,
    [...bind, most - 1],
  )
  return row
}

/** The id of the last row that a step through a list in the order of its ids examines. */
export async function lastIdExamined(
  query: Query,
  table: string,
  where: Condition,
  most: number,
): Promise<string | undefined> {
  const row = await lastExamined(query, { table, key: ['id'], order: 'asc' }, where, most)
  return row && idOf(row)
}

export const inOrder = (key: readonly string[], order: Way): string =>
  key.map((column) => `${column} ${order}`).join(', ')

/** A page from rows that were read with one more than the limit. */
export function cutPage<T>(rows: readonly T[], limit: number): Page<T> {
  return { rows: rows.slice(0, limit), more: rows.length > limit }
}

/** The same page of other records. */
export function mapPage<T, U>(page: Page<T>, to: (row: T) => U): Page<U> {
  return { ...page, rows: page.rows.map(to) }
}

export interface SizedPage extends Order {
  /** SQL: what is answered of a row beside its columns, which are those of `kept`. Default: nothing. */
  readonly also?: string
  /** SQL: a join of `kept` that `also` needs. Default: nothing. */
  readonly beside?: string
  /** SQL: the bytes of a row. It must not read wide columns; `octet_length` looks at their length alone. */
  readonly size: string
  readonly where: Condition
  readonly limit: number
  readonly bytes: number | undefined
}

/** A limit that no page reaches. */
const UNLIMITED = Number.MAX_SAFE_INTEGER

/**
 * One page of rows that may be wide. Their sizes are looked at first, and rows behind the one that
 * reaches `bytes` are never read.
 */
export async function readSizedPage(query: Query, page: SizedPage): Promise<Page<Row>> {
  const { table, key, order, also, size, where, limit, bytes = UNLIMITED, beside = '' } = page
  const answered = ['kept.*', 'counted.page_found', ...(also === undefined ? [] : [also])]
  const [most, room] = [`$${where.bind.length + 1}`, `$${where.bind.length + 2}`]
  const joined = key.map((column) => `kept.${column} = counted.${column}`).join(' AND ')
  const rows = await query(
    `WITH listed AS (
       SELECT ${key.join(', ')}, ${size} AS page_size FROM ${table}
       WHERE ${where.sql} ORDER BY ${inOrder(key, order)} LIMIT ${most}
     ), counted AS (
       SELECT ${key.join(', ')}, count(*) OVER () AS page_found, sum(page_size)
         OVER (ORDER BY ${inOrder(key, order)} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
         AS page_before
       FROM listed
     )
     SELECT ${answered.join(', ')} FROM counted JOIN ${table} kept ON ${joined} ${beside}
     WHERE COALESCE(counted.page_before, 0) < CAST(${room} AS BIGINT)
     ORDER BY ${key.map((column) => `kept.${column} ${order}`).join(', ')}`,
    [...where.bind, limit + 1, bytes],
  )
  const found = integer(rows[0]?.['page_found'] ?? 0)
  const cut = cutPage(rows, limit)
  return found > rows.length ? { rows: cut.rows, more: true } : cut
}
