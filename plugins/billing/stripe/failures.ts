import { isObject } from '../../../lib/internal/arguments.ts'
import { ProcessorError, type ProcessorErrorCode } from '../contract.ts'

/** Statuses that say more than that the request was refused. */
const CODES: Readonly<Record<number, ProcessorErrorCode>> = {
  401: 'misconfigured',
  403: 'misconfigured',
  404: 'not_found',
  409: 'unavailable',
  429: 'unavailable',
}

/** Short names of Stripe: what may repeat a key or a card does not look like these. */
const NAMES: Readonly<Record<'code' | 'param' | 'requestId', RegExp>> = {
  code: /^[a-z_]{1,64}$/,
  param: /^[a-z_]{1,64}(\[[a-z0-9_]{1,64}\]){0,6}$/,
  requestId: /^req_[A-Za-z0-9_]{1,64}$/,
}

/**
 * The error of a call of the library. Only names and the status of what Stripe wrote are kept: its messages
 * and the library's own errors repeat keys, and what they carry describes cards.
 */
export function processorError(error: unknown): ProcessorError {
  if (error instanceof ProcessorError) return error
  if (!isObject(error)) return new ProcessorError('unavailable')
  const status = error['statusCode']
  if (typeof status !== 'number') return connectionFailure(error['detail'])
  const names = Object.entries(NAMES).map(([name, form]) => {
    const value = error[name]
    return typeof value === 'string' && form.test(value) ? `, ${name} ${value}` : ''
  })
  return new ProcessorError(codeOf(status, error), {
    internal: `status ${status}${names.join('')}`,
  })
}

/**
 * Whether a failure is one that Stripe answers to an idempotency key for a day, whatever has become of its
 * cause: only another key helps then. What the failed request may have created is known to nobody.
 */
export function isKept(error: unknown): boolean {
  if (!isObject(error) || !isObject(error['headers'])) return false
  const { statusCode, headers } = error
  const isReplayed = headers['idempotent-replayed'] === 'true'
  return isReplayed && typeof statusCode === 'number' && statusCode >= 500
}

function codeOf(status: number, error: Readonly<Record<string, unknown>>): ProcessorErrorCode {
  if (error['code'] === 'resource_missing') return 'not_found'
  // A redirect, or a status that is none of an API: whoever answered is not Stripe.
  if (status < 400) return 'unavailable'
  return CODES[status] ?? (status >= 500 ? 'unavailable' : 'rejected')
}

/** The guarded client's failure; without one, what was answered is no JSON. */
function connectionFailure(detail: unknown): ProcessorError {
  if (!isObject(detail))
    return new ProcessorError('unavailable', { internal: 'no JSON was answered' })
  const why = detail['internal']
  const internal = `no answer: ${typeof why === 'string' ? why : 'the connection failed'}`
  return new ProcessorError(detail['final'] === true ? 'misconfigured' : 'unavailable', {
    internal,
  })
}
