import type { Instant, Millis } from '../../../lib/time.ts'
import { DAY, HOUR } from '../../../lib/time.ts'
import type { ChangedObject, ObjectRef } from '../../../plugins/billing/contract.ts'
import { ProcessorError } from '../../../plugins/billing/contract.ts'
import type { PlatformTx } from '../../../plugins/platform/contract.ts'
import type {
  KnownObject,
  PaymentReads,
  ProcessorSweep,
} from '../../../plugins/platform/contract/payments.ts'
import type { Platform } from '../../platform.ts'
import type { Processing } from '../billing.ts'
import { enqueueObject } from './enqueue.ts'

/** Overlap with the sweep before: the clocks of the processor and of this machine differ. */
const OVERLAP: Millis = HOUR
const FAR_EVERY: Millis = DAY
const FAR: Millis = 35 * DAY
/** Processors list events of about a month: after a longer gap, objects that are known are fetched as well. */
const LISTED: Millis = 25 * DAY
/** Known objects that are read at once. */
const AT_ONCE = 100

type Finding = Pick<Platform, 'store' | 'clock' | 'newId' | 'workAvailable'>

/** A sweep that has begun: after a failure it goes on with the page that failed. */
export interface OpenSweep {
  readonly began: Instant
  readonly since: Instant
  readonly last: ProcessorSweep | undefined
  cursor: string | null
}

/** Sweeps of this process. */
export interface SweepProgress {
  open?: OpenSweep | undefined
}

/**
 * Has every object fetched that changed since the last sweep, and once a day those of a month; at once where a
 * clock that was ahead noted the last sweep, which says nothing of what happened since.
 */
export async function findChanged(
  platform: Finding,
  { name, processor }: Processing,
  signal: AbortSignal,
  progress: SweepProgress = {},
): Promise<number> {
  const { store, clock, workAvailable } = platform
  const last = await store.payments.sweep(name)
  const open = continued(progress.open, last, clock.now()) ?? begin(last, clock.now())
  progress.open = open
  let found = 0
  do {
    const page = await processor
      .changedSince(open.since, open.cursor, signal)
      .catch((cause: unknown) => {
        // Where the object is gone at which the page began, only a new sweep helps.
        if (cause instanceof ProcessorError && !cause.retryable) progress.open = undefined
        throw cause
      })
    found += await enqueueChanged(platform, name, page.refs)
    open.cursor = page.cursor
  } while (open.cursor !== null && !signal.aborted)
  signal.throwIfAborted()
  found += await enqueueKnown(platform, name, open)
  const { began } = open
  const far_at = isFar(open) ? began : (last?.far_at ?? began)
  await store.write((tx) => tx.payments.putSweep({ processor: name, swept_at: began, far_at }))
  progress.open = undefined
  workAvailable.jobs('billing_event')
  return found
}

/** An open sweep, unless another process has swept since, or the clock was set back. */
function continued(
  open: OpenSweep | undefined,
  last: ProcessorSweep | undefined,
  now: Instant,
): OpenSweep | undefined {
  if (open === undefined || open.began > now) return undefined
  return last === undefined || last.swept_at < open.began ? open : undefined
}

function begin(last: ProcessorSweep | undefined, began: Instant): OpenSweep {
  const near = last === undefined ? began : last.swept_at - OVERLAP
  const isWrong = last !== undefined && Math.max(last.swept_at, last.far_at) > began
  const isNear = last !== undefined && !isWrong && last.far_at + FAR_EVERY > began
  return { began, since: isNear ? near : Math.min(near, began - FAR), last, cursor: null }
}

const isFar = ({ began, since }: OpenSweep): boolean => since <= began - FAR

async function enqueueChanged(
  platform: Finding,
  processor: string,
  refs: readonly ChangedObject[],
): Promise<number> {
  if (refs.length === 0) return 0
  return platform.store.write(async (tx) => {
    const customers = new Map<string, Promise<boolean>>()
    const wanted: ObjectRef[] = []
    for (const { customer_id, ...ref } of refs) {
      if (!(await isOurs(tx.payments, processor, customer_id, customers))) continue
      if (!(await SETTLED[ref.kind](tx.payments, processor, ref.id))) wanted.push(ref)
    }
    return enqueueAll(platform, tx, processor, wanted)
  })
}

/** Has what is known fetched again that may have changed although no list tells it. */
async function enqueueKnown(
  platform: Finding,
  processor: string,
  { began, last }: OpenSweep,
): Promise<number> {
  const { payments } = platform.store
  let found = 0
  const enqueuePage = async (refs: readonly ObjectRef[]): Promise<boolean> => {
    found += await platform.store.write((tx) => enqueueAll(platform, tx, processor, refs))
    return refs.length === AT_ONCE
  }
  for (let isMore = true, after = ''; isMore;) {
    const ids = await payments.lapsed(processor, began, after, AT_ONCE)
    after = ids.at(-1) ?? after
    isMore = await enqueuePage(ids.map((id) => ({ kind: 'subscription', id })))
  }
  if (last === undefined || last.swept_at + LISTED > began) return found
  for (let isMore = true, after: KnownObject | null = null; isMore;) {
    const refs: readonly KnownObject[] = await payments.changeable(processor, after, AT_ONCE)
    after = refs.at(-1) ?? after
    isMore = await enqueuePage(refs)
  }
  return found
}

async function enqueueAll(
  platform: Finding,
  tx: PlatformTx,
  processor: string,
  refs: readonly ObjectRef[],
): Promise<number> {
  const now = platform.clock.now()
  const occasion = { processor, source: 'sweep', type: 'sweep', event_id: null, now } as const
  let found = 0
  for (const ref of refs) {
    if (await tx.payments.isAwaited({ processor, ...ref })) continue
    await enqueueObject(platform, tx, ref, occasion)
    found += 1
  }
  return found
}

/** Others may sell with the same account of the processor. A list that does not tell the customer may be ours. */
function isOurs(
  payments: PaymentReads,
  processor: string,
  customerId: string | null | undefined,
  known: Map<string, Promise<boolean>>,
): Promise<boolean> {
  if (customerId === undefined || customerId === null) {
    return Promise.resolve(customerId === undefined)
  }
  const found =
    known.get(customerId) ??
    payments.customerOf(processor, customerId).then((customer) => customer !== undefined)
  known.set(customerId, found)
  return found
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
    if (invoice?.status === 'void') return true
    // Which prices are those of the plan may be corrected later.
    return invoice?.status === 'paid' && invoice.credit_transaction !== null
  },
  async subscription(payments, processor, id) {
    return (await payments.subscription(processor, id))?.status === 'canceled'
  },
  /** One that brought no credit has nothing to take back; its credit has it fetched. */
  async charge(payments, processor, id) {
    return (await payments.charge(processor, id)) === undefined
  },
}
