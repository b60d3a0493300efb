import type { IncomingMessage } from 'node:http'
import { parseAddress } from '../../lib/egress/address.ts'

/** RFC 1123, 2.1: letters, digits, and hyphens between them. */
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const NAME = new RegExp(String.raw`^${LABEL}(?:\.${LABEL})*$`)

/** Whether a text is a host name: lower case, without a final dot, in punycode when it is not ASCII. */
export function isHostName(text: string): boolean {
  return text.length <= 253 && NAME.test(text)
}

/**
 * The host of `Host`, `Origin` or an absolute target: lower case, without port and final dot. Undefined for
 * anything but `host` or `host:port` (RFC 9110, 7.2).
 *
 * @example
 * parseAuthority('Shop.LOCALHOST.:8421') // 'shop.localhost'
 * parseAuthority('shop.localhost@evil.example') // undefined
 */
export function parseAuthority(text: string): string | undefined {
  const [, host, port = ''] = /^(\[[^\]]*\]|[^:]*)(?::(\d{0,5}))?$/.exec(text) ?? []
  if (host === undefined || Number(port) > 65_535) return undefined
  if (host.startsWith('[')) {
    return parseAddress(host.slice(1, -1))?.family === 6 ? host.toLowerCase() : undefined
  }
  const name = host.toLowerCase().replace(/\.$/, '')
  return isHostName(name) ? name : undefined
}

/** `%2F`, `%5C` and `%00`, which decode to separators or the end of a name. */
const ENCODED_BREAK = /%(?:2f|5c|00)/i

/** Empty and hidden names, backslashes and control characters. */
const NOT_A_NAME = /(?:^|\/)[./]|[\\\p{Cc}]/u

/**
 * The manifest key of a path, decoded once and never joined to a path: that of a file, or of a folder with
 * its final slash; otherwise the status of a path that names no file or is malformed.
 *
 * @example
 * keyOf('/caf%C3%A9/') // 'café/'
 * keyOf('/..%2f..%2fetc/passwd') // 404
 */
export function keyOf(path: string): string | 400 | 404 {
  const raw = path.slice(1)
  if (ENCODED_BREAK.test(raw)) return 404
  try {
    const key = raw.includes('%') ? decodeURIComponent(raw) : raw
    return NOT_A_NAME.test(key) ? 404 : key
  } catch {
    return 400
  }
}

/** The minimum that RFC 9112, 3 recommends to accept. */
const MAX_TARGET = 8000

/** Host, path and query of a request. */
export interface Target {
  /** Lower case, without a port. */
  readonly host: string
  /** As received, percent-encoded; `*` only with OPTIONS. */
  readonly path: string
  /** With its question mark; empty without a query. */
  readonly query: string
}

/** Status of a malformed request. */
export type Malformed = 400 | 414

/**
 * Reads the target of a request. The host of an absolute target wins over `Host`, which must still be
 * well-formed and present once (RFC 9112, 3.2 and 3.2.2).
 */
export function readTarget({
  url = '',
  method,
  rawHeaders,
}: Pick<IncomingMessage, 'url' | 'method' | 'rawHeaders'>): Target | Malformed {
  if (url.length > MAX_TARGET) return 414
  const host = onlyHost(rawHeaders)
  if (host === undefined || /[^\x21-\x7e]|#/.test(url)) return 400
  if (url.startsWith('/')) return targetOf(host, url)
  if (url === '*') return method === 'OPTIONS' ? { host, path: url, query: '' } : 400
  const [, authority = '', rest = ''] = /^https?:\/\/([^/?]*)(.*)$/i.exec(url) ?? []
  const named = parseAuthority(authority)
  if (named === undefined) return 400
  return targetOf(named, rest.startsWith('/') ? rest : `/${rest}`)
}

/** `request.headers` has the first of two, so the raw headers are counted. */
function onlyHost(rawHeaders: readonly string[]): string | undefined {
  let only: string | undefined
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]
    if (name?.length !== 4 || name.toLowerCase() !== 'host') continue
    if (only !== undefined) return undefined
    only = rawHeaders[at + 1]
  }
  return only === undefined ? undefined : parseAuthority(only)
}

function targetOf(host: string, text: string): Target {
  const queryStart = text.indexOf('?')
  if (queryStart < 0) return { host, path: text, query: '' }
  return { host, path: text.slice(0, queryStart), query: text.slice(queryStart) }
}
