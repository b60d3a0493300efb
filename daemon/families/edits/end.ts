import type { PlatformTx } from '../../../plugins/platform/contract.ts'
import type { EditEnd, EditFailure, EditRecord } from '../../../plugins/platform/contract/edits.ts'
import type { Instant } from '../../../lib/time.ts'
import type { Leased } from '../../jobs/handler.ts'
import { moveTask } from '../../jobs/tasks.ts'
import type { Platform } from '../../platform.ts'
import type { PublishedFailure } from './events.ts'
import { editEvents } from './events.ts'

/** An end with the revision that the edit created, or with the reason why it created none. */
export type Ended = EditEnd &
  (
    | { readonly status: 'completed'; readonly result_revision: number }
    | { readonly status: 'failed' | 'canceled'; readonly error: EditFailure }
  )

type Publishing = Pick<Platform, 'engine' | 'newId' | 'clock' | 'billing'>

/** The end of an edit that created no revision. */
export function endWithout(
  status: 'failed' | 'canceled',
  error: EditFailure,
  finished_at: Instant,
): Ended {
  const nothing = { result_revision: null, summary: null, changed: [], usage: null }
  return { status, error, finished_at, ...nothing }
}

/** Ends a queued edit. False, changing nothing, when it is not queued any more. */
export async function endQueued(
  platform: Publishing,
  tx: PlatformTx,
  edit: EditRecord,
  end: Ended,
): Promise<boolean> {
  if (!(await tx.edits.drop(edit.id, end))) return false
  await publishEnd(platform, tx, edit, end)
  return true
}

/** Ends a claimed edit. False, changing nothing, when the claim is lost. */
export async function endClaimed(
  platform: Publishing,
  tx: PlatformTx,
  { job: { claim }, subject: edit }: Leased<EditRecord>,
  end: Ended,
): Promise<boolean> {
  if (!(await tx.edits.finish(edit.id, claim, end))) return false
  await publishEnd(platform, tx, edit, end)
  return true
}

/** In the unit of work of an edit's end: publishes its event, settles its cost, and updates the app's status. */
export async function publishEnd(
  platform: Publishing,
  tx: PlatformTx,
  edit: EditRecord,
  end: Ended,
): Promise<void> {
  const { engine, billing } = platform
  const { account_id, app_id, id: edit_id, kind, initial } = edit
  const { status, finished_at } = end
  const isCompleted = end.status === 'completed'
  const work = { account_id, operation_id: edit_id }
  const charged_micros = isCompleted ? await billing.capture(tx, work) : 0
  if (!isCompleted) await billing.release(tx, work)
  const data = isCompleted
    ? { app_id, edit_id, kind, initial, result_revision: end.result_revision, charged_micros }
    : { app_id, edit_id, error: publicError(end.error), charged_micros }
  const type = isCompleted ? 'edit.completed' : 'edit.failed'
  const event = editEvents.newEvent(engine, account_id, type, data, finished_at, app_id)
  await engine.publishIn(tx, [event])
  await moveTask(platform, tx, edit_id, {
    state: status,
    at: finished_at,
    error: end.error,
    charged_micros,
  })
  if (isCompleted) {
    const isReady = await tx.apps.move(app_id, 'creating', 'ready', finished_at)
    if (!isReady) await tx.apps.move(app_id, 'failed', 'ready', finished_at)
  } else if (initial) await tx.apps.move(app_id, 'creating', 'failed', finished_at)
}

function publicError({ code, class: whose, message }: EditFailure): PublishedFailure {
  return { code, class: whose, message }
}
