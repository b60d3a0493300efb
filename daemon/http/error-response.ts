import type { KeyhookError } from '../../lib/errors.ts'
import type { RequestContext } from './state.ts'

/** Answers a request with a refusal. */
export function answerError(ctx: RequestContext, error: KeyhookError, baseUrl: string): void {
  const { code, status, details } = error
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
  ctx.body = errorBody(error, ctx.state.requestId, baseUrl)
}

/** A refusal as JSON, the same in every protocol. */
export function errorBody(
  { code, message, status, details = {}, errors }: KeyhookError,
  request_id: string,
  baseUrl: string,
): { readonly error: Readonly<Record<string, unknown>> } {
  const doc_url = `${baseUrl}/docs/errors#${code}`
  return { error: { code, message, status, request_id, doc_url, details, errors } }
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
