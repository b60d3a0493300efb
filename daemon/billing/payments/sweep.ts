import type { Instant, Millis } from '../../../lib/time.ts'
import { HOUR, MINUTE } from '../../../lib/time.ts'
import type { Platform } from '../../platform.ts'
import type { Processing } from '../billing.ts'
import { GRACE } from '../plan.ts'
import type { PaymentCounts } from './counts.ts'
import type { SweepProgress } from './find-changed.ts'
import { findChanged } from './find-changed.ts'
import { settlePlan } from './subscription.ts'

const EVERY: Millis = HOUR
const FIRST_RETRY: Millis = MINUTE
/** Accounts of one unit, so that other units need not wait long. */
const AT_ONCE = 100

type Sweeping = Pick<Platform, 'store' | 'clock' | 'engine' | 'billing' | 'newId' | 'workAvailable'>

/** Sweeps of this process: after failures they wait longer, up to `EVERY`. */
export interface PaymentSweeps extends SweepProgress {
  failures?: number
  retryAt?: Instant
}

/** Ends plans that nothing pays for any more, and every hour finds what never reached the intake. */
export async function sweepPayments(
  platform: Sweeping,
  signal: AbortSignal,
  { swept: counts }: Pick<PaymentCounts, 'swept'>,
  sweeps: PaymentSweeps = {},
): Promise<void> {
  const { processing } = platform.billing
  if (processing === undefined) return
  if (platform.billing.sellsPlan) await endPlans(platform, processing, signal)
  const { store, clock } = platform
  const last = await store.payments.sweep(processing.name)
  const now = clock.now()
  // A sweep ahead of the clock was noted by one that was wrong.
  const isDue = last === undefined || last.swept_at + EVERY <= now || last.swept_at > now
  const { failures = 0, retryAt = now } = sweeps
  if (!isDue || (retryAt > now && retryAt <= now + EVERY)) return
  try {
    counts.found += await findChanged(platform, processing, signal, sweeps)
    sweeps.failures = 0
  } catch (cause) {
    if (signal.aborted) throw cause
    counts.failed += 1
    sweeps.failures = failures + 1
    sweeps.retryAt = now + Math.min(EVERY, FIRST_RETRY * 2 ** failures)
    throw cause
  }
}

/** At the end of the grace or of a canceled period nothing is told: time alone ends the plan. */
async function endPlans(
  platform: Sweeping,
  { name }: Processing,
  signal: AbortSignal,
): Promise<void> {
  const { store, clock, billing } = platform
  const currency = billing.currency ?? ''
  for (let isMore = true; isMore && !signal.aborted;) {
    isMore = await store.write(async (tx) => {
      const now = clock.now()
      const ended = await tx.payments.endedPlans(now, GRACE, AT_ONCE)
      const event = { id: 'billing_sweep' }
      const applying = { platform, tx, processor: name, currency, event, now }
      for (const id of ended) await settlePlan(applying, id, undefined)
      return ended.length === AT_ONCE
    })
  }
}
