import type { Instant } from '../../../lib/time.ts'
import { KeyhookError } from '../../../lib/errors.ts'
import { abortError } from '../../../plugins/edits/contract.ts'
import type { PlatformTx } from '../../../plugins/platform/contract.ts'
import type { EditFailure, EditRecord } from '../../../plugins/platform/contract/edits.ts'
import type { LeasedJob } from '../../../plugins/platform/contract/jobs.ts'
import type { Platform } from '../../platform.ts'
import type { JobHandler, Leased, Warn } from '../../jobs/handler.ts'
import type { Heartbeat } from '../../jobs/heartbeat.ts'
import { moveTask } from '../../jobs/tasks.ts'
import { unlessAborted } from '../../jobs/handler.ts'
import { ConflictError, completeClaimed } from './complete.ts'
import { endClaimed, endWithout } from './end.ts'
import { FAILURES, failureOf } from './failures.ts'
import { isStillAllowed } from '../../authority/admission.ts'
import { holdUntil } from '../../billing/billing.ts'
import { openTools } from './tools.ts'

/** Log message of each stage that reports none. */
const STAGES: Readonly<Record<string, string>> = {
  reading: 'Reading the files.',
  asking: 'Asking the language model.',
  repairing: 'Asking the language model to repair its answer.',
  applying: 'Applying the changes.',
}

type Refusal = 'authority_ended' | 'model_not_allowed' | 'hold_expired'

export function createEditHandler(platform: Platform, warn: Warn): JobHandler<EditRecord, Refusal> {
  return {
    kind: 'edit',
    stages: STAGES,
    async begin(tx, job, now) {
      const subject = await tx.edits.begin(job, now)
      await moveTask(platform, tx, job.id, { state: 'working', at: now })
      return subject && { subject, refusal: await refusalOf(platform, tx, subject, job, now) }
    },
    run: (leased, heartbeat, signal) => perform(platform, leased, heartbeat, signal),
    end: (leased, why) => end(platform, leased, FAILURES[why]),
    async fail(leased, error) {
      const failure = error instanceof ConflictError ? FAILURES.revision_conflict : judge(error)
      if (failure.class !== 'request' && !(error instanceof ConflictError)) {
        warn('an edit failed', leased.subject.id, error)
      }
      await end(platform, leased, failure)
      return undefined
    },
  }
}

/** Why an accepted edit must not run any more; undefined: it may. */
async function refusalOf(
  platform: Platform,
  tx: PlatformTx,
  edit: EditRecord,
  job: LeasedJob,
  now: Instant,
): Promise<Refusal | undefined> {
  // The authority to create apps includes their first edit.
  const enough = edit.initial ? ['edits:write', 'apps:write'] : ['edits:write']
  if (!(await isStillAllowed(platform, tx, edit, enough, now))) return 'authority_ended'
  // The operator may have removed it from the list while the edit waited.
  const isUnknown = edit.model !== null && !platform.models.includes(edit.model)
  if (isUnknown) return 'model_not_allowed'
  const work = { account_id: edit.account_id, operation_id: edit.id }
  const isHeld = await platform.billing.extend(tx, work, holdUntil(job, now))
  return isHeld ? undefined : 'hold_expired'
}

/** @throws an error after which the outcome is unknown */
function judge(error: unknown): EditFailure {
  if (error instanceof KeyhookError && error.code === 'unavailable') throw error
  return failureOf(error)
}

async function perform(
  platform: Platform,
  leased: Leased<EditRecord>,
  heartbeat: Heartbeat,
  signal: AbortSignal,
): Promise<void> {
  const listeners = { signal, progress: heartbeat.report }
  const opened = openTools(platform, leased, listeners)
  const { tools, base } = await unlessAborted(signal, opened, abortError)
  const { id: edit_id, app_id, prompt, model, initial } = leased.subject
  const files = [...base.tree.files.values()].map(({ path, size }) => ({ path, size }))
  const task = { edit_id, app_id, prompt: prompt ?? '', model, initial, files }
  const work = platform.plugins.editor.carryOut(task, tools)
  const outcome = await unlessAborted(signal, work, abortError)
  // Storing the result may take longer than a lease: the heartbeat continues.
  await heartbeat.flush()
  if (signal.aborted) throw abortError(signal)
  await completeClaimed(platform, leased, base, outcome, signal)
}

async function end(
  platform: Platform,
  leased: Leased<EditRecord>,
  failure: EditFailure,
): Promise<void> {
  const status = failure.code === 'canceled' ? 'canceled' : 'failed'
  await platform.store.write(async (tx) => {
    const now = platform.clock.now()
    if (!(await endClaimed(platform, tx, leased, endWithout(status, failure, now)))) return
    await tx.jobs.log(leased.subject.id, [{ at: now, stage: null, message: failure.message }])
  })
}
