import type { ErrorTable } from '../../lib/errors.ts'
import { defineErrors, kernelError } from '../../lib/errors.ts'
import type { KeyhookError } from '../../lib/errors.ts'
import type { JsonError } from '../../lib/internal/json.ts'
import { locationOf } from '../../lib/internal/json.ts'

export type HttpErrorCode =
  | 'invalid_json'
  | 'invalid_multipart'
  | 'invalid_request'
  | 'invalid_cursor'
  | 'account_required'
  | 'insecure_transport'
  | 'insufficient_balance'
  | 'session_expired'
  | 'operator_required'
  | 'session_required'
  | 'owner_required'
  | 'step_up_required'
  | 'key_required'
  | 'outside_portal'
  | 'portal_session_required'
  | 'csrf_failed'
  | 'foreign_origin'
  | 'account_not_found'
  | 'route_not_found'
  | 'method_not_allowed'
  | 'request_abandoned'
  | 'idempotency_key_required'
  | 'idempotency_in_progress'
  | 'payload_too_large'
  | 'range_not_satisfiable'
  | 'unsupported_media_type'
  | 'misdirected_host'
  | 'idempotency_mismatch'
  | 'rate_limited'
  | 'too_many_bytes'
  | 'too_many_streams'
  | 'too_many_transfers'
  | 'body_too_slow'
  | 'body_consumed'
  | 'capability_unavailable'
  | 'billing_not_configured'
  | 'internal_error'

/** Errors of every route, regardless of family. */
export const httpError: ErrorTable<HttpErrorCode> = defineErrors<HttpErrorCode>({
  invalid_json: {
    status: 400,
    text: 'Send one JSON value of valid Unicode in UTF-8, at most 64 levels deep, without __proto__ and NUL.',
  },
  invalid_multipart: {
    status: 400,
    text: 'The body must be whole multipart/form-data, its boundary as its header says, at most 16 KiB of headers a part.',
  },
  invalid_request: {
    status: 400,
    text: 'The request has fields that are missing, unknown or wrong.',
  },
  invalid_cursor: {
    status: 400,
    text: 'The cursor belongs to another list or other filters. Start again without it.',
  },
  idempotency_key_required: {
    status: 400,
    text: 'Send an Idempotency-Key header of your own choice, so that a repeated request has its effect once.',
  },
  account_required: {
    status: 400,
    text: 'Name the account to act for in the Keyhook-Account header. GET /v1/accounts lists them; POST /v1/users creates the first user with an account.',
  },
  insecure_transport: {
    status: 400,
    text: 'Signing in needs https. Set KEYHOOK_BASE_URL to an https address, or use a loopback one.',
  },
  insufficient_balance: {
    status: 402,
    text: 'The balance is too low for this. Top it up, or wait until work in progress has ended.',
  },
  session_expired: { status: 401, text: 'The session has ended. Sign in again.' },
  operator_required: { status: 403, text: 'Only the operator may do this.' },
  session_required: { status: 403, text: 'Only a signed-in user may do this; a key cannot.' },
  owner_required: {
    status: 403,
    text: 'Only a signed-in user may do this, or the operator for an account; a key cannot.',
  },
  step_up_required: {
    status: 403,
    text: 'Confirm your identity: sign in, or send your password to POST /v1/session/step-up.',
  },
  key_required: {
    status: 403,
    text: 'This operation shows the calling key; send a developer key.',
  },
  outside_portal: {
    status: 403,
    text: 'A session of the portal manages keys and webhooks; nothing else.',
  },
  portal_session_required: {
    status: 403,
    text: 'This operation shows or ends the calling session of the portal.',
  },
  csrf_failed: {
    status: 403,
    text: 'A change with a session cookie must come from the same origin. Browsers say so by themselves; other clients send the Origin header that details.origin names, or a key.',
  },
  foreign_origin: { status: 403, text: 'This server does not answer pages of other origins.' },
  account_not_found: {
    status: 404,
    text: 'There is no account with this id. The operator lists all with GET /v1/accounts.',
  },
  route_not_found: { status: 404, text: 'There is nothing at this path.' },
  method_not_allowed: { status: 405, text: 'This path does not take this method. See Allow.' },
  request_abandoned: {
    status: 408,
    text: 'The client disconnected before the work began; nothing was done.',
  },
  body_too_slow: {
    status: 408,
    text: 'The body arrived slower than 1 KiB per second, or stopped. Nothing was done.',
  },
  idempotency_in_progress: {
    status: 409,
    text: 'A request with this Idempotency-Key is in progress. Try again shortly.',
  },
  payload_too_large: { status: 413, text: 'The body is larger than this operation accepts.' },
  unsupported_media_type: {
    status: 415,
    text: 'Send the body as application/json, without Content-Encoding.',
  },
  range_not_satisfiable: {
    status: 416,
    text: 'The range is outside the file. Content-Range contains its length.',
  },
  misdirected_host: { status: 421, text: 'This server does not answer for this host.' },
  idempotency_mismatch: {
    status: 422,
    text: 'This Idempotency-Key was used with another body. Use a new one.',
  },
  rate_limited: kernelError.rows.rate_limited,
  too_many_bytes: {
    status: 429,
    text: 'Too many bytes of requests and responses are in progress. Read what was sent to you, and try again shortly.',
  },
  too_many_streams: {
    status: 429,
    text: 'Too many streams are open at once. Close one, or ask for the status instead.',
  },
  too_many_transfers: {
    status: 429,
    text: 'The account has too many uploads or downloads in progress while others have some too. Wait until one has ended.',
  },
  body_consumed: {
    status: 500,
    text: 'The body was read before Keyhook could read it. Mount its routes before any body parser.',
  },
  capability_unavailable: {
    status: 501,
    text: 'This service is not configured for this. Its operator can change that.',
  },
  billing_not_configured: {
    status: 501,
    text: 'This service does not charge for anything. Its operator can change that with KEYHOOK_BILLING.',
  },
  internal_error: {
    status: 500,
    text: 'Something went wrong on our side. Quote the request_id when you report it.',
  },
})

/** The refusal of JSON text at `location` of the input. */
export function invalidJson(cause: JsonError, location: string): KeyhookError<HttpErrorCode> {
  const { code, message } = cause
  return httpError('invalid_json', {
    details: { reason: code },
    errors: [{ location: locationOf(cause, location), code, message }],
  })
}
