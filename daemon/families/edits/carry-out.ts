import type { Instant } from '../../../lib/time.ts'
import { MINUTE, SECOND } from '../../../lib/time.ts'
import { KeyhookError } from '../../../lib/errors.ts'
import { abortError } from '../../../plugins/edits/contract.ts'
import type { EditFailure } from '../../../plugins/platform/contract/edits.ts'
import type { Platform } from '../../platform.ts'
import type { Heartbeat } from '../heartbeat.ts'
import type { Carrier, Stop, Warn, WorkTimes } from '../under-claim.ts'
import { carryUnderClaim, unlessAborted } from '../under-claim.ts'
import type { Held } from './claimed.ts'
import { ClaimLost, ConflictError } from './claimed.ts'
import { completeClaimed } from './complete.ts'
import { endClaimed, endWithout } from './end.ts'
import { FAILURES, failureOf } from './failures.ts'
import { beatForEdit } from './heartbeat.ts'
import { isStillAllowed } from '../../authority/admission.ts'
import { openTools } from './tools.ts'

export const EDIT_TIMES: WorkTimes = {
  lease: MINUTE,
  beat: 15 * SECOND,
  deadline: 15 * MINUTE,
}

/** Claims of one edit before it is given up: what kills its worker kills the next one too. */
const MAX_ATTEMPTS = 3

export function createCarrier(platform: Platform, warn: Warn, times = EDIT_TIMES): Carrier {
  const { store, clock, newId } = platform
  const beating = new Set<Heartbeat>()
  return {
    async takeUp(stopping) {
      const claim = newId()
      const now = clock.now()
      const asked = {
        claim,
        now,
        lease_until: now + times.lease,
        deadline_at: now + times.deadline,
      }
      const begun = await store.write(async (tx) => {
        const edit = await tx.edits.claim(asked)
        if (edit === undefined) return undefined
        // Who may make apps may have them made.
        const enough = edit.initial ? ['edits:write', 'apps:write'] : ['edits:write']
        return { edit, mayGoOn: await isStillAllowed(platform, tx, edit, enough, now) }
      })
      if (begun === undefined) return false
      await carryOut({ platform, ...begun, claim, warn, times, beating, stopping })
      return true
    },
    look() {
      for (const heart of beating) heart.look()
    },
  }
}

interface Claimed extends Held {
  readonly platform: Platform
  /** Whether who asked for it still may, as the claim saw it. */
  readonly mayGoOn: boolean
  readonly warn: Warn
  readonly times: WorkTimes
  readonly beating: Set<Heartbeat>
  readonly stopping: AbortSignal
}

async function carryOut(claimed: Claimed): Promise<void> {
  const { platform, edit, claim, warn, times, beating, stopping } = claimed
  const { clock } = platform
  const { lease, beat: every, deadline } = times
  const hopeless = judgeClaimed(claimed, clock.now())
  if (hopeless !== undefined) return end(claimed, hopeless)
  return carryUnderClaim({
    clock,
    left: edit.deadline_at === null ? deadline : edit.deadline_at - clock.now(),
    stopping,
    beating,
    beat(ended) {
      const failed = (cause: unknown): void =>
        warn('the claim of an edit could not be renewed yet', edit.id, cause)
      return beatForEdit(platform, { id: edit.id, claim }, { every, lease, ended, warn: failed })
    },
    perform: (heart, signal) => perform(claimed, heart, signal),
    conclude: (heart, why, error) => conclude(claimed, heart, why, error),
  })
}

/** What ends an edit before it is begun. */
function judgeClaimed({ platform, edit, mayGoOn }: Claimed, now: Instant): EditFailure | undefined {
  if (edit.cancel_at !== null) return FAILURES.canceled
  if (!mayGoOn) return FAILURES.authority_ended
  // The operator may have removed it from the list while the edit waited.
  if (edit.model !== null && !platform.models.includes(edit.model)) {
    return FAILURES.model_not_allowed
  }
  if (edit.deadline_at !== null && edit.deadline_at <= now) return FAILURES.timed_out
  return edit.attempts > MAX_ATTEMPTS ? FAILURES.worker_lost : undefined
}

async function perform(
  { platform, edit, claim }: Claimed,
  heart: Heartbeat,
  signal: AbortSignal,
): Promise<void> {
  const heard = { signal, progress: heart.tell }
  const opened = openTools(platform, { edit, claim }, heard)
  const { tools, base } = await unlessAborted(signal, opened, abortError)
  const { id: edit_id, app_id, prompt, model, initial } = edit
  const files = [...base.tree.files.values()].map(({ path, size }) => ({ path, size }))
  const task = { edit_id, app_id, prompt: prompt ?? '', model, initial, files }
  const work = platform.plugins.editor.carryOut(task, tools)
  const outcome = await unlessAborted(signal, work, abortError)
  // Keeping what was made may take longer than a lease: it goes on beating.
  await heart.flush()
  if (signal.aborted) throw abortError(signal)
  await completeClaimed(platform, { edit, claim }, base, outcome, signal)
}

/** What becomes of an edit that was not completed. */
async function conclude(
  claimed: Claimed,
  heart: Heartbeat,
  why: Stop | undefined,
  error: unknown,
): Promise<void> {
  if (why === 'lost' || error instanceof ClaimLost) return
  if (why === 'stopping') return heart.release()
  if (why !== undefined) return end(claimed, FAILURES[why])
  if (error instanceof ConflictError) return end(claimed, FAILURES.revision_conflict)
  // It is not known what holds: the lease ends, and the edit is begun anew.
  if (error instanceof KeyhookError && error.code === 'unavailable') throw error
  const failure = failureOf(error)
  if (failure.class !== 'request') claimed.warn('an edit failed', claimed.edit.id, error)
  return end(claimed, failure)
}

async function end({ platform, edit, claim }: Claimed, failure: EditFailure): Promise<void> {
  const status = failure.code === 'canceled' ? 'canceled' : 'failed'
  await platform.store.write(async (tx) => {
    const now = platform.clock.now()
    if (!(await endClaimed(platform, tx, { edit, claim }, endWithout(status, failure, now)))) return
    await tx.edits.log(edit.id, [{ at: now, stage: null, message: failure.message }])
  })
}
