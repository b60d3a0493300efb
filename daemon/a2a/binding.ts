import type { RequestContext } from '../http/state.ts'
import type { A2aCall } from './call.ts'
import type { PrintedError } from './errors.ts'
import type { Method } from './methods.ts'
import type { StreamResponse } from './updates.ts'

/** One of the ways in which the protocol is written over HTTP. */
export interface Binding {
  /**
   * What a request asks for. Undefined: it was answered, as one that can mean nothing.
   *
   * @throws KeyhookError for a path that is not served
   */
  read(ctx: RequestContext): Reading | undefined
  /** Answers a request that never became a call. */
  refuse(ctx: RequestContext, error: PrintedError): void
}

/** A request that asks for a method, and how it is answered. */
export interface Reading {
  readonly method: Pick<Method, 'streams'>
  /** Reads the parameters from the body, which need not be kept once the method has begun. */
  begin(call: A2aCall): ReturnType<Method['run']>
  result(result: unknown): void
  refuse(error: PrintedError): void
  /** One server-sent event. */
  event(response: StreamResponse): string
  /** The last event of a stream that a refusal ends. */
  lastEvent(error: PrintedError): string
}

export function retryLater(ctx: RequestContext, error: PrintedError): PrintedError {
  if (error.retryAfter !== undefined) ctx.set('Retry-After', String(error.retryAfter))
  return error
}
