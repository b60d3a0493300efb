import { createHash } from 'node:crypto'
import type { JobLine } from '../../plugins/platform/contract/jobs.ts'
import type { Page } from '../../plugins/store/contract/page.ts'
import { SERVICE_ACCOUNT } from '../authority/principal.ts'
import type { Call } from '../operations/call.ts'
import { httpError } from '../operations/errors.ts'
import type { FairQueue } from '../queues/fair-queue.ts'
import { PAGE_BYTES } from '../limits/amounts.ts'
import { printJson, printedAs } from '../operations/print-json.ts'
import { createReadQueue } from '../queues/reads.ts'

const DEFAULT_LIMIT = 20
/** Concurrent pages of large records: each is in memory several times while it is printed. */
const PAGES_AT_ONCE = 4
const PAGES_WAITING = 1000

/** One per process: accounts take turns for pages that take long to read or print. */
export function createPageQueue(): FairQueue {
  return createReadQueue({ atOnce: PAGES_AT_ONCE, waiting: PAGES_WAITING })
}

/** Position of a list, bound to the list and its filters. */
export interface Paging {
  readonly limit: number
  /** Cursor of the last record of the previous page; null for the first page. */
  readonly after: string | null
  /**
   * `after` of a list whose position is a number, such as that of a revision.
   *
   * @throws KeyhookError `invalid_cursor` for a forged one: its fingerprint is no secret
   */
  afterNumber(): number | null
  /** Maximum bytes of records to read, for a list with large records. */
  readonly bytes: number
  /**
   * The response of a page of printed records. It is limited by bytes too: it ends with the last record
   * that fits `PAGE_BYTES`, and has at least one.
   */
  answer<T, Wire>(
    page: Page<T>,
    cursorOf: (row: T) => string,
    toWire: (row: T) => Wire,
  ): WirePage<Wire>
}

interface WirePage<Wire> {
  data: Wire[]
  has_more: boolean
  next_cursor: string | null
}

/** `limit` and `cursor` of a request. */
interface PageRange {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

type ListCall = Pick<Call, 'platform' | 'principal' | 'abandoned'> & { readonly query: PageRange }

/**
 * Reads a list's `limit` and `cursor`.
 *
 * @param list name of the list, with everything that the order of its rows depends on
 * @throws KeyhookError `invalid_cursor` for a cursor of another list or other filters
 */
export function paging(query: PageRange, list: Readonly<Record<string, unknown>>): Paging {
  const fingerprint = createHash('sha256')
    .update(JSON.stringify(list))
    .digest('base64url')
    .slice(0, 12)
  const after = query.cursor === undefined ? null : readCursor(query.cursor, fingerprint)
  return {
    limit: query.limit ?? DEFAULT_LIMIT,
    after,
    afterNumber: () => (after === null ? null : readNumber(after)),
    bytes: PAGE_BYTES,
    answer(page, cursorOf, toWire) {
      const { data, texts } = fill(page.rows, toWire)
      const isCut = data.length < page.rows.length
      const last = page.rows[data.length - 1]
      const end = (isCut ? undefined : page.next) ?? (last === undefined ? null : cursorOf(last))
      const has_more = isCut || page.more
      const next_cursor = has_more && end !== null ? printCursor(end, fingerprint) : null
      const rest = JSON.stringify({ has_more, next_cursor }).slice(1)
      return printedAs({ data, has_more, next_cursor }, `{"data":[${texts.join(',')}],${rest}`)
    },
  }
}

/** A list of one account, whose pages are long to read or print. */
export interface AccountList<T, Wire> {
  /** As of `paging`. */
  readonly list: Readonly<Record<string, unknown>>
  read(range: Pick<Paging, 'limit' | 'after' | 'bytes'>): Promise<Page<T>>
  /** Position of a record. */
  cursorOf(row: NoInfer<T>): string
  /** How the records of a page are printed. */
  show(rows: readonly T[]): Show<T, Wire> | Promise<Show<T, Wire>>
}

type Show<T, Wire> = (row: T) => Wire

export const idOf = ({ id }: { readonly id: string }): string => id

/** The response of one page, which waits for the turn of the caller's account. */
export function listPage<T, Wire>(
  { platform, principal, query, abandoned }: ListCall,
  { list, read, cursorOf, show }: AccountList<T, Wire>,
): Promise<WirePage<Wire>> {
  const { limit, after, bytes, answer } = paging(query, list)
  const turn = { holder: principal.account_id ?? SERVICE_ACCOUNT, signal: abandoned() }
  return platform.queues.largePages(turn, async () => {
    const page = await read({ limit, after, bytes })
    return answer(page, cursorOf, await show(page.rows))
  })
}

/**
 * The response of one page of the log of a job.
 *
 * @param list as of `paging`
 */
export async function listJobLines<Wire>(
  { platform, query }: Pick<ListCall, 'platform' | 'query'>,
  list: Readonly<Record<string, unknown>>,
  jobId: string,
  toWire: (line: JobLine) => Wire,
): Promise<WirePage<Wire>> {
  const { limit, afterNumber, answer } = paging(query, list)
  const lines = await platform.store.jobs.lines(jobId, afterNumber() ?? 0, limit + 1)
  const page = { rows: lines.slice(0, limit), more: lines.length > limit }
  return answer(page, ({ number }) => String(number), toWire)
}

/** Prints records while they fit a page. */
function fill<T, Wire>(
  rows: readonly T[],
  toWire: (row: T) => Wire,
): { readonly data: Wire[]; readonly texts: readonly string[] } {
  const data: Wire[] = []
  const texts: string[] = []
  let left = PAGE_BYTES
  for (const row of rows) {
    const wire = toWire(row)
    const text = printJson(wire)
    left -= Buffer.byteLength(text) + 1
    if (left < 0 && data.length > 0) break
    data.push(wire)
    texts.push(text)
  }
  return { data, texts }
}

function printCursor(after: string, fingerprint: string): string {
  return Buffer.from(`${fingerprint}${after}`).toString('base64url')
}

function readCursor(cursor: string, fingerprint: string): string {
  const text = Buffer.from(cursor, 'base64url').toString()
  const after = text.slice(fingerprint.length)
  if (
    !text.startsWith(fingerprint) ||
    printCursor(after, fingerprint) !== cursor ||
    !/^[\w.-]{1,160}$/.test(after)
  ) {
    throw httpError('invalid_cursor')
  }
  return after
}

/** What the column of a number holds on every database. */
function readNumber(after: string): number {
  if (!/^\d{1,9}$/.test(after)) throw httpError('invalid_cursor')
  return Number(after)
}
