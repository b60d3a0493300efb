import { createHash } from 'node:crypto'
import type { Page } from '../../plugins/store/contract/page.ts'
import { httpError } from '../errors.ts'

const DEFAULT_LIMIT = 20

/** Where a list goes on, bound to the list and the filters it was made for. */
export interface Paging {
  readonly limit: number
  /** The last place of the page before; null for the first page. */
  readonly after: string | null
  /** The answer of a page, its records already as the wire shows them. */
  answer<T, Wire>(
    page: Page<T>,
    place: (row: T) => string,
    toWire: (row: T) => Wire,
  ): { data: Wire[]; has_more: boolean; next_cursor: string | null }
}

/**
 * Reads a list's `limit` and `cursor`.
 *
 * @param list what is listed, with everything the order of its rows depends on
 * @throws KeyhookError `invalid_cursor` for a cursor of another list or other filters
 */
export function paging(
  query: { readonly limit?: number | undefined; readonly cursor?: string | undefined },
  list: Readonly<Record<string, unknown>>,
): Paging {
  const mark = createHash('sha256').update(JSON.stringify(list)).digest('base64url').slice(0, 12)
  return {
    limit: query.limit ?? DEFAULT_LIMIT,
    after: query.cursor === undefined ? null : readCursor(query.cursor, mark),
    answer(page, place, toWire) {
      const last = page.rows.at(-1)
      const end = page.next ?? (last === undefined ? null : place(last))
      const next = page.more ? end : null
      return {
        data: page.rows.map(toWire),
        has_more: page.more,
        next_cursor: next === null ? null : printCursor(next, mark),
      }
    },
  }
}

function printCursor(after: string, mark: string): string {
  return Buffer.from(`${mark}${after}`).toString('base64url')
}

function readCursor(cursor: string, mark: string): string {
  const text = Buffer.from(cursor, 'base64url').toString()
  const after = text.slice(mark.length)
  if (
    !text.startsWith(mark) ||
    printCursor(after, mark) !== cursor ||
    !/^[\w-]{1,80}$/.test(after)
  ) {
    throw httpError('invalid_cursor')
  }
  return after
}
