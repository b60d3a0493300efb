import type { Millis } from '../../../lib/time.ts'
import { EditError, type EditErrorCode } from '../contract.ts'

/** Why one attempt brought no answer, and whether another may. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered'
  readonly failure: EditError
  readonly isFinal: boolean
  /** How long the server asked to wait. */
  readonly wait: Millis | undefined

  constructor(failure: EditError, isFinal: boolean, wait?: Millis) {
    super(failure.message)
    this.failure = failure
    this.isFinal = isFinal
    this.wait = wait
  }
}

interface StatusRow {
  readonly code: EditErrorCode
  readonly isFinal: boolean
}

const REFUSED_SETTINGS: StatusRow = { code: 'model_not_configured', isFinal: true }
const UNAVAILABLE: StatusRow = { code: 'model_unavailable', isFinal: false }

const STATUSES: Readonly<Record<number, StatusRow>> = {
  408: UNAVAILABLE,
  409: UNAVAILABLE,
  413: { code: 'context_too_large', isFinal: true },
  425: UNAVAILABLE,
  429: { code: 'model_rate_limited', isFinal: false },
}

/** What the error's own code says more precisely than the status. */
const CODES: Readonly<Record<string, StatusRow>> = {
  context_length_exceeded: { code: 'context_too_large', isFinal: true },
  content_filter: { code: 'model_refused', isFinal: true },
  content_policy_violation: { code: 'model_refused', isFinal: true },
  insufficient_quota: { code: 'model_rate_limited', isFinal: true },
  rate_limit_exceeded: { code: 'model_rate_limited', isFinal: false },
}

/**
 * What a status other than 200 means, with the code of the server's error if it gave one. Of what the
 * server wrote nothing else is told: some repeat the key, or the prompt.
 */
export function statusFailure(
  status: number,
  code: string | undefined,
  wait: Millis | undefined,
): Unanswered {
  const known = code === undefined ? undefined : CODES[code]
  const row = known ?? STATUSES[status] ?? (status >= 500 ? UNAVAILABLE : REFUSED_SETTINGS)
  const internal = known === undefined ? `status ${status}` : `status ${status}, ${code}`
  return new Unanswered(new EditError(row.code, { internal }), row.isFinal, wait)
}

/** An error that arrives in place of the rest of a stream, which nothing follows. */
export function streamFailure(code: string | undefined): EditError {
  const row = (code === undefined ? undefined : CODES[code]) ?? UNAVAILABLE
  return new EditError(row.code, { internal: 'the stream broke off with an error' })
}

/** Why there was no status line, or no byte after it. */
export function connectionFailure(cause: unknown): Unanswered {
  const isFinal = cause instanceof Error && 'final' in cause && cause.final === true
  const code = isFinal ? 'model_not_configured' : 'model_unavailable'
  const told = cause instanceof Error && 'internal' in cause ? cause.internal : undefined
  const reason = typeof told === 'string' ? `: ${told}` : ''
  return new Unanswered(
    new EditError(code, { internal: `the connection failed${reason}` }),
    isFinal,
  )
}

/** `Retry-After`, in seconds or as a date; undefined for anything else. */
export function readWait(value: string | undefined, now: number): Millis | undefined {
  if (value === undefined) return undefined
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1000
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}
