import type { Context, Middleware, ParameterizedContext } from 'koa'
import type { KeyhookError } from '../../lib/errors.ts'
import type { GivenPart } from '../operations/parts.ts'
import type { Admitted } from '../authority/admission.ts'
import type { Principal } from '../authority/principal.ts'

/** What a response holds of the process, until its socket took all of it or is gone. */
export interface Hold {
  /**
   * Counts so many bytes for it, unless it has as many already.
   *
   * @throws KeyhookError `too_many_bytes`
   */
  reserve(bytes: number): void
  /** From now on it is cut when its reader is too slow, or when others need the bytes more. */
  started(): void
}

/** What a request's body holds of the process. */
export interface BodyLease {
  /** Counts bytes that came in; false when they are too many. */
  add(bytes: number): boolean
  /** All of it was read: its bytes are in memory until the operation has ended, so it is not evicted. */
  keep(): void
  /** Its operation waits: until `keep` it may be evicted again, and `evict` is told. */
  offer(evict: () => void): void
  release(): void
}

/** What the steps of one request hand on to each other. */
export interface RequestState {
  requestId: string
  /** Where the request comes from; empty over the control socket. */
  address: string
  principal: Principal | undefined
  /** The id of the operation; undefined for what is none. */
  operation: string | undefined
  /** Against what the caller was admitted last; undefined for what is public. */
  admitted: Admitted | undefined
  /** What the response of an operation holds; undefined before it runs. */
  hold: Hold | undefined
  /**
   * Takes the tokens of the rate limits for a body of unknown length that is this long by now; answers
   * what refuses it. Undefined where the length was announced.
   */
  chargeBody: ((size: number) => KeyhookError | undefined) | undefined
  /** The same for bytes that the operation copies. Undefined where nothing is counted. */
  chargeCopy: ((size: number) => KeyhookError | undefined) | undefined
  /** Takes a token for what is refused. Undefined where such a request pays like any other. */
  countRefusal: (() => void) | undefined
  /** Logs what failed beside the response. */
  report: (cause: unknown) => void
  /** The body's exact text; empty when there is none. */
  bodyText: string
  body: unknown
  /** What the body holds of the process, until the operation has ended; undefined when there is none. */
  bodyLease: BodyLease | undefined
  /** Of a multipart body, still on its way in; undefined for any other. */
  parts: AsyncIterable<GivenPart> | undefined
  params: Readonly<Record<string, unknown>>
  query: Readonly<Record<string, unknown>>
}

/** Frees a body whose lease ends: a response that waits for its reader would keep it in memory. */
export function clearBody(state: RequestState): void {
  state.bodyText = ''
  state.body = undefined
}

export type RequestContext = ParameterizedContext<RequestState>

/** A named step of a request. */
export type Step = Middleware<RequestState>

/**
 * Finds out who asks; undefined when the request bears no credentials. The daemon reads keys, cookies
 * and the operator's token; an embedder may know its users in its own way.
 *
 * @throws KeyhookError for credentials that are not valid
 */
export type PrincipalResolver = (
  ctx: Context,
) => Principal | undefined | Promise<Principal | undefined>
