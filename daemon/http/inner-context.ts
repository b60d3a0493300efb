import type { Via } from '../operations/call.ts'
import { httpError } from '../operations/errors.ts'
import type { Operation, StreamEvent } from '../operations/operation.ts'
import type { GivenPart } from '../operations/parts.ts'
import type { CallContext } from './call-context.ts'
import type { CommitsAlso } from './perform.ts'
import type { RequestContext, RequestState } from './state.ts'

/** A call of an operation inside a request of another protocol. */
export interface InnerRequest {
  readonly operation: Operation
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  /** A JSON value and its text. Default: none. */
  readonly body?: { readonly value: unknown; readonly text: string } | undefined
  /** Parts of an operation that takes a multipart body. */
  readonly parts?: AsyncIterable<GivenPart> | undefined
  readonly idempotencyKey?: string | undefined
  /** Id of the last event that the caller has. Default: none. */
  readonly after?: string | undefined
  readonly via: Via
  /** For an operation with effect `write`. */
  readonly alsoCommit?: CommitsAlso | undefined
}

/** The answer of an operation with a single response. */
export interface InnerResponse {
  readonly kind: 'json'
  readonly status: number
  /** The JSON text, byte for byte as a request of its own gets it. */
  readonly text: string
  readonly replayed: boolean
  /** Path of the record that shows the progress of accepted work. */
  readonly watch: string | undefined
}

/** The answer of an operation with events. */
export interface InnerEvents {
  readonly kind: 'events'
  readonly events: AsyncIterable<StreamEvent>
  /** Rejects when the caller may no longer read them. */
  admit(): Promise<void>
  /** Call it once or more as soon as nobody reads the events any more. */
  leave(): void
}

export type InnerAnswer = InnerResponse | InnerEvents

/** The context that the steps of an inner call share. */
export interface InnerContext extends CallContext {
  readonly given: InnerRequest
  events: InnerEvents | undefined
}

/**
 * Of no operation that other protocols call. Not a getter of each context: V8 would make a hidden class for each, which
 * keeps its request until the next full garbage collection.
 */
const NO_COOKIES = new Proxy({} as CallContext['cookies'], {
  get(): never {
    throw new TypeError('a call inside a request of another protocol has no cookies')
  },
})

/** Headers of a call that its protocol's response has too. */
const SHOWN = /^ratelimit/i

/**
 * The context of a call on the connection of another request. Of that request's headers it has the
 * credentials alone: the others describe another body.
 *
 * @throws KeyhookError `invalid_request` for a parameter that no URL can have
 */
export function innerContext(outer: RequestContext, given: InnerRequest): InnerContext {
  const { operation, params = {}, query = {}, idempotencyKey = '', after = '' } = given
  const sent: Readonly<Record<string, string>> = {
    authorization: outer.get('authorization'),
    'idempotency-key': idempotencyKey,
    'last-event-id': after,
  }
  const answered = new Map<string, string>()
  return {
    given,
    events: undefined,
    method: operation.method,
    path: pathOf(operation, params),
    querystring: queryOf(query),
    params,
    query,
    headers: {},
    request: outer.request,
    req: outer.req,
    res: outer.res,
    state: innerState(outer.state, given),
    response: { get: (header) => answered.get(header.toLowerCase()) ?? '' },
    get: (header) => sent[header.toLowerCase()] ?? '',
    set(header, value) {
      answered.set(header.toLowerCase(), value)
      if (SHOWN.test(header) && !outer.headerSent) outer.set(header, value)
    },
    status: 200,
    body: undefined,
    cookies: NO_COOKIES,
  }
}

function innerState(
  { requestId, address, bodyLease, report, refused }: RequestState,
  { via, alsoCommit }: InnerRequest,
): RequestState {
  return {
    requestId,
    address,
    principal: undefined,
    operation: undefined,
    admitted: undefined,
    hold: undefined,
    chargeBody: undefined,
    chargeCopy: undefined,
    countRefusal: undefined,
    report,
    refused,
    via,
    alsoCommit,
    bodyText: '',
    body: undefined,
    bodyLease,
    parts: undefined,
    params: {},
    query: {},
  }
}

function pathOf({ path }: Operation, params: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encode(`path.${name}`, params[name] ?? ''),
  )
}

function queryOf(query: Readonly<Record<string, string>>): string {
  return Object.entries(query)
    .map(([name, value]) => `${encode(`query.${name}`, name)}=${encode(`query.${name}`, value)}`)
    .join('&')
}

/** A lone surrogate has no encoding. */
function encode(location: string, text: string): string {
  if (text.isWellFormed()) return encodeURIComponent(text)
  const message = 'Text must be valid Unicode.'
  throw httpError('invalid_request', { errors: [{ location, code: 'not_unicode', message }] })
}
