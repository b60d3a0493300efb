import type { Instant, Millis } from '../../lib/time.ts'
import { HOUR, MINUTE } from '../../lib/time.ts'
import type { LowBalance } from '../../plugins/platform/contract/ledger.ts'
import type { PlatformTx } from '../../plugins/platform/contract.ts'
import { ClaimLost } from '../jobs/handler.ts'
import type { JobHandler, Warn } from '../jobs/handler.ts'
import type { Platform } from '../platform.ts'
import { publishLow } from './events.ts'
import { sweepHosting } from './hosting.ts'
import type { PaymentCounts } from './payments/counts.ts'
import type { PaymentSweeps } from './payments/sweep.ts'
import { sweepPayments } from './payments/sweep.ts'
import { keepPrices } from './prices.ts'

/** The one sweep of an installation. */
const SWEEP = 'billing_sweep'

const EVERY: Millis = MINUTE

/** Days end seldom, and looking for what was counted in one reads many rows. */
const HOSTING_EVERY: Millis = HOUR

/** Accounts or holds of one unit, so that other units need not wait long. */
const AT_ONCE = 100

type Sweeping = Pick<Platform, 'store' | 'clock' | 'engine' | 'billing'>

/** Enqueues the sweep, unless there is one. */
export async function enqueueSweep({
  store,
  clock,
}: Pick<Platform, 'store' | 'clock'>): Promise<void> {
  const run_at = clock.now()
  await store.write((tx) =>
    tx.jobs.enqueue({
      id: SWEEP,
      kind: 'billing_sweep',
      app_id: '',
      account_id: '',
      queue: null,
      run_at,
    }),
  )
}

/** Ends holds whose work was lost, and posts credit that has expired, every minute; hosting is charged hourly. */
export function createSweepHandler(
  platform: Platform,
  warn: Warn,
  counts: Pick<PaymentCounts, 'swept'>,
): JobHandler<null> {
  let hostingAt: Instant | undefined
  const sweeps: PaymentSweeps = {}
  return {
    kind: 'billing_sweep',
    begin: async () => ({ subject: null }),
    async run({ job: { id, claim } }, _, signal) {
      await sweep(platform, signal)
      const { store, clock } = platform
      // A sweep ahead of the clock was noted by one that was wrong.
      const now = clock.now()
      if (hostingAt === undefined || hostingAt + HOSTING_EVERY <= now || hostingAt > now) {
        await sweepHosting(platform, signal)
        hostingAt = now
      }
      // Last: the processor may be down.
      await sweepPayments(platform, signal, counts, sweeps)
      const isHeld = await store.write((tx) => tx.jobs.reschedule(id, claim, clock.now() + EVERY))
      if (!isHeld) throw new ClaimLost()
    },
    // It has neither a deadline nor a limit of attempts, and nobody cancels it.
    end: () => Promise.reject(new Error('the sweep of billing does not end')),
    async fail({ job }, cause) {
      warn('the sweep of billing failed and is tried again', job.id, cause)
      return EVERY
    },
  }
}

/** Posts everything that is due. */
export async function sweep(platform: Sweeping, signal?: AbortSignal): Promise<void> {
  const { store, clock, billing } = platform
  await store.write((tx) => keepPrices(tx, billing.prices, clock.now()))
  await untilDone(platform, signal, async (tx, now) => {
    const ended = await tx.ledger.expireHolds(now, AT_ONCE)
    return ended.map(({ hold, low }) => ({ account_id: hold.account_id, low }))
  })
  await untilDone(platform, signal, (tx, now) => tx.ledger.expireLots(now, AT_ONCE))
}

/** What one step of the sweep posted for an account. */
interface Step {
  readonly account_id: string
  readonly low: LowBalance | null
}

async function untilDone(
  { store, clock, engine, billing }: Sweeping,
  signal: AbortSignal | undefined,
  step: (tx: PlatformTx, now: Instant) => Promise<readonly Step[]>,
): Promise<void> {
  for (let isMore = true; isMore && signal?.aborted !== true;) {
    isMore = await store.write(async (tx) => {
      const now = clock.now()
      const posted = await step(tx, now)
      for (const { account_id, low } of posted) {
        await publishLow(engine, tx, account_id, billing.currency ?? '', low, now)
      }
      return posted.length > 0
    })
  }
}
