import type { Millis } from '../../../lib/time.ts'
import type { RequestFailure } from '../../openai-client.ts'
import { EditError, type EditErrorCode } from '../contract.ts'

/** Why one attempt has no answer, and whether to retry. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered'
  readonly failure: EditError
  readonly isFinal: boolean
  /** Wait requested by the server. */
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

/** Codes of the server's error that are more precise than the status. */
const CODES: Readonly<Record<string, StatusRow>> = {
  context_length_exceeded: { code: 'context_too_large', isFinal: true },
  content_filter: { code: 'model_refused', isFinal: true },
  content_policy_violation: { code: 'model_refused', isFinal: true },
  insufficient_quota: { code: 'model_rate_limited', isFinal: true },
  rate_limit_exceeded: { code: 'model_rate_limited', isFinal: false },
}

/** The error of a request without an answer: no status line, no byte after it, or not status 200. */
export function requestFailure(failure: RequestFailure): Unanswered {
  const { status, code, wait, isFinal, internal } = failure
  if (status === undefined) {
    const row = isFinal ? REFUSED_SETTINGS : UNAVAILABLE
    return new Unanswered(new EditError(row.code, { internal }), isFinal)
  }
  const known = code === undefined ? undefined : CODES[code]
  const row = known ?? STATUSES[status] ?? (status >= 500 ? UNAVAILABLE : REFUSED_SETTINGS)
  const reason = known === undefined ? internal : `${internal}, ${code}`
  return new Unanswered(new EditError(row.code, { internal: reason }), row.isFinal, wait)
}

/** The error that the server sends in place of the rest of a stream. */
export function streamFailure(code: string | undefined): EditError {
  const row = (code === undefined ? undefined : CODES[code]) ?? UNAVAILABLE
  return new EditError(row.code, { internal: 'the stream broke off with an error' })
}
