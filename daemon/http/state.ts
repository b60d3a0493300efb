import type { Context, Middleware, ParameterizedContext } from 'koa'
import type { KeyhookError } from '../../lib/errors.ts'
import type { Via } from '../operations/call.ts'
import type { GivenPart } from '../operations/parts.ts'
import type { Admitted } from '../authority/admission.ts'
import type { Principal } from '../authority/principal.ts'
import type { CommitsAlso } from './perform.ts'

/** Bytes that a response holds in this process until its socket accepted all of it or closed. */
export interface Hold {
  /**
   * Reserves this many bytes, unless it already has as many.
   *
   * @throws KeyhookError `too_many_bytes`
   */
  reserve(bytes: number): void
  /** From now on it is cut when its reader is too slow, or when others need the bytes more. */
  started(): void
  /** Whether it tells of a change, which is made although its response does not fit. */
  readonly isChange: boolean
}

/** Bytes that a request's body holds in this process. */
export interface BodyLease {
  /** Counts received bytes; false when they are too many. */
  add(bytes: number): boolean
  /** All of it was read: its bytes stay in memory until the operation has ended, so it is not evicted. */
  keep(): void
  /** Its operation waits: until `keep` it may be evicted, which calls `evict`. */
  offer(evict: () => void): void
  release(): void
}

/** State that the steps of one request share. */
export interface RequestState {
  requestId: string
  /** Address of the client; empty on the control socket. */
  address: string
  principal: Principal | undefined
  /** Id of the operation; undefined without one. */
  operation: string | undefined
  /** The last admission of the caller; undefined for a public operation. */
  admitted: Admitted | undefined
  /** Bytes held by the response of an operation; undefined before it runs. */
  hold: Hold | undefined
  /**
   * Takes rate-limit tokens for a body of unknown length that has this size so far; returns its refusal.
   * Undefined for a body with a length.
   */
  chargeBody: ((size: number) => KeyhookError | undefined) | undefined
  /** The same for bytes that the operation copies. Undefined when nothing is counted. */
  chargeCopy: ((size: number) => KeyhookError | undefined) | undefined
  /** Takes a token for a refused item. Undefined when such a request pays like any other. */
  countRefusal: (() => void) | undefined
  /** Logs a failure beside the response. */
  report: (cause: unknown) => void
  /** Counts a refusal inside a response of another protocol, and logs a defect. */
  refused: (error: KeyhookError) => void
  /** How the call came; undefined: as a request of its own. */
  via: Via | undefined
  /** Undefined: nothing more is committed. */
  alsoCommit: CommitsAlso | undefined
  /** Exact text of the body; empty without a body. */
  bodyText: string
  body: unknown
  /** Bytes held by the body until the operation has ended; undefined without a body. */
  bodyLease: BodyLease | undefined
  /** Parts of a multipart body that is being received; undefined for any other body. */
  parts: AsyncIterable<GivenPart> | undefined
  params: Readonly<Record<string, unknown>>
  query: Readonly<Record<string, unknown>>
}

/** Frees a body that is no longer needed; its lease is released separately. */
export function clearBody(state: RequestState): void {
  state.bodyText = ''
  state.body = undefined
}

export type RequestContext = ParameterizedContext<RequestState>

/** A named step of a request. */
export type Step = Middleware<RequestState>

/**
 * Finds the caller; undefined when the request has no credentials. The daemon reads keys, cookies and the
 * operator token; an embedder may identify its users in its own way.
 *
 * @throws KeyhookError for invalid credentials
 */
export type PrincipalResolver = (
  ctx: Context,
) => Principal | undefined | Promise<Principal | undefined>
