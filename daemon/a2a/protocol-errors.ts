/**
 * Errors that the specification of A2A defines, as both of its bindings print them.
 *
 * @module
 */

/** Type of the detail that names a reason, in both bindings. */
export const ERROR_INFO_TYPE = 'type.googleapis.com/google.rpc.ErrorInfo'
const DOMAIN = 'a2a-protocol.org'

interface Spec {
  /** Code of JSON-RPC. */
  readonly rpc: number
  /** HTTP status, and its name in a body of google.rpc.Status. */
  readonly http: number
  readonly status: string
  /** Message where the place that throws has none of its own. */
  readonly text: string
}

/** By the reasons of the specification. */
export const PROTOCOL_ERRORS = {
  TASK_NOT_FOUND: { rpc: -32001, http: 404, status: 'NOT_FOUND', text: 'Task not found' },
  TASK_NOT_CANCELABLE: {
    rpc: -32002,
    http: 400,
    status: 'FAILED_PRECONDITION',
    text: 'Task cannot be canceled',
  },
  UNSUPPORTED_OPERATION: {
    rpc: -32004,
    http: 400,
    status: 'FAILED_PRECONDITION',
    text: 'This operation is not supported',
  },
  CONTENT_TYPE_NOT_SUPPORTED: {
    rpc: -32005,
    http: 400,
    status: 'INVALID_ARGUMENT',
    text: 'Incompatible content types',
  },
  VERSION_NOT_SUPPORTED: {
    rpc: -32009,
    http: 400,
    status: 'FAILED_PRECONDITION',
    text: 'Version not supported',
  },
} as const satisfies Readonly<Record<string, Spec>>

export type ProtocolReason = keyof typeof PROTOCOL_ERRORS

/** One of them, thrown. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
  readonly reason: ProtocolReason

  constructor(reason: ProtocolReason, message: string = PROTOCOL_ERRORS[reason].text) {
    super(message)
    this.reason = reason
  }

  /** The detail of both bindings. */
  get info() {
    return { '@type': ERROR_INFO_TYPE, reason: this.reason, domain: DOMAIN }
  }
}
