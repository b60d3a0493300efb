import type { IncomingMessage } from 'node:http'
import { parseAuthority } from './host.ts'

/** What RFC 9112, 3 wants to be taken at least. */
const MAX_TARGET = 8000

/** What a request asks for. */
export interface Target {
  /** Lower case, without a port. */
  readonly host: string
  /** As it came, percent-encoded; `*` with OPTIONS alone. */
  readonly path: string
  /** With its question mark; empty without one. */
  readonly query: string
}

/** The status of a request that asks for nothing that could be answered. */
export type Malformed = 400 | 414

/**
 * Reads whom and what a request is for. An absolute target names the host whatever `Host` says, which
 * must be sound and there once all the same (RFC 9112, 3.2 and 3.2.2).
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

/** `request.headers` shows the first of two, so the raw ones are counted. */
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
  const mark = text.indexOf('?')
  if (mark < 0) return { host, path: text, query: '' }
  return { host, path: text.slice(0, mark), query: text.slice(mark) }
}
