import type { TaskState } from '../../plugins/platform/contract/tasks.ts'
import type { WireRecord } from '../operations/agent.ts'

const UNDER_WAY: ReadonlySet<TaskState> = new Set(['submitted', 'working'])

/** Whether a task goes on by itself; any other waits for its caller or has ended. */
export const isUnderWay = (state: TaskState): boolean => UNDER_WAY.has(state)

/** Whether a task has ended for good. */
export const isFinal = (state: TaskState): boolean =>
  !isUnderWay(state) && state !== 'input_required'

/** States by the `status` of apps, edits and deployments. */
export const STATE_OF_STATUS: Readonly<Record<string, TaskState>> = {
  creating: 'submitted',
  queued: 'submitted',
  running: 'working',
  building: 'working',
  deploying: 'working',
  ready: 'completed',
  completed: 'completed',
  live: 'completed',
  superseded: 'completed',
  unpublished: 'completed',
  failed: 'failed',
  canceled: 'canceled',
}

/**
 * The state of a task whose work this record shows.
 *
 * @param isAccepted whether the work goes on after the response: then a status of a third party's is work
 */
export function stateOf({ status }: WireRecord, isAccepted: boolean): TaskState {
  const known = typeof status === 'string' ? STATE_OF_STATUS[status] : undefined
  if (isAccepted) return known ?? 'submitted'
  // A price shows the record that would be made.
  return known === undefined || isUnderWay(known) ? 'completed' : known
}
