import type { IncomingHttpHeaders } from 'node:http'
import type { ByteRange } from '../../plugins/apps/contract.ts'

/**
 * The part that a GET asks for; undefined for all of it, which is also the answer to several parts, to
 * what is no range, and to a part of something else (RFC 9110, 13.1.5 and 14.2).
 */
export function rangeOf(
  { range, 'if-range': ifRange }: IncomingHttpHeaders,
  etag: string,
  size: number,
): ByteRange | 'unsatisfiable' | undefined {
  if (range === undefined || (ifRange !== undefined && ifRange !== etag)) return undefined
  const [, first, last] = /^bytes=\s*(\d{0,30})-(\d{0,30})\s*$/i.exec(range) ?? []
  if (first === undefined || last === undefined || first + last === '') return undefined
  if (first === '') return partOf(Math.max(0, size - Number(last)), size, size)
  if (last !== '' && Number(last) < Number(first)) return undefined
  return partOf(Number(first), last === '' ? size : Math.min(size, Number(last) + 1), size)
}

function partOf(start: number, end: number, size: number): ByteRange | 'unsatisfiable' {
  return start < Math.min(end, size) ? { start, end } : 'unsatisfiable'
}
