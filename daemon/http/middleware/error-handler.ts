import type { KeyhookError } from '../../../lib/errors.ts'
import { KeyhookError as Refusal } from '../../../lib/errors.ts'
import { httpError } from '../../operations/errors.ts'
import type { RequestContext, Step } from '../state.ts'

/** Receives every refusal; a defect with its cause. */
export type ErrorListener = (
  error: KeyhookError,
  request: { readonly id: string; readonly method: string; readonly path: string },
) => void

/**
 * The only place that turns errors into responses: expected ones as they are, all others as
 * `internal_error` without details.
 */
export function errorHandler(baseUrl: string, onError: ErrorListener): Step {
  return async function errorHandler(ctx, next) {
    const report = (error: KeyhookError): void => {
      onError(error, { id: ctx.state.requestId, method: ctx.method, path: ctx.path })
    }
    ctx.state.refused = report
    ctx.state.report = (cause) => {
      report(httpError('internal_error', { cause, internal: 'This failed beside the response.' }))
    }
    try {
      await next()
    } catch (cause) {
      const error = cause instanceof Refusal ? cause : httpError('internal_error', { cause })
      answerError(ctx, error, baseUrl)
      report(error)
    }
  }
}

export function answerError(ctx: RequestContext, error: KeyhookError, baseUrl: string): void {
  const { code, message, status, details, errors } = error
  ctx.status = status
  if (status === 401) ctx.set('WWW-Authenticate', challenge(code))
  if (code === 'insufficient_scope') {
    ctx.set('WWW-Authenticate', `Bearer error="insufficient_scope", scope="${scopeOf(details)}"`)
  }
  const wait = details?.['retry_after']
  if (typeof wait === 'number') ctx.set('Retry-After', String(wait))
  else if (status === 503) ctx.set('Retry-After', '1')
  // The rest of the body is not read, so no further request can use the connection.
  if (status === 413) ctx.set('Connection', 'close')
  ctx.set('Cache-Control', 'no-store')
  ctx.body = {
    error: {
      code,
      message,
      status,
      request_id: ctx.state.requestId,
      doc_url: `${baseUrl}/docs/errors#${code}`,
      details: details ?? {},
      errors,
    },
  }
}

const TOKEN_ERRORS: ReadonlySet<string> = new Set([
  'invalid_key',
  'key_expired',
  'key_revoked',
  'key_rotated',
])

/** RFC 6750, 3: only a request with a token is informed that the token is invalid. */
function challenge(code: string): string {
  return TOKEN_ERRORS.has(code) ? 'Bearer error="invalid_token"' : 'Bearer'
}

function scopeOf(details: KeyhookError['details']): string {
  const required = details?.['required_scopes']
  return Array.isArray(required) ? required.join(' ') : ''
}
