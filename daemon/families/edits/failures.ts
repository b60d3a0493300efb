import { EDIT_ERRORS, EditError } from '../../../plugins/edits/contract.ts'
import type { EditFailure } from '../../../plugins/platform/contract/edits.ts'

/** Failures of edits that do not come from the editor. */
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
    message: 'The worker of the edit stopped responding on every attempt. Create the edit again.',
    retryable: true,
  },
  authority_ended: {
    code: 'authority_ended',
    class: 'policy',
    message: 'The key that created the edit, or its account, lost the authority to do so.',
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
    message: 'The hold of the price expired while the edit was queued. Create the edit again.',
    retryable: true,
  },
  revision_conflict: {
    code: 'revision_conflict',
    class: 'request',
    message: 'Another revision changed files of the edit. Create the edit again.',
    retryable: true,
  },
  internal_error: {
    code: 'internal_error',
    class: 'internal',
    message: 'Internal error. Create the edit again.',
    retryable: true,
  },
} as const satisfies Readonly<Record<string, EditFailure>>

/** The failure that the owner of the edit sees for an error; any other than an editor's is a defect. */
export function failureOf(error: unknown): EditFailure {
  if (!(error instanceof EditError)) return FAILURES.internal_error
  if (error.code === 'deadline') return FAILURES.timed_out
  const { code, message, retryable } = error
  return { code, class: error.class, message, retryable }
}
