/**
 * `keyhook/client`: every operation as a typed method, over `fetch` alone. It runs in Node, browsers
 * and workers, and loads nothing of the server.
 *
 * @module
 */
import type { Kind } from '../../lib/internal/arguments.ts'
import {
  FUNCTION,
  NAME,
  POSITIVE,
  declareArguments,
  either,
  listOf,
  oneOf,
  optional,
  optionsOf,
  recordOf,
} from '../../lib/internal/arguments.ts'
import { clientOf } from './client.ts'
import type { RoutedOperation, Route, RouteOf } from './route.ts'
import type { Served } from './routes.ts'
import { ROUTES } from './routes.ts'
import { createSend } from './send.ts'
import type { Client } from './types.ts'

export type { Client, CallOptions, OperationsOf } from './types.ts'
export { ApiError } from './error.ts'
export type { Route, RouteOf } from './route.ts'
export { routesOf } from './route.ts'
export { ROUTES } from './routes.ts'
export type { Served } from './routes.ts'

export interface ClientOptions<Routed extends Route = RouteOf<Served>> {
  /** Address of the service, such as `http://127.0.0.1:8420`; a path before `/v1` is kept. */
  readonly baseUrl: string
  /**
   * A developer key, the operator token, or a session of the portal; a function is asked before each request. Default:
   * the session of the browser, for a page of the service.
   */
  readonly key?: string | (() => string | undefined)
  /** Account that the operator acts for. */
  readonly account?: string
  /** Whose session of the browser, without a key. Default: that of its user. */
  readonly session?: 'user' | 'operator'
  /** Timeout of one attempt in milliseconds. Default 60,000. */
  readonly timeout?: number
  /** Default: the runtime's `fetch`. */
  readonly fetch?: typeof globalThis.fetch
  /** Routes of the client. Default: the operations of the service. */
  readonly routes?: readonly Routed[]
}

const DEFAULT_TIMEOUT = 60_000

const readClient = declareArguments('createClient', {
  options: optionsOf({
    baseUrl: NAME,
    key: optional(either(NAME, FUNCTION)),
    account: optional(NAME),
    session: optional(oneOf('user', 'operator')),
    timeout: optional(POSITIVE),
    fetch: optional(FUNCTION),
    routes: optional({
      ...listOf(recordOf({ id: NAME, method: NAME, path: NAME })),
      allowed: 'a list of routes, as routesOf answers',
    }),
  } satisfies Record<keyof ClientOptions, Kind>),
})

/**
 * A client of the service.
 *
 * What is safe to repeat (GET, PUT, DELETE, and POST by its `Idempotency-Key`) is tried up to three
 * times when the service asks to come back later (429, 503) or the connection fails.
 *
 * @throws TypeError for an option of another name or type, and when `baseUrl` is no address; from a
 *   call: `ApiError`, the reason of its signal, or TypeError for an argument that cannot be sent
 * @example
 * const client = createClient({ baseUrl: 'http://127.0.0.1:8420', key })
 * const webhook = await client.webhooks.create({ url, events: ['order.paid'] })
 * for await (const { name } of client.keys.list.all()) console.log(name)
 */
export function createClient<Routed extends Route = RouteOf<Served>>(
  ...args: readonly [options: ClientOptions<Routed>]
): Client<RoutedOperation<Routed>> {
  const [options] = readClient(args) as typeof args
  const { baseUrl, key, account, session, timeout = DEFAULT_TIMEOUT } = options
  const { fetch: request = globalThis.fetch } = options
  const send = createSend({ baseUrl, key, account, session, timeout, request, wait })
  return clientOf<RoutedOperation<Routed>>(options.routes ?? ROUTES, send)
}

function wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end)
      resolve()
    }, milliseconds)
    if (signal?.aborted === true) end()
    else signal?.addEventListener('abort', end, { once: true })
  })
}
