import { unescape } from 'node:querystring'
import type { FieldError } from '../../lib/errors.ts'
import { cutText } from '../../lib/internal/text.ts'

/**
 * Parameters of a path and a query whose percent-encoded bytes are not UTF-8. Routers and query parsers
 * would read something else in their place.
 *
 * @param template the path of the operation, such as `/v1/keys/{key_id}`
 */
export function brokenTexts(template: string, path: string, query: string): readonly FieldError[] {
  if (!path.includes('%') && !query.includes('%')) return []
  const names = template.split('/')
  const inPath = path.split('/').flatMap((segment, index) => {
    const name = /^\{(\w+)\}$/.exec(names[index] ?? '')?.[1] ?? String(index)
    return isUtf8(segment) ? [] : [broken(`path.${name}`)]
  })
  const inQuery = query
    .split('&')
    .filter((pair) => !isUtf8(pair))
    .map((pair) => broken(`query.${nameOf(pair)}`))
  return [...inPath, ...inQuery]
}

/** A percent sign that encodes nothing is text. */
const PLAIN_PERCENT = /%(?![\da-f]{2})/gi

function isUtf8(text: string): boolean {
  if (!text.includes('%')) return true
  try {
    decodeURIComponent(text.replaceAll(PLAIN_PERCENT, '%25'))
    return true
  } catch {
    return false
  }
}

function nameOf(pair: string): string {
  return cutText(unescape(pair.split('=', 1)[0] ?? ''), 64)
}

function broken(location: string): FieldError {
  return { location, code: 'not_unicode', message: 'Percent-encode text as UTF-8.' }
}
