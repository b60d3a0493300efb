import { isOfPortal } from '../authority/admission.ts'
import type { Operation } from '../operations/operation.ts'
import { READS } from '../operations/operation.ts'
import { DEFAULT_BODY_LIMIT, TOKEN_BYTES } from '../limits/amounts.ts'

/** Error codes of an operation that depend on how it is called, not on what it does. */
export function sharedErrors(operation: Operation): readonly string[] {
  const { access, input, effect, method } = operation
  const changes = !READS.has(effect)
  return [
    'invalid_request',
    'internal_error',
    'unavailable',
    // An operation without a body also measures a body before it refuses it.
    'payload_too_large',
    'body_too_slow',
    'too_many_bytes',
    ...(access === 'public' ? [] : ACCESS_ERRORS),
    ...(typeof access === 'object' ? SCOPE_ERRORS : []),
    ...(access === 'operator' ? ['operator_required'] : []),
    ...(access === 'user' ? ['session_required'] : []),
    ...(access === 'portal' ? ['portal_session_required'] : []),
    ...(isOfPortal(access) ? [] : ['outside_portal']),
    ...(access === 'owner' ? ['owner_required', 'account_required'] : []),
    ...(operation.stepUp === true ? ['step_up_required'] : []),
    ...(typeof access === 'object' && access.pinned === 'refused' ? ['key_pinned'] : []),
    ...(input.body === undefined ? [] : BODY_ERRORS),
    ...(input.parts === undefined && input.form === undefined ? [] : PARTS_ERRORS),
    ...(changes ? ['csrf_failed'] : []),
    ...(effect === 'stream' ? ['too_many_streams'] : []),
    ...(effect === 'bytes' ? ['range_not_satisfiable', 'too_many_transfers'] : []),
    ...(operation.idempotency === 'required' ? ['idempotency_key_required'] : []),
    ...(method === 'POST' && changes ? ['idempotency_in_progress', 'idempotency_mismatch'] : []),
    ...(isMetered(operation) ? ['rate_limited'] : []),
  ]
}

function isMetered({ unmetered, bodyLimit = DEFAULT_BODY_LIMIT }: Operation): boolean {
  return unmetered !== true || bodyLimit > TOKEN_BYTES
}

const ACCESS_ERRORS: readonly string[] = [
  'missing_credentials',
  'invalid_key',
  'key_expired',
  'key_revoked',
  'key_rotated',
  'session_expired',
  'account_suspended',
  'account_not_found',
]
const SCOPE_ERRORS: readonly string[] = ['account_required', 'insufficient_scope']
const BODY_ERRORS: readonly string[] = ['invalid_json', 'unsupported_media_type', 'body_consumed']
const PARTS_ERRORS: readonly string[] = [
  'invalid_multipart',
  'too_many_transfers',
  'unsupported_media_type',
  'body_consumed',
]
