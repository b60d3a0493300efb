import {
  ANY,
  TEXT,
  declareArguments,
  oneOf,
  optional,
  optionsOf,
} from '../../lib/internal/arguments.ts'
import type { ErrorExtras, ErrorRow } from '../../lib/errors.ts'
import { KeyhookError } from '../../lib/errors.ts'

export type ProcessorErrorCode =
  | 'invalid_signature'
  | 'rejected'
  | 'not_found'
  | 'unavailable'
  | 'misconfigured'

interface ProcessorErrorRow extends ErrorRow {
  /** Whether a retry of the same call may succeed. */
  readonly retryable: boolean
}

/** Why a call failed. A code never changes its meaning and is never reused. */
export const PROCESSOR_ERRORS: Readonly<Record<ProcessorErrorCode, ProcessorErrorRow>> = {
  invalid_signature: {
    status: 400,
    retryable: false,
    text: 'The signature does not fit the body, or is too old.',
  },
  rejected: {
    status: 500,
    retryable: false,
    text: 'The payment processor did not accept the request.',
  },
  not_found: {
    status: 404,
    retryable: false,
    text: 'The payment processor has no such object.',
  },
  unavailable: {
    status: 503,
    retryable: true,
    text: 'The payment processor did not answer. Try again later.',
  },
  misconfigured: {
    status: 501,
    retryable: false,
    text: 'The payment processor is not set up here, or does not accept how it is set up.',
  },
}

/** For logs alone: never a credential or anything of a card. */
export type ProcessorErrorExtras = Pick<ErrorExtras, 'internal' | 'cause'>

const readError = declareArguments('ProcessorError', {
  code: oneOf(...Object.keys(PROCESSOR_ERRORS)),
  extras: optionsOf({ internal: optional(TEXT), cause: optional(ANY) }),
})

/** A failed call; any other error is a defect. */
export class ProcessorError extends KeyhookError<ProcessorErrorCode> {
  readonly retryable: boolean

  constructor(...args: readonly [code: ProcessorErrorCode, extras?: ProcessorErrorExtras]) {
    readError(args)
    const [code, extras] = args
    const row = PROCESSOR_ERRORS[code]
    super(code, row, extras)
    this.retryable = row.retryable
  }
}
