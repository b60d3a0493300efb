import type { FieldError } from '../../lib/errors.ts'
import {
  ANY,
  COUNT,
  NAME,
  OBJECT,
  TEXT,
  anyListOf,
  declareArguments,
  optional,
  optionsOf,
  recordOf,
} from '../../lib/internal/arguments.ts'

export interface ApiErrorFacts {
  readonly code: string
  /** HTTP status; 0 without a response. */
  readonly status: number
  readonly message: string
  readonly requestId?: string | undefined
  readonly details?: Readonly<Record<string, unknown>> | undefined
  readonly errors?: readonly FieldError[] | undefined
  readonly cause?: unknown
}

const FIELD_ERROR = recordOf({ location: TEXT, code: TEXT, message: TEXT })

const readFacts = declareArguments('ApiError', {
  facts: optionsOf({
    code: NAME,
    status: COUNT,
    message: TEXT,
    requestId: optional(TEXT),
    details: optional(OBJECT),
    errors: optional(anyListOf(FIELD_ERROR)),
    cause: optional(ANY),
  }),
})

/**
 * Error of a rejected call: the service's error code, or `connection_failed`, `timeout` or
 * `unexpected_answer` when the service gave none and the outcome is unknown.
 *
 * @example try { await client.keys.get({ key_id }) } catch (error) { if (!(error instanceof ApiError) ||
 *   error.code !== 'key_not_found') throw error }
 */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: string
  /** HTTP status; 0 without a response. */
  readonly status: number
  /** Request id to quote to the operator. */
  readonly requestId: string | undefined
  readonly details: Readonly<Record<string, unknown>>
  /** Every invalid location of the argument. */
  readonly errors: readonly FieldError[]

  constructor(...args: readonly [facts: ApiErrorFacts]) {
    const [facts] = readFacts(args) as typeof args
    const { code, status, message, requestId, details, errors, cause } = facts
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.status = status
    this.requestId = requestId
    this.details = details ?? {}
    this.errors = errors ?? []
  }
}

/** Any JSON object. */
export type Wire = Readonly<Record<string, unknown>>

/** Maximum faults named in the message, which is all that most programs log. */
const SHOWN_FAULTS = 3

function printFault({ location, message }: FieldError): string {
  return `${location}: ${message}`
}

/** The error of a response; `unexpected_answer` for a body without one, such as a proxy's. */
export function toApiError(response: Response, body: unknown): ApiError {
  const { status, headers } = response
  const requestId = headers.get('x-request-id') ?? undefined
  const reported = isWire(body) ? body['error'] : undefined
  if (!isRefusal(reported)) {
    const message = `The service answered ${status} with something else than its JSON.`
    return new ApiError({ code: 'unexpected_answer', status, message, requestId })
  }
  const { code, message, request_id, details, errors } = reported
  const faults = Array.isArray(errors) ? errors.filter(isFieldError) : []
  // A proxy may send a similar form: values of another type are left out.
  return new ApiError({
    code,
    status,
    message: [message, ...faults.slice(0, SHOWN_FAULTS).map(printFault)].join(' '),
    requestId: typeof request_id === 'string' ? request_id : requestId,
    details: isWire(details) ? details : undefined,
    errors: Array.isArray(errors) ? faults : undefined,
  })
}

interface Refusal {
  readonly code: string
  readonly message: string
  readonly request_id?: unknown
  readonly details?: unknown
  readonly errors?: unknown
}

function isFieldError(value: unknown): value is FieldError {
  return FIELD_ERROR.accepts(value)
}

function isRefusal(value: unknown): value is Refusal {
  return isWire(value) && NAME.accepts(value['code']) && typeof value['message'] === 'string'
}

export function isWire(value: unknown): value is Wire {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
