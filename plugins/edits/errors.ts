import {
  ANY,
  BOOLEAN,
  TEXT,
  declareArguments,
  oneOf,
  optional,
  optionsOf,
  recordOf,
} from '../../lib/internal/arguments.ts'
import type { ErrorExtras, ErrorRow } from '../../lib/errors.ts'
import { KeyhookError } from '../../lib/errors.ts'

export type EditErrorCode =
  | 'model_not_configured'
  | 'model_unavailable'
  | 'model_rate_limited'
  | 'model_refused'
  | 'model_answer_cut'
  | 'model_answer_invalid'
  | 'patch_not_applied'
  | 'context_too_large'
  | 'answer_too_large'
  | 'deadline'
  | 'canceled'

/** Who can fix a failure: nobody needs to (it passes), the model, the caller, the operator, or us. */
export type EditErrorClass = 'transient' | 'model' | 'request' | 'configuration' | 'internal'

interface EditErrorRow extends ErrorRow {
  readonly class: EditErrorClass
  /** Whether a retry of the same edit may succeed. */
  readonly retryable: boolean
}

/**
 * Why an edit failed. A code never changes its meaning and is never reused. The status is for requests that
 * are refused at once; an edit that fails later reports the code itself.
 */
export const EDIT_ERRORS: Readonly<Record<EditErrorCode, EditErrorRow>> = {
  model_not_configured: {
    status: 501,
    class: 'configuration',
    retryable: false,
    text: 'The language model is not set up here, or its server does not accept how it is set up.',
  },
  model_unavailable: {
    status: 503,
    class: 'transient',
    retryable: true,
    text: 'The language model did not answer, or broke off. Try again later.',
  },
  model_rate_limited: {
    status: 503,
    class: 'transient',
    retryable: true,
    text: 'The language model has too much to do, or its quota is used up. Try again later.',
  },
  model_refused: {
    status: 400,
    class: 'request',
    retryable: false,
    text: 'The language model declined the prompt. Say it in other words.',
  },
  model_answer_cut: {
    status: 400,
    class: 'model',
    retryable: false,
    text: 'The answer was longer than the language model may write. Ask for less at once.',
  },
  model_answer_invalid: {
    status: 503,
    class: 'model',
    retryable: true,
    text: 'The language model did not answer in the form of an edit.',
  },
  patch_not_applied: {
    status: 400,
    class: 'model',
    retryable: true,
    text: 'What the language model wanted to change does not fit the files, also after a repair.',
  },
  context_too_large: {
    status: 413,
    class: 'request',
    retryable: false,
    text: 'The prompt and the files are more than the language model can take in.',
  },
  answer_too_large: {
    status: 400,
    class: 'model',
    retryable: false,
    text: 'The answer holds more than an edit may change. Ask for less at once.',
  },
  deadline: {
    status: 503,
    class: 'transient',
    retryable: true,
    text: 'The edit was not done in time.',
  },
  canceled: {
    status: 409,
    class: 'request',
    retryable: false,
    text: 'The edit was canceled.',
  },
}

/** For logs alone: never a credential, a prompt or a file's text. */
export type EditErrorExtras = Pick<ErrorExtras, 'internal' | 'cause'>

const readError = declareArguments('EditError', {
  code: oneOf(...Object.keys(EDIT_ERRORS)),
  extras: optionsOf({
    internal: optional(TEXT),
    cause: optional(ANY),
  }),
})

/** A failed edit; any other error is a defect. */
export class EditError extends KeyhookError<EditErrorCode> {
  readonly class: EditErrorClass
  readonly retryable: boolean

  constructor(...args: readonly [code: EditErrorCode, extras?: EditErrorExtras]) {
    readError(args)
    const [code, extras = {}] = args
    const row = EDIT_ERRORS[code]
    const { class: whose, retryable } = row
    super(code, row, { ...extras, details: { class: whose, retryable } })
    this.class = whose
    this.retryable = retryable
  }
}

const readSignal = declareArguments('abortError', {
  signal: { ...recordOf({ aborted: BOOLEAN }), allowed: 'an AbortSignal' },
})

/** The error of an aborted signal: the deadline, an error of ours, or else a cancellation. */
export function abortError(...args: readonly [signal: AbortSignal]): EditError {
  readSignal(args)
  const [signal] = args
  const reason: unknown = signal.reason
  if (reason instanceof EditError) return reason
  const isLate = reason instanceof Error && reason.name === 'TimeoutError'
  return new EditError(isLate ? 'deadline' : 'canceled')
}
