import type { Instant } from '../../lib/time.ts'
import type { PlatformTx } from '../../plugins/platform/contract.ts'
import type { TaskFailure, TaskMove } from '../../plugins/platform/contract/tasks.ts'
import type { Notifying } from './notify-task.ts'
import { notifyTask } from './notify-task.ts'

/** How work that an agent may have asked for goes on. */
export interface WorkChange {
  readonly state: TaskMove['state']
  readonly at: Instant
  readonly error?: Omit<TaskFailure, 'request_id'> | null
  /** Default: nothing. */
  readonly charged_micros?: number
}

/**
 * Moves the task of an edit or deployment, if an agent asked for it, in the unit of work that changes it,
 * and notifies those that it is pushed to.
 */
export async function moveTask(
  platform: Notifying,
  tx: PlatformTx,
  subjectId: string,
  { state, at, error = null, charged_micros = 0 }: WorkChange,
): Promise<void> {
  const charged = state === 'working' ? null : charged_micros
  const failure = error && failureOf(error)
  const task = await tx.tasks.move(subjectId, { state, at, failure, charged })
  if (task !== undefined) await notifyTask(platform, tx, task)
}

function failureOf({ code, class: kind, message, retryable }: NonNullable<WorkChange['error']>) {
  return { code, class: kind, message, retryable, request_id: null }
}
