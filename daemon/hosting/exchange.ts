import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HeaderList } from './headers.ts'
import { PLAIN } from './headers.ts'
import type { Page } from './pages.ts'
import { pagePolicy } from './pages.ts'

/** One request with its response. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
  /** Bytes of the body to send; none for HEAD. */
  length: number
  /** Bytes that the system has accepted. */
  taken: number
}

export function isHead({ request }: Exchange): boolean {
  return request.method === 'HEAD'
}

/** Response body bytes sent. */
export function sentOf({ response, length, taken }: Exchange): number {
  return response.writableFinished ? length : taken
}

/**
 * Writes the head of a response; false when nobody waits for it any more.
 *
 * @param length bytes of the body; undefined for a status without a body
 */
export function begin(
  exchange: Exchange,
  status: number,
  headers: HeaderList,
  length: number | undefined,
): boolean {
  const { request, response, requestId } = exchange
  if (response.destroyed) return false
  const own = ['X-Request-Id', requestId]
  if (length !== undefined) {
    own.push('Content-Length', String(length))
    if (!isHead(exchange)) exchange.length = length
  }
  // An unread body must not be parsed as the next request, here or by a proxy.
  if (hasBody(request) && !request.complete) response.shouldKeepAlive = false
  response.writeHead(status, [...headers, ...own])
  return true
}

/** Sends a whole response. */
export function respond(
  exchange: Exchange,
  status: number,
  headers: HeaderList,
  body?: Uint8Array,
): void {
  if (!begin(exchange, status, headers, body?.length)) return
  exchange.response.end(isHead(exchange) ? undefined : body)
}

export function respondText(
  exchange: Exchange,
  status: number,
  text: string,
  headers: HeaderList = [],
): void {
  const type = ['Content-Type', 'text/plain; charset=utf-8']
  respond(exchange, status, [...PLAIN, ...type, ...headers], Buffer.from(`${text}\n`))
}

export function respondPage(
  exchange: Exchange,
  { status, html, headers: given }: Page,
  headers: HeaderList = [],
  ancestors = "'none'",
): void {
  const policy = ['Content-Security-Policy', pagePolicy(ancestors)]
  const own = ['Content-Type', 'text/html; charset=utf-8', ...policy]
  respond(exchange, status, [...PLAIN, ...own, ...given, ...headers], html)
}

/** Whether the request announces a body. */
function hasBody({ headers }: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': coding } = headers
  return coding !== undefined || (length !== undefined && length !== '0')
}
