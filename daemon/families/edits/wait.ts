import type { EditRecord } from '../../../plugins/platform/contract/edits.ts'
import type { Waiting } from '../wait.ts'
import { waitUntil } from '../wait.ts'

export function hasEnded({ status }: Pick<EditRecord, 'status'>): boolean {
  return status !== 'queued' && status !== 'running'
}

/** The edit once it has ended, or as it is when the time is over. */
export function waitForEnd(
  waiting: Waiting,
  edit: EditRecord,
  seconds: number,
): Promise<EditRecord> {
  const look = () => waiting.platform.store.edits.get(edit.app_id, edit.id)
  return waitUntil(waiting, seconds, edit, hasEnded, look)
}
