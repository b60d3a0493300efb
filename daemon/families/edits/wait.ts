import type { Millis } from '../../../lib/time.ts'
import { SECOND } from '../../../lib/time.ts'
import type { EditRecord } from '../../../plugins/store/contract/edits.ts'
import type { Platform } from '../../platform.ts'

const FIRST_LOOK: Millis = 50
const LOOK_EVERY: Millis = SECOND

export function hasEnded({ status }: Pick<EditRecord, 'status'>): boolean {
  return status !== 'queued' && status !== 'running'
}

/**
 * The edit once it has ended, or as it is when the time is over. It may end in another process, so it
 * is looked at, at first often.
 */
export async function waitForEnd(
  { store, clock }: Pick<Platform, 'store' | 'clock'>,
  edit: EditRecord,
  seconds: number,
): Promise<EditRecord> {
  const until = clock.now() + seconds * SECOND
  let known = edit
  for (let pause = FIRST_LOOK; !hasEnded(known); pause = Math.min(2 * pause, LOOK_EVERY)) {
    const left = until - clock.now()
    if (left <= 0) break
    await new Promise<void>((resolve) => {
      clock.after(Math.min(pause, left), resolve)
    })
    const found = await store.edits.get(edit.app_id, edit.id)
    if (found === undefined) break
    known = found
  }
  return known
}
