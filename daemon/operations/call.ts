import type { z } from 'zod'
import type { Instant } from '../../lib/time.ts'
import type { PlatformTx } from '../../plugins/platform/contract.ts'
import type { Principal } from '../authority/principal.ts'
import type { Platform } from '../platform.ts'
import type { FormInput, GivenPart, PartsInput } from './parts.ts'

/** What an operation can be given, by the place in the request. */
export interface OperationInput {
  readonly params?: z.ZodObject
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  /** How `body` may be sent beside JSON. */
  readonly form?: FormInput
  /** A multipart body in place of `body`, for an operation whose effect is `own`. */
  readonly parts?: PartsInput
}

type Part<Schema> = Schema extends z.ZodType ? z.output<Schema> : Readonly<Record<string, never>>

/** What `run` is given. */
export interface Call<Input extends OperationInput = OperationInput, Prepared = undefined> {
  readonly platform: Platform
  readonly principal: Principal
  readonly params: Part<Input['params']>
  readonly query: Part<Input['query']>
  readonly body: Part<Input['body']>
  /** The body's text as it came, for what must be kept to the byte. */
  readonly bodyText: string
  readonly prepared: Prepared
  readonly now: Instant
  readonly requestId: string
  /** The caller's address, for throttling alone. */
  readonly ip: string
  readonly response: ResponseHead
  /**
   * Counts what the answer is going to hold, before it is read.
   *
   * @param bytes at least of what is large in it; the most of several calls counts
   * @throws KeyhookError `too_many_bytes`
   */
  reserve(bytes: number): void
  /**
   * Aborts with `request_abandoned` once nobody waits for the response: for work that waits or takes long.
   */
  abandoned(): AbortSignal
  /**
   * For work that waits for its turn: until it begins, the request's body gives way when others need the
   * bytes more.
   */
  waiting(): Waiting
  /**
   * Takes tokens of the rate limits for bytes that the operation is about to copy, as a body of that size
   * would cost.
   *
   * @throws KeyhookError `rate_limited`
   */
  charge(bytes: number): void
  /** To be called once where something is refused by a response that is no error: the request pays for it. */
  countRefusal(): void
  /**
   * Looks whether the caller still may do this: for what goes on for a while.
   *
   * @throws KeyhookError as a request would be refused that came now
   */
  admit(): Promise<void>
}

/** Work of a call that waits for its turn. */
export interface Waiting {
  /** Aborts as `abandoned()` does, and with `too_many_bytes` when the body gave way. */
  readonly signal: AbortSignal
  /**
   * To be called when the turn begins: from now on the body is kept. Rejects when a request with the same
   * `Idempotency-Key` was answered meanwhile, so that the work is not done again.
   */
  begin(): Promise<void>
}

/** A call inside a unit of work. */
export interface WriteCall<
  Input extends OperationInput = OperationInput,
  Prepared = undefined,
> extends Call<Input, Prepared> {
  readonly tx: PlatformTx
}

/** A call of what joins the outbox's group commit by itself, or a unit of work where there is one. */
export interface PublishCall<Input extends OperationInput = OperationInput> extends Call<Input> {
  readonly tx: PlatformTx | undefined
}

/** A call that is answered as server-sent events. */
export interface StreamCall<Input extends OperationInput = OperationInput> extends Call<Input> {
  /** The id of the last event that the client has; empty for all. */
  readonly after: string
  /** Aborts once nobody reads them; what waits for more must end then. */
  readonly left: AbortSignal
}

/** A call that commits by itself. */
export interface OwnCall<Input extends OperationInput = OperationInput> extends Call<Input> {
  /** What `input.parts` declares, as it comes in. */
  readonly parts: AsyncIterable<GivenPart>
  /**
   * Runs `work` as one unit, in which the caller still may do this.
   *
   * @param options.detached runs it also when the client has disconnected. Default false
   * @throws KeyhookError as a request would be refused that came now
   */
  unit<T>(
    work: (tx: PlatformTx) => Promise<T>,
    options?: { readonly detached?: boolean },
  ): Promise<T>
}

export interface ResponseHead {
  setCookie(cookie: ResponseCookie, value: string, expires: Instant): void
  clearCookie(cookie: ResponseCookie): void
}

/** A cookie of path `/` that no script of a page can read. */
export interface ResponseCookie {
  readonly name: string
  readonly secure: boolean
  readonly sameSite: 'lax' | 'strict'
}
