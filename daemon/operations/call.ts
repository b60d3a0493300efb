import type { z } from 'zod'
import type { Instant } from '../../lib/time.ts'
import type { PlatformTx } from '../../plugins/platform/contract.ts'
import type { Principal, Via } from '../authority/principal.ts'
import type { Platform } from '../platform.ts'
import type { FormInput, GivenPart, PartsInput } from './parts.ts'

export type { Via } from '../authority/principal.ts'

/** Input of an operation, by part of the request. */
export interface OperationInput {
  readonly params?: z.ZodObject
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  /** Form encoding of `body`. */
  readonly form?: FormInput
  /** A multipart body instead of `body`, for an operation with effect `own`. */
  readonly parts?: PartsInput
}

type Part<Schema> = Schema extends z.ZodType ? z.output<Schema> : Readonly<Record<string, never>>

/** Argument of `run`. */
export interface Call<Input extends OperationInput = OperationInput, Prepared = undefined> {
  readonly platform: Platform
  readonly principal: Principal
  readonly params: Part<Input['params']>
  readonly query: Part<Input['query']>
  readonly body: Part<Input['body']>
  /** Exact text of the body, for content that is stored byte for byte. */
  readonly bodyText: string
  readonly prepared: Prepared
  readonly now: Instant
  readonly requestId: string
  readonly via: Via
  /** `Idempotency-Key` of the request; undefined without one, and where it is ignored. */
  readonly idempotencyKey: string | undefined
  /** Address of the caller, only for throttling. */
  readonly ip: string
  readonly response: ResponseHead
  /**
   * Reserves memory for the response before it is read.
   *
   * @param bytes estimate of its large parts; the maximum of several calls counts
   * @throws KeyhookError `too_many_bytes`
   */
  reserve(bytes: number): void
  /**
   * Aborts with `request_abandoned` once nobody waits for the response: for work that waits or takes long.
   */
  abandoned(): AbortSignal
  /** For queued work: until it begins, the request's body is evicted when others need the bytes more. */
  waiting(): Waiting
  /**
   * Takes rate-limit tokens for bytes that the operation is about to copy, as for a body of that size.
   *
   * @throws KeyhookError `rate_limited`
   */
  charge(bytes: number): void
  /** Call it once when a successful response contains refusals: the request pays for them. */
  countRefusal(): void
  /**
   * Checks that the caller still may do this: for work that continues for a while.
   *
   * @throws KeyhookError the refusal of a new request
   */
  admit(): Promise<void>
}

/** Queued work of a call. */
export interface Waiting {
  /** Aborts as `abandoned()` does, and with `too_many_bytes` when the body was evicted. */
  readonly signal: AbortSignal
  /**
   * Call it when the work begins: the body is kept from now on. Rejects when a request with the same
   * `Idempotency-Key` was answered meanwhile, so that the work is not repeated.
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

/** A call that joins the outbox's group commit by itself, or runs in an existing unit of work. */
export interface PublishCall<Input extends OperationInput = OperationInput> extends Call<Input> {
  readonly tx: PlatformTx | undefined
  /**
   * Frees the body before a wait that many requests share: `body` is undefined from then on, and `bodyText`
   * empty. A copy of the call keeps both, as in a unit of work.
   */
  readonly releaseBody: () => void
}

/** A call that responds with server-sent events. */
export interface StreamCall<Input extends OperationInput = OperationInput> extends Call<Input> {
  /** Id of the last event that the client has; empty for all. */
  readonly after: string
  /** Aborts once nobody reads the events; waiting generators must end then. */
  readonly left: AbortSignal
}

/** A call for a price. */
export interface QuoteCall<Input extends OperationInput = OperationInput> extends Call<Input> {
  /** The parts of `input.parts` as they arrive. */
  readonly parts: AsyncIterable<GivenPart>
}

/** A call that commits by itself. */
export interface OwnCall<Input extends OperationInput = OperationInput> extends Call<Input> {
  /** The parts of `input.parts` as they arrive. */
  readonly parts: AsyncIterable<GivenPart>
  /**
   * Runs `work` as one unit, which checks that the caller still may do this.
   *
   * @param options.detached runs it also after the client has disconnected. Default false
   * @throws KeyhookError the refusal of a new request
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

/** A cookie with path `/` that no script can read. */
export interface ResponseCookie {
  readonly name: string
  readonly secure: boolean
  readonly sameSite: 'lax' | 'strict'
}
