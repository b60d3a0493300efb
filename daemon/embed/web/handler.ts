import type { IncomingMessage, ServerResponse } from 'node:http'
import { parseAddress } from '../../../lib/egress/address.ts'
import { isObject } from '../../../lib/internal/arguments.ts'
import type { Callback, SignedIn } from '../routes.ts'
import { WebConnection } from './connection.ts'
import { WebRequest } from './request.ts'
import { WebResponse } from './response.ts'

/** Options of routes for a framework with web-standard requests. `context` is what it passes beside them. */
export interface WebOptions<Context extends readonly unknown[] = readonly unknown[]> {
  /** Path prefix of the routes, such as `/developer`. Default: the path of `baseUrl`. */
  readonly prefix?: string
  /** Returns the signed-in user of a request without a developer key. Default: none. */
  readonly resolve?: (request: Request, ...context: Context) => Promise<SignedIn | undefined>
  /**
   * Returns the IP address of the client, or of the proxy in front of the server. Default: unknown, so that
   * the callers without a key share one rate limit.
   */
  readonly address?: (request: Request, ...context: Context) => string | undefined
}

/** Responds to a web-standard request; a path outside the prefix is a 404. */
export type WebHandler<Context extends readonly unknown[] = readonly unknown[]> = (
  request: Request,
  ...context: Context
) => Promise<Response>

/**
 * Both bodies are streams without a buffer of their own. The signal of the request, and a reader that cancels
 * the response, end it as a closed connection does.
 */
export function webOf(callback: Callback, address: WebOptions['address']): WebHandler {
  return async (request, ...context) => {
    if (!isRequest(request)) throw new TypeError('fetch: request must be a web-standard Request')
    const peer = address?.(request, ...context)
    if (peer !== undefined && parseAddress(peer) === undefined) {
      throw new TypeError('address: its answer must be an IP address, or undefined')
    }
    request.signal?.throwIfAborted()
    return exchange(callback, request, context, peer ?? '')
  }
}

function exchange(
  callback: Callback,
  given: Request,
  context: readonly unknown[],
  peer: string,
): Promise<Response> {
  return new Promise((answer, refuse) => {
    const isEncrypted = given.url.startsWith('https:')
    const connection = new WebConnection(peer, isEncrypted, () => response.writableLength)
    const request = new WebRequest(given, context, connection)
    const response = new WebResponse(request, answer, refuse)
    const leave = (): void => {
      refuse(given.signal.reason)
      connection.destroy()
    }
    given.signal?.addEventListener('abort', leave, { once: true })
    connection.once('close', () => {
      given.signal?.removeEventListener('abort', leave)
    })
    callback(request as unknown as IncomingMessage, response as unknown as ServerResponse)
  })
}

/** By its form: some frameworks bring a class of their own. */
function isRequest(request: unknown): request is Request {
  if (!isObject(request)) return false
  const { url, method, headers } = request
  return (
    typeof url === 'string' && typeof method === 'string' && isObject(headers) && 'get' in headers
  )
}

/** The request that became this one, and what the framework passed beside it. */
export function givenOf(request: IncomingMessage): readonly [Request, ...unknown[]] {
  const { given, context } = request as unknown as WebRequest
  return [given, ...context]
}
