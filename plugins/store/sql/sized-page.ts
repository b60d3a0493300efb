import type { Page } from '../contract/page.ts'
import type { Query, Way } from './client.ts'
import type { Row } from './rows.ts'
import { cutPage, integer } from './rows.ts'

export interface SizedPage {
  readonly table: string
  /** The columns that order the page; together they identify a row. */
  readonly key: readonly string[]
  readonly order: Way
  /** SQL: what is answered of a row beside its columns, which are those of `kept`. Default: nothing. */
  readonly also?: string
  /** SQL: a join of `kept` that `also` needs. Default: nothing. */
  readonly beside?: string
  /** SQL: the bytes of a row. It must not read wide columns; `octet_length` looks at their length alone. */
  readonly size: string
  /** SQL: which rows, with the values bound to it. */
  readonly where: string
  readonly bind: readonly unknown[]
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
  const { table, key, order, also, size, where, bind, limit, bytes = UNLIMITED, beside = '' } = page
  const answered = ['kept.*', 'counted.page_found', ...(also === undefined ? [] : [also])]
  const [most, room] = [`$${bind.length + 1}`, `$${bind.length + 2}`]
  const joined = key.map((column) => `kept.${column} = counted.${column}`).join(' AND ')
  const by = (alias: string): string => key.map((column) => `${alias}${column} ${order}`).join(', ')
  const rows = await query(
    `WITH listed AS (
       SELECT ${key.join(', ')}, ${size} AS page_size FROM ${table}
       WHERE ${where} ORDER BY ${by('')} LIMIT ${most}
     ), counted AS (
       SELECT ${key.join(', ')}, count(*) OVER () AS page_found, sum(page_size)
         OVER (ORDER BY ${by('')} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS page_before
       FROM listed
     )
     SELECT ${answered.join(', ')} FROM counted JOIN ${table} kept ON ${joined} ${beside}
     WHERE COALESCE(counted.page_before, 0) < CAST(${room} AS BIGINT) ORDER BY ${by('kept.')}`,
    [...bind, limit + 1, bytes],
  )
  const found = integer(rows[0]?.['page_found'] ?? 0)
  const cut = cutPage(rows, limit)
  return found > rows.length ? { rows: cut.rows, more: true } : cut
}
