import type { ReadArguments } from '../../lib/internal/arguments.ts'
import {
  NAME,
  declareArguments,
  isPlainObject,
  optional,
  optionsOf,
  portOf,
} from '../../lib/internal/arguments.ts'
import type { Operation } from '../operations/operation.ts'
import type { Wire } from './error.ts'
import { isWire } from './error.ts'
import { toRequest } from './request.ts'
import type { Route } from './route.ts'
import type { Send } from './send.ts'
import type { CallOptions, Client } from './types.ts'

type Method = (given?: Wire, options?: CallOptions) => Promise<unknown>

/**
 * Creates the client of the operations of these routes, over any transport.
 *
 * @throws TypeError when two routes would have the same method
 */
export function clientOf<Op extends Operation>(routes: readonly Route[], send: Send): Client<Op> {
  const families: Record<string, Record<string, Method>> = {}
  for (const route of routes) {
    const [family, verb] = methodName(route.id)
    const methods = (families[family] ??= {})
    if (Object.hasOwn(methods, verb)) throw new TypeError(`two routes are ${family}.${verb}`)
    methods[verb] = methodOf(route, send)
  }
  // The types of each route are those that its operation declares.
  return families as unknown as Client<Op>
}

/**
 * Where a client has an operation.
 *
 * @example
 * methodName('webhooks.retry_delivery') // ['webhooks', 'retryDelivery']
 */
export function methodName(id: string): readonly [family: string, verb: string] {
  const [family = '', verb = ''] = id
    .replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
    .split('.')
  return [family, verb]
}

/** A route without a body knows its fields; a body is validated by the service. */
function declareMethod({ id }: Route): ReadArguments {
  return declareArguments(id, {
    given: optional({ allowed: 'a plain object', accepts: isPlainObject }),
    options: optionsOf({
      signal: optional({ ...portOf('throwIfAborted'), allowed: 'an AbortSignal' }),
      idempotencyKey: optional(NAME),
    }),
  })
}

function methodOf(route: Route, send: Send): Method {
  const readArguments = declareMethod(route)
  const method: Method = async (...args) => {
    const [given = {}, options] = readArguments(args) as typeof args
    return ask(route, send, given, options)
  }
  return route.list === true
    ? Object.assign(method, { all: walkOf(method, readArguments) })
    : method
}

/** Asynchronous throughout: an argument that cannot be sent rejects, as a refusal does. */
async function ask(
  route: Route,
  send: Send,
  given: Wire,
  options: CallOptions | undefined,
): Promise<unknown> {
  return send(toRequest(route, given), options)
}

/** Iterates over a list page by page, requesting each page when it is needed. */
function walkOf(list: Method, readArguments: ReadArguments) {
  return async function* all(...args: Parameters<Method>) {
    const [given = {}, options] = readArguments(args) as typeof args
    let cursor = given['cursor']
    for (;;) {
      const page = await list({ ...given, cursor }, options)
      if (!isPage(page)) throw new TypeError('a list must answer a page')
      yield* page.data
      if (!page.has_more) return
      cursor = page.next_cursor
    }
  }
}

interface Page {
  readonly data: readonly unknown[]
  readonly has_more: boolean
  readonly next_cursor: string | null
}

function isPage(value: unknown): value is Page {
  return isWire(value) && Array.isArray(value['data']) && typeof value['has_more'] === 'boolean'
}
