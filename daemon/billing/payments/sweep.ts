import type { Millis } from '../../../lib/time.ts'
import { DAY, HOUR } from '../../../lib/time.ts'
import type { ObjectRef } from '../../../plugins/billing/contract.ts'
import type { PaymentReads } from '../../../plugins/platform/contract/payments.ts'
import type { Platform } from '../../platform.ts'
import type { Processing } from '../billing.ts'
import { GRACE } from '../plan.ts'
import type { PaymentCounts } from './counts.ts'
import { enqueueObject } from './enqueue.ts'
import { settlePlan } from './subscription.ts'

const EVERY: Millis = HOUR
/** Overlap with the sweep before: the clocks of the processor and of this machine differ. */
const OVERLAP: Millis = HOUR
const FAR_EVERY: Millis = DAY
const FAR: Millis = 35 * DAY
/** Accounts of one unit, so that other units need not wait long. */
const AT_ONCE = 100

type Sweeping = Pick<Platform, 'store' | 'clock' | 'engine' | 'billing' | 'newId' | 'workAvailable'>

/** Ends plans that nothing pays for any more, and every hour finds what never reached the intake. */
export async function sweepPayments(
  platform: Sweeping,
  signal: AbortSignal,
  { swept: counts }: Pick<PaymentCounts, 'swept'>,
): Promise<void> {
  const { processing } = platform.billing
  if (processing === undefined) return
  await endPlans(platform, processing, signal)
  const { store, clock } = platform
  const last = await store.payments.sweep(processing.name)
  const now = clock.now()
  // A sweep ahead of the clock was noted by one that was wrong.
  const isDue = last === undefined || last.swept_at + EVERY <= now || last.swept_at > now
  if (!isDue) return
  try {
    counts.found += await findChanged(platform, processing, signal)
  } catch (cause) {
    if (!signal.aborted) counts.failed += 1
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

/**
 * Has every object fetched that changed since the last sweep, and once a day those of a month; at once where a
 * clock that was ahead noted the last sweep, which says nothing of what happened since.
 */
export async function findChanged(
  platform: Sweeping,
  { name, processor }: Processing,
  signal: AbortSignal,
): Promise<number> {
  const { store, clock, workAvailable } = platform
  const began = clock.now()
  const last = await store.payments.sweep(name)
  const isWrong = last !== undefined && Math.max(last.swept_at, last.far_at) > began
  const isFar = last === undefined || isWrong || last.far_at + FAR_EVERY <= began
  const since = isFar ? began - FAR : last.swept_at - OVERLAP
  let cursor: string | null = null
  let found = 0
  do {
    const page = await processor.changedSince(since, cursor, signal)
    found += await enqueueChanged(platform, name, page.refs)
    cursor = page.cursor
  } while (cursor !== null && !signal.aborted)
  signal.throwIfAborted()
  const far_at = isFar ? began : last.far_at
  await store.write((tx) => tx.payments.putSweep({ processor: name, swept_at: began, far_at }))
  workAvailable.jobs('billing_event')
  return found
}

async function enqueueChanged(
  platform: Sweeping,
  processor: string,
  refs: readonly ObjectRef[],
): Promise<number> {
  if (refs.length === 0) return 0
  return platform.store.write(async (tx) => {
    const now = platform.clock.now()
    const occasion = { processor, source: 'sweep', type: 'sweep', event_id: null, now } as const
    let found = 0
    for (const ref of refs) {
      if (await isSettled(tx.payments, processor, ref)) continue
      if (await tx.payments.isAwaited({ processor, ...ref })) continue
      await enqueueObject(platform, tx, ref, occasion)
      found += 1
    }
    return found
  })
}

type IsSettled = (payments: PaymentReads, processor: string, id: string) => Promise<boolean>

/** Whether an object is as it will stay. Refunds and disputes change a charge at any time. */
const SETTLED: Readonly<Record<ObjectRef['kind'], IsSettled>> = {
  async checkout(payments, processor, id) {
    const checkout = await payments.checkoutOf(processor, id)
    if (checkout?.status === 'expired') return true
    return checkout?.status === 'complete' && checkout.settled_at !== null
  },
  async invoice(payments, processor, id) {
    const invoice = await payments.invoiceOf(processor, id)
    return invoice?.status === 'paid' || invoice?.status === 'void'
  },
  async subscription(payments, processor, id) {
    return (await payments.subscription(processor, id))?.status === 'canceled'
  },
  charge: async () => false,
}

function isSettled(
  payments: PaymentReads,
  processor: string,
  { kind, id }: ObjectRef,
): Promise<boolean> {
  return SETTLED[kind](payments, processor, id)
}
