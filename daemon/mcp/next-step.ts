import type { KeyhookError } from '../../lib/errors.ts'

type Next = (details: Readonly<Record<string, unknown>>) => string

const tryAgain: Next = ({ retry_after = 1 }) => `Try again in ${String(retry_after)} s.`
const askOwner: Next = () => 'Ask the owner of the account for another key.'

const BY_CODE: Readonly<Record<string, Next>> = {
  insufficient_scope: ({ missing_scopes = [] }) =>
    `Ask the owner for a key with ${(missing_scopes as readonly string[]).join(', ')}. A key cannot widen itself.`,
  key_pinned: () => 'The key is for certain apps only; apps_list names them.',
  key_revoked: askOwner,
  key_expired: askOwner,
  key_rotated: askOwner,
  account_suspended: askOwner,
  insufficient_balance: ({ topup_url }) =>
    typeof topup_url === 'string'
      ? `The owner of the account tops up at ${topup_url}.`
      : 'The owner of the account tops up.',
  app_not_found: () => 'apps_list names the apps of this key.',
  edit_not_found: () => 'edits_list names the edits of an app.',
  deployment_not_found: () => 'deploy_list names the deployments of an app.',
  revision_conflict: () => 'Read the app again and use its current_revision.',
  idempotency_in_progress: tryAgain,
  idempotency_mismatch: () => 'Use another idempotency_key, or the same arguments.',
  idempotency_key_required: () => 'Pass an idempotency_key of your own choice.',
  rate_limited: tryAgain,
  too_many_bytes: tryAgain,
  unknown_operation: () => 'api_search names the operations, and the tool that calls each.',
  result_too_large: ({ cursor }) =>
    cursor === undefined
      ? 'Ask for less of it, by limit or path.'
      : 'Its first part follows; read_more reads on with the cursor in details.',
  invalid_cursor: () =>
    'Begin again: a list without cursor, a large result by the tool that read it.',
  result_changed: () => 'Call the tool again that read it.',
  capability_unavailable: () => 'The operator of the service can configure this.',
}

const BY_STATUS: Readonly<Record<number, Next>> = {
  409: () => 'Read the current state, and decide again.',
  429: tryAgain,
  500: () => 'Look whether it was done before you repeat it.',
  503: tryAgain,
}

/** What to do after a refusal; undefined where its message says it. */
export function nextStep(refusal: KeyhookError): string | undefined {
  const { code, status, details = {}, errors } = refusal
  const next = Object.hasOwn(BY_CODE, code) ? BY_CODE[code] : BY_STATUS[status]
  if (next !== undefined) return next(details)
  // Many a 400 names no argument, such as that of a cursor.
  return status === 400 && errors.length > 0
    ? 'Correct the arguments that errors names.'
    : undefined
}
