import { KeyhookError } from '../../../lib/errors.ts'
import type { Millis } from '../../../lib/time.ts'
import { httpError } from '../../operations/errors.ts'
import { answerError } from '../error-response.ts'
import type { RequestContext, Step } from '../state.ts'
import type { Settling } from './hold-responses.ts'
import { settleResponse } from './hold-responses.ts'

/** Receives every refusal; a defect with its cause. */
export type ErrorListener = (
  error: KeyhookError,
  request: { readonly id: string; readonly method: string; readonly path: string },
) => void

export interface RespondOptions extends Omit<Settling, 'refuse'> {
  readonly baseUrl: string
  readonly onError: ErrorListener
  /** Counts each response when it begins. Default: none. */
  readonly count?: (ctx: RequestContext, took: Millis) => void
}

/**
 * Makes a response of what the further steps did or threw, reserves its bytes, and adds it to the metrics. Except
 * for protocols with errors of their own, this is the only place that turns errors into responses: expected ones
 * as they are, all others as `internal_error` without details. It is one step because each that waits for the
 * next costs every request a promise.
 */
export function respond(options: RespondOptions): Step {
  const { baseUrl, onError, count, traffic, trustedProxies } = options
  function refuse(ctx: RequestContext, error: KeyhookError): void {
    answerError(ctx, error, baseUrl)
    report(ctx, error)
  }

  function report({ state, method, path }: RequestContext, error: KeyhookError): void {
    onError(error, { id: state.requestId, method, path })
  }

  const settling: Settling = { traffic, trustedProxies, refuse }
  return async function respond(ctx, next) {
    const begun = performance.now()
    ctx.state.refused = (error) => {
      report(ctx, error)
    }
    ctx.state.report = (cause) => {
      const internal = 'This failed beside the response.'
      report(ctx, httpError('internal_error', { cause, internal }))
    }
    try {
      await next()
    } catch (cause) {
      refuse(ctx, cause instanceof KeyhookError ? cause : httpError('internal_error', { cause }))
    }
    settleResponse(ctx, settling)
    count?.(ctx, performance.now() - begun)
  }
}
