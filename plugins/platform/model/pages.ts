import type { Page } from '../../store/contract/page.ts'
import type { Query, Way } from '../../store/sql/client.ts'
import type { Condition, Key } from '../../store/sql/conditions.ts'
import { asked, equal, isText } from '../../store/sql/conditions.ts'
import type { Order } from '../../store/sql/pages.ts'
import { cutPage, inOrder, readFilteredPage, readSizedPage } from '../../store/sql/pages.ts'
import type { Row } from '../../store/sql/rows.ts'
import type { PlatformModel, PlatformTables } from '../sql/tables.ts'
import type { Model } from './define.ts'

/** One page of a list. */
export interface Listed {
  /** Values that columns have in all of it. */
  readonly of: Key
  /** What an index answers of it besides. */
  readonly within?: readonly Condition[]
  /** Columns that order it, no two rows the same: one, or a number before an id. Default: `id`. */
  readonly key?: readonly string[]
  /** Default: `desc`. */
  readonly order?: Way
  /** Where the page before ended: the value of the key, or what `placeOf` answers of two. */
  readonly after: string | number | null
  readonly limit: number
  /** What is asked for beside, which no index answers. */
  readonly filters?: readonly Condition[]
  /** Rows that a page looks at where such a thing is asked for, as of `MOST_LOOKED_AT`. Default: all. */
  readonly most?: number
  /** Columns that may be large, whose bytes end the page. */
  readonly wide?: readonly string[]
  /** Default: no limit. */
  readonly bytes?: number | undefined
  /** SQL: what is answered of a row of wide columns beside them, which are those of `kept`. */
  readonly also?: string
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

/** Where a row stands in a list that two columns order. */
export const placeOf = (number: unknown, id: unknown): string => `${String(number)}_${String(id)}`

/** What `placeOf` answered; of what it never answers, a place before every row. */
function readPlace(place: string): readonly [number, string] {
  const [, number = '0', id = ''] = /^(\d{1,15})_(.*)$/.exec(place) ?? []
  return [Number(number), id]
}

/** SQL: a join of the job of each row; none of its columns is called as one of a noun. */
export function besideJob(t: PlatformTables, { job }: Model, id = 'id'): string {
  return job === undefined
    ? ''
    : `LEFT JOIN (SELECT id AS job_id, stage, done, total, cancel_at, attempts AS job_attempts
         FROM ${t.jobs}) job ON job_id = ${id} AND ${job}`
}

/** Rows of one page, and whether more are left. */
export async function readPage(
  query: Query,
  t: PlatformTables,
  model: PlatformModel,
  listed: Listed,
): Promise<Page<Row>> {
  const { of, within = [], key = ['id'], order = 'desc', after, filters = [], most, wide } = listed
  const [beyond, upTo] = order === 'desc' ? ['<', '>='] : ['>', '<=']
  const first = key.length === 1 ? [after] : readPlace(String(after))
  const rest = after === null ? [] : [compare(model, key, beyond, first)]
  const list = { table: t[model.table], key, order }
  const valuesOf = (row: Row) => key.map((column) => row[column])
  const filtered = {
    ...list,
    indexed: [equal(of), ...within, ...rest],
    filters,
    most,
    print: (row: Row) =>
      key.length === 1 ? String(valuesOf(row)[0]) : placeOf(valuesOf(row)[0], valuesOf(row)[1]),
    upTo: (row: Row) => compare(model, key, upTo, valuesOf(row)),
  }
  const beside = besideJob(t, model, wide && 'kept.id')
  return readFilteredPage(query, filtered, (where) =>
    readRows(query, listed, { ...list, where, beside }),
  )
}

async function readRows(
  query: Query,
  { of, limit, wide, bytes, also }: Listed,
  rows: Order & { readonly where: Condition; readonly beside: string },
): Promise<Page<Row>> {
  const { table, beside, key, order, where } = rows
  if (wide !== undefined) {
    const size = wide.map((column) => `COALESCE(octet_length(${column}), 0)`).join(' + ')
    const shown = beside === '' ? also : 'job.*'
    const more = { size, limit, bytes, ...(shown !== undefined && { also: shown }) }
    return readSizedPage(query, { ...rows, key: [...Object.keys(of), ...key], ...more })
  }
  const found = await query(
    `SELECT * FROM ${table} ${beside} WHERE ${where.sql}
     ORDER BY ${inOrder(key, order)} LIMIT $${where.bind.length + 1}`,
    [...where.bind, limit + 1],
  )
  return cutPage(found, limit)
}

function compare(
  { schema }: Model,
  key: readonly string[],
  how: string,
  bind: readonly unknown[],
): Condition {
  const places = key.map((column, index) =>
    isText(schema.get(column)?.type ?? 'text') ? `$${index + 1}` : `CAST($${index + 1} AS BIGINT)`,
  )
  return { sql: `(${key.join(', ')}) ${how} (${places.join(', ')})`, bind }
}
