import { KeyhookError } from '../../../lib/errors.ts'
import { DEPLOY_ERRORS, DeployError } from '../../../plugins/deploy/contract.ts'
import type { DeploymentFailure } from '../../../plugins/platform/contract/deployments.ts'

/** Why a deployment ends, without its step. */
export type Failure = Omit<DeploymentFailure, 'step'>

/** Failures that the deployer does not report. */
export const FAILURES = {
  canceled: {
    code: 'canceled',
    class: 'policy',
    message: 'The deployment was canceled.',
    retryable: true,
  },
  authority_ended: {
    code: 'authority_ended',
    class: 'policy',
    message: 'Who asked for it may not publish the app any more.',
    retryable: false,
  },
  app_archived: {
    code: 'app_archived',
    class: 'policy',
    message: 'The app was archived meanwhile. Restore it first.',
    retryable: false,
  },
  timed_out: {
    code: 'timed_out',
    class: 'transient',
    message: 'The deployment was not done in time. Try again.',
    retryable: true,
  },
  worker_lost: {
    code: 'worker_lost',
    class: 'internal',
    message: 'The process that ran the deployment stopped repeatedly. Try again.',
    retryable: true,
  },
  internal_error: {
    code: 'internal_error',
    class: 'internal',
    message: 'Something went wrong on our side. Try again.',
    retryable: true,
  },
} as const satisfies Readonly<Record<string, Failure>>

/** A stored file is missing or was changed. */
const GONE: ReadonlySet<string> = new Set(['bytes_gone', 'bytes_damaged'])

/** The failure that the owner of the deployment sees; an unexpected error is a defect. */
export function failureOf(error: unknown): Failure {
  if (error instanceof DeployError) {
    const { code, message, retryable } = error
    return { code, class: error.class, message, retryable }
  }
  if (!(error instanceof KeyhookError) || !GONE.has(error.code)) return FAILURES.internal_error
  const { class: whose, retryable, text } = DEPLOY_ERRORS.file_gone
  return { code: 'file_gone', class: whose, message: text, retryable }
}
