import type { TaskFailure, TaskRecord } from '../../plugins/platform/contract/tasks.ts'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import type { WireRecord } from '../operations/agent.ts'
import { notifyTask } from '../jobs/tasks.ts'
import { readRecord } from './artifacts.ts'
import type { A2aCall } from './call.ts'
import { isUnderWay, stateOf } from './states.ts'

/** Edits and deployments move their tasks themselves; what does not is looked at after this time. */
export const LOOKED_AT_AFTER: Millis = 30 * SECOND

/**
 * A task whose work may have ended without moving it: work of any skill ends its task, also where the
 * family that does it knows of no tasks.
 */
export async function refreshTask(call: A2aCall, task: TaskRecord): Promise<TaskRecord> {
  const { platform, principal } = call
  const { subject_id } = task
  const isFresh = platform.clock.now() - task.updated_at < LOOKED_AT_AFTER
  if (!isUnderWay(task.state) || subject_id === null || isFresh) return task
  const record = await readRecord(call, task)
  if (record === undefined) return task
  const state = stateOf(record, true)
  if (state === 'submitted' || state === 'input_required' || state === task.state) return task
  const failure = state === 'failed' || state === 'canceled' ? failureOf(record, state) : null
  const charged = isUnderWay(state) ? null : chargeOf(record)
  const to = { state, failure, charged, at: platform.clock.now() }
  const moved = await platform.store.write(async (tx) => {
    const now = await tx.tasks.move(subject_id, to)
    if (now !== undefined) await notifyTask(platform, tx, now)
    return now
  })
  return moved ?? (await platform.store.tasks.get(principal.key.id, task.id)) ?? task
}

function failureOf(record: WireRecord, state: string): TaskFailure {
  const error = record['error'] as Partial<TaskFailure> | null | undefined
  return {
    code: error?.code ?? state,
    class: error?.class ?? 'request',
    message: error?.message ?? `The work is ${state}.`,
    retryable: error?.retryable ?? false,
    request_id: null,
  }
}

const chargeOf = ({ charged_micros }: WireRecord): number =>
  typeof charged_micros === 'number' ? charged_micros : 0
