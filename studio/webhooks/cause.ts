import type { Delivery, Webhook } from '../api/client.ts'

const DISABLED: Readonly<Record<NonNullable<Webhook['disabled_reason']>, string>> = {
  failures: 'It was disabled because too many attempts failed in a row.',
  gone: 'It was disabled because the receiver responded 410 Gone.',
  manual: 'A person disabled it.',
  key_revoked: 'It was disabled when the key that set it was revoked.',
  key_narrowed: 'It was disabled when the key that set it lost scopes.',
}

/** Whether a person made it to test it first, and never started it. */
function isUnstarted({ status, disabled_reason, disabled_at, created_at }: Webhook): boolean {
  return status === 'disabled' && disabled_reason === 'manual' && disabled_at === created_at
}

/** The state of a webhook in a word of `State`. */
export function stateOf(webhook: Webhook): string {
  const { status, consecutive_failures } = webhook
  if (isUnstarted(webhook)) return 'tests only'
  if (status === 'disabled') return 'disabled'
  return consecutive_failures > 0 ? 'failing' : 'active'
}

/** Why a webhook is as it is, in a sentence. */
export function causeOf(webhook: Webhook, latest: Delivery | undefined): string {
  const { status, disabled_reason, consecutive_failures: failures } = webhook
  const last = latest === undefined || latest.error === null ? '' : ` Last: ${reasonOf(latest)}`
  if (isUnstarted(webhook))
    return 'It was added for tests, and no event is sent until it is enabled.'
  if (status === 'disabled') return `${DISABLED[disabled_reason ?? 'manual']}${last}`
  if (failures > 0) {
    return `The last ${failures === 1 ? 'attempt' : `${failures} attempts`} failed.${last}`
  }
  return webhook.last_delivery_at === null
    ? 'Nothing was sent yet. Send a test to see whether the receiver works.'
    : 'It delivers.'
}

/** Why the last attempt failed: what the receiver said, or what went wrong before. */
export function reasonOf({ error, response }: Pick<Delivery, 'error' | 'response'>): string {
  if (error === null) return ''
  if (error.code === 'http_status' && response !== null) {
    return `The receiver responded ${response.status_code}, and only 200 to 299 is a success.`
  }
  return error.message
}

const OUTCOMES: Readonly<Record<Delivery['status'], string>> = {
  pending: 'It waits for its next attempt.',
  delivering: 'An attempt is in progress.',
  succeeded: 'It was delivered.',
  exhausted: 'It failed, and no retries are left.',
  blocked: 'The address was refused: it is not public.',
  skipped: 'It was never tried, because the webhook was disabled.',
  canceled: 'It ended with its webhook, which was deleted.',
}

/** What became of a delivery: the cause first. */
export function outcomeOf(delivery: Delivery): string {
  const { status, error, end_reason } = delivery
  const ended = end_reason === 'webhook_disabled' && status === 'exhausted'
  const outcome = ended ? 'It failed, and then its webhook was disabled.' : OUTCOMES[status]
  return error === null ? outcome : `${reasonOf(delivery)} ${outcome}`
}
