/**
 * Errors of the protocol in both bindings: its own as the specification prints them, ours with our code and what the
 * caller can do.
 *
 * @module
 */
import type { FieldError } from '../../lib/errors.ts'
import { KeyhookError, defineErrors } from '../../lib/errors.ts'
import { httpError } from '../operations/errors.ts'
import { ERROR_INFO_TYPE, PROTOCOL_ERRORS, ProtocolError } from './protocol-errors.ts'

/** Refusals of messages that are not those of the protocol or of an operation. */
export const a2aError = defineErrors({
  message_id_reused: {
    status: 400,
    text: 'This messageId is that of another message. Send a new messageId with new words.',
  },
  too_many_messages: {
    status: 400,
    text: 'The task has 20 messages. Begin a new one.',
  },
  too_many_pushes: {
    status: 400,
    text: 'The task has 10 push configurations. Delete one first.',
  },
  task_gone: {
    status: 404,
    text: 'The task was deleted meanwhile. Begin a new one.',
  },
})

/** One element of `data` or `details`: an object that says its type. */
export interface TypedDetail {
  readonly '@type': string
  readonly [name: string]: unknown
}

/** An error as both bindings print it. */
export interface PrintedError {
  /** In an error object of JSON-RPC. */
  readonly rpc: number
  /** HTTP status, and its name in a body of google.rpc.Status. */
  readonly http: number
  readonly status: string
  readonly message: string
  readonly details: readonly TypedDetail[]
  /** Seconds; undefined: nothing is known. */
  readonly retryAfter: number | undefined
}

/** Who is answered, and where our codes are documented. */
export interface ErrorContext {
  readonly baseUrl: string
  readonly requestId: string
}

type Row = Pick<PrintedError, 'rpc' | 'http' | 'status'>

const INVALID: Row = { rpc: -32602, http: 400, status: 'INVALID_ARGUMENT' }
const LATER = -32011

/** By the status of a KeyhookError; what is not found must not say whether it exists. */
const ROWS: Readonly<Record<number, Row>> = {
  400: INVALID,
  404: INVALID,
  401: { rpc: -32010, http: 401, status: 'UNAUTHENTICATED' },
  403: { rpc: -32010, http: 403, status: 'PERMISSION_DENIED' },
  405: { rpc: -32601, http: 405, status: 'UNIMPLEMENTED' },
  408: { rpc: LATER, http: 408, status: 'CANCELLED' },
  413: { rpc: -32602, http: 413, status: 'INVALID_ARGUMENT' },
  429: { rpc: LATER, http: 429, status: 'RESOURCE_EXHAUSTED' },
  500: { rpc: -32603, http: 500, status: 'INTERNAL' },
  503: { rpc: LATER, http: 503, status: 'UNAVAILABLE' },
}

const BY_CODE: Readonly<Record<string, Row>> = {
  route_not_found: { rpc: -32601, http: 404, status: 'NOT_FOUND' },
}

/** Any cause as an error of the protocol; one that nobody expected says nothing of itself. */
export function printError(cause: unknown, context: ErrorContext): PrintedError {
  if (cause instanceof ProtocolError) return ofProtocol(cause)
  const error = cause instanceof KeyhookError ? cause : httpError('internal_error', { cause })
  if (error.code === 'unsupported_media_type') {
    return ofProtocol(new ProtocolError('CONTENT_TYPE_NOT_SUPPORTED', error.message))
  }
  return ours(error, context)
}

function ofProtocol({ reason, message, info }: ProtocolError): PrintedError {
  const { rpc, http, status } = PROTOCOL_ERRORS[reason]
  return { rpc, http, status, message, details: [info], retryAfter: undefined }
}

function ours(error: KeyhookError, { baseUrl, requestId }: ErrorContext): PrintedError {
  const { code, message, status, details = {}, errors } = error
  const wait = details['retry_after']
  const { host } = new URL(baseUrl)
  const metadata = { code, requestId, docUrl: `${baseUrl}/docs/errors#${code}`, ...texts(details) }
  const info = { '@type': ERROR_INFO_TYPE, reason: code.toUpperCase(), domain: host, metadata }
  return {
    ...(BY_CODE[code] ??
      ROWS[status] ?? { ...INVALID, http: status, status: 'FAILED_PRECONDITION' }),
    message,
    details: errors.length === 0 ? [info] : [info, badRequest(errors)],
    retryAfter: typeof wait === 'number' ? wait : status === 503 ? 1 : undefined,
  }
}

/** Metadata of google.rpc.ErrorInfo has texts alone; its names are those of the protocol. */
function texts(details: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(details).map(([name, value]) => [
      name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  )
}

function badRequest(errors: readonly FieldError[]): TypedDetail {
  return {
    '@type': 'type.googleapis.com/google.rpc.BadRequest',
    fieldViolations: errors.map(({ location, code, message }) => ({
      field: location,
      description: message,
      reason: code.toUpperCase(),
    })),
  }
}
