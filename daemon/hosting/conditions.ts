import type { IncomingHttpHeaders } from 'node:http'

/** RFC 9110, 8.8.3. */
const TAGS = /(W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g

/**
 * What becomes of a request for bytes of which this is the strong tag: 304 when whoever asks has them,
 * 412 when it asked for others. No file has a date, so conditions on dates do not count (RFC 9110, 13.2).
 */
export function judgeConditions(headers: IncomingHttpHeaders, etag: string): 304 | 412 | undefined {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers
  if (match !== undefined && !names(match, etag, 'strong')) return 412
  if (noneMatch !== undefined && names(noneMatch, etag, 'weak')) return 304
  return undefined
}

function names(list: string, etag: string, comparison: 'strong' | 'weak'): boolean {
  if (list === etag || list.trim() === '*') return true
  for (const [, weak, tag] of list.matchAll(TAGS)) {
    if (tag === etag && (weak === undefined || comparison === 'weak')) return true
  }
  return false
}
