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

/**
 * Whose doing a failure is: of circumstances that pass, of the model, of whoever asked, of the
 * operator, or of a defect.
 */
export type EditErrorClass = 'transient' | 'model' | 'request' | 'configuration' | 'internal'

interface EditErrorRow {
  readonly class: EditErrorClass
  /** Whether the same edit may succeed when it is asked for again. */
  readonly retryable: boolean
  /** The public sentence. */
  readonly text: string
}

/** Why an edit could not be carried out. A code never changes its meaning and is never reused. */
export const EDIT_ERRORS: Readonly<Record<EditErrorCode, EditErrorRow>> = {
  model_not_configured: {
    class: 'configuration',
    retryable: false,
    text: 'The language model is not set up here, or its server does not accept how it is set up.',
  },
  model_unavailable: {
    class: 'transient',
    retryable: true,
    text: 'The language model did not answer, or broke off. Try again later.',
  },
  model_rate_limited: {
    class: 'transient',
    retryable: true,
    text: 'The language model has too much to do, or its quota is used up. Try again later.',
  },
  model_refused: {
    class: 'request',
    retryable: false,
    text: 'The language model declined the prompt. Say it in other words.',
  },
  model_answer_cut: {
    class: 'model',
    retryable: false,
    text: 'The answer was longer than the language model may write. Ask for less at once.',
  },
  model_answer_invalid: {
    class: 'model',
    retryable: true,
    text: 'The language model did not answer in the form of an edit.',
  },
  patch_not_applied: {
    class: 'model',
    retryable: true,
    text: 'What the language model wanted to change does not fit the files, also after a repair.',
  },
  context_too_large: {
    class: 'request',
    retryable: false,
    text: 'The prompt and the files are more than the language model can take in.',
  },
  answer_too_large: {
    class: 'model',
    retryable: false,
    text: 'The answer holds more than an edit may change. Ask for less at once.',
  },
  deadline: {
    class: 'transient',
    retryable: true,
    text: 'The edit was not done in time.',
  },
  canceled: {
    class: 'request',
    retryable: false,
    text: 'The edit was canceled.',
  },
}

export interface EditErrorExtras {
  /** For logs alone: never a credential, a prompt or a file's text. */
  readonly internal?: string
  readonly cause?: unknown
}

/** An edit that could not be carried out; whatever else is thrown is a defect. */
export class EditError extends Error {
  override readonly name = 'EditError'
  readonly code: EditErrorCode
  readonly class: EditErrorClass
  readonly retryable: boolean
  readonly internal: string | undefined

  constructor(code: EditErrorCode, extras: EditErrorExtras = {}) {
    const row = EDIT_ERRORS[code]
    super(row.text, 'cause' in extras ? { cause: extras.cause } : undefined)
    this.code = code
    this.class = row.class
    this.retryable = row.retryable
    this.internal = extras.internal
  }
}

/** What an aborted signal means for the edit: its deadline, an error of ours, or else a cancellation. */
export function abortError(signal: AbortSignal): EditError {
  const reason: unknown = signal.reason
  if (reason instanceof EditError) return reason
  const isLate = reason instanceof Error && reason.name === 'TimeoutError'
  return new EditError(isLate ? 'deadline' : 'canceled')
}
