import { createHash } from 'node:crypto'
import fresh from 'fresh'
import parseRange from 'range-parser'
import type { ByteRange } from '../../plugins/apps/contract.ts'

/** Request headers with conditions and ranges. */
export interface ConditionalHeaders {
  readonly 'if-match'?: string | undefined
  readonly 'if-none-match'?: string | undefined
  readonly 'if-range'?: string | undefined
  readonly range?: string | undefined
}

/** The strong ETag of a text. */
export function etagOf(body: string): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
}

/** Whether `If-None-Match` names the ETag, by weak comparison (RFC 9110, 13.1.2). */
export function isUnchanged(headers: ConditionalHeaders, etag: string): boolean {
  // The only header passed, because the library returns `false` under `Cache-Control: no-cache`.
  return fresh({ 'if-none-match': headers['if-none-match'] }, { etag })
}

/**
 * The status that conditions on a strong ETag require: 412 when `If-Match` names another, 304 when
 * `If-None-Match` names this one. Files have no dates, so conditions on dates are ignored (RFC 9110, 13.2).
 */
export function conditionalStatus(
  headers: ConditionalHeaders,
  etag: string,
): 304 | 412 | undefined {
  const { 'if-match': match } = headers
  if (match !== undefined && !namesStrongly(match, etag)) return 412
  return isUnchanged(headers, etag) ? 304 : undefined
}

/** RFC 9110, 13.1.1; the library has no strong comparison. */
function namesStrongly(list: string, etag: string): boolean {
  return list.trim() === '*' || list.split(',').some((tag) => tag.trim() === etag)
}

/**
 * The part of a file that a GET requests. Undefined for the whole file: without `Range`, for several
 * ranges, for a malformed one, and when `If-Range` names another file (RFC 9110, 13.1.5 and 14.2).
 */
export function rangeOf(
  { range, 'if-range': ifRange }: ConditionalHeaders,
  etag: string,
  size: number,
): ByteRange | 'unsatisfiable' | undefined {
  if (range === undefined || (ifRange !== undefined && ifRange !== etag)) return undefined
  return readRange(range, size)
}

/**
 * Reads one range. The library returns -1 in three cases: for a range that ends before it begins, which is
 * malformed; for a suffix longer than the file, which is the whole file (RFC 9110, 14.1.1 and 14.1.2); and
 * for a range beyond the end.
 */
export function readRange(header: string, size: number): ByteRange | 'unsatisfiable' | undefined {
  if (!/^bytes=/i.test(header) || header.includes(',')) return undefined
  // For a file without an end, only malformed ranges are refused.
  if (typeof parseRange(Infinity, header) === 'number') return undefined
  const suffix = Number(/=\s*-\s*(\d+)/.exec(header)?.[1] ?? 0)
  if (suffix > 0 && suffix >= size) return size === 0 ? undefined : { start: 0, end: size }
  const ranges = parseRange(size, header)
  const [range] = typeof ranges === 'number' ? [] : ranges
  return range === undefined ? 'unsatisfiable' : { start: range.start, end: range.end + 1 }
}
