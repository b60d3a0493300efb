import { EDIT_ERRORS, EditError } from '../../../plugins/edits/contract.ts'
import type { EditFailure } from '../../../plugins/platform/contract/edits.ts'

/** Why an edit ends that its editor did not end. */
export const FAILURES = {
  canceled: {
    code: 'canceled',
    class: 'request',
    message: EDIT_ERRORS.canceled.text,
    retryable: false,
  },
  timed_out: {
    code: 'timed_out',
    class: 'transient',
    message: EDIT_ERRORS.deadline.text,
    retryable: true,
  },
  worker_lost: {
    code: 'worker_lost',
    class: 'internal',
    message: 'Whoever carried out the edit went away, again and again. Ask for it anew.',
    retryable: true,
  },
  authority_ended: {
    code: 'authority_ended',
    class: 'policy',
    message: 'The key that asked for the edit, or its account, may not do so any more.',
    retryable: false,
  },
  model_not_allowed: {
    code: 'model_not_allowed',
    class: 'policy',
    message: 'The operator no longer allows the model that the edit names. Name another one.',
    retryable: false,
  },
  hold_expired: {
    code: 'hold_expired',
    class: 'request',
    message: 'The edit waited so long that the money held for it was returned. Ask for it anew.',
    retryable: true,
  },
  revision_conflict: {
    code: 'revision_conflict',
    class: 'request',
    message: 'The files that the edit changes were changed meanwhile. Ask for it anew.',
    retryable: true,
  },
  internal_error: {
    code: 'internal_error',
    class: 'internal',
    message: 'Something went wrong on our side. Ask for the edit anew.',
    retryable: true,
  },
} as const satisfies Readonly<Record<string, EditFailure>>

/** What an editor's error is to the owner of the edit; whatever else was thrown is a defect. */
export function failureOf(error: unknown): EditFailure {
  if (!(error instanceof EditError)) return FAILURES.internal_error
  if (error.code === 'deadline') return FAILURES.timed_out
  const { code, message, retryable } = error
  return { code, class: error.class, message, retryable }
}
