import type { Context, Next } from 'koa'
import type { RequestContext, RequestState } from './state.ts'

/**
 * The part of a request that the steps of an operation use. Koa's context is one; a call inside a request of
 * another protocol is a plain object, on the connection of that request.
 */
export interface CallContext extends Pick<RequestContext, 'headers' | 'req' | 'res' | 'cookies'> {
  readonly method: string
  readonly path: string
  readonly querystring: string
  readonly query: NodeJS.Dict<string | string[]>
  readonly params?: Readonly<Record<string, string>>
  readonly state: RequestState
  /** The request of the connection, from which the caller is resolved. */
  readonly request: { readonly ctx: Context }
  readonly response: { get(header: string): string }
  get(header: string): string
  set(header: string, value: string): void
  status: number
  body: unknown
}

/** A named step of an operation, whichever protocol calls it. */
export type CallStep = (ctx: CallContext, next: Next) => unknown
