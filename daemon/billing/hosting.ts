import type { Instant, Millis } from '../../lib/time.ts'
import { DAY, HOUR, toIso } from '../../lib/time.ts'
import type { HostingDue } from '../../plugins/platform/contract/hosting.ts'
import type { PriceVersion as KeptVersion } from '../../plugins/platform/contract/ledger.ts'
import type { Meter } from '../../plugins/platform/contract/observations.ts'
import { METERS } from '../../plugins/platform/contract/observations.ts'
import type { Platform } from '../platform.ts'
import { publishLow } from './events.ts'
import type { PriceVersion, Prices } from './prices.ts'
import { HOSTING, costOf } from './prices.ts'

/** What is counted reaches the store some seconds later. */
const SETTLED: Millis = HOUR
/** What was counted while the store could not be reached is added later, and charged then. */
const DAYS_BACK = 7
/** Meters of apps that are read at once. */
const AT_ONCE = 100

type Sweeping = Pick<Platform, 'store' | 'clock' | 'engine' | 'billing'>

/**
 * Charges what apps served on days that have ended, where the prices say so: each app, day and meter once, and
 * what was counted later in addition. It takes what the account has; the rest is a debt. Nothing is hidden.
 */
export async function sweepHosting(platform: Sweeping, signal?: AbortSignal): Promise<void> {
  const { store, clock, billing } = platform
  if (!billing.prices.versions.some((version) => pricedMeters(version).length > 0)) return
  const kept = await store.ledger.priceVersions()
  for (const start of endedDays(clock.now())) {
    const version = versionOf(billing.prices, kept, start)
    if (version === undefined) continue
    await chargeDay(platform, version, dayOf(start), signal)
  }
}

/** The first instants of the days that are charged, oldest first. */
function endedDays(now: Instant): readonly Instant[] {
  const today = now - SETTLED - ((now - SETTLED) % DAY)
  return Array.from({ length: DAYS_BACK }, (_, index) => today - (DAYS_BACK - index) * DAY)
}

/**
 * The prices of a day: those that were in effect when it began, and were known then. So no day is charged that
 * passed before its price was declared, or before anything was metered.
 */
function versionOf(
  { versions }: Prices,
  kept: readonly KeptVersion[],
  start: Instant,
): PriceVersion | undefined {
  const seen = new Map(kept.map(({ version, first_seen }) => [version, first_seen]))
  return versions.findLast(
    ({ version, effective_at }) =>
      effective_at <= start && (seen.get(version) ?? Infinity) <= start + SETTLED,
  )
}

function pricedMeters({ operations }: PriceVersion): readonly Meter[] {
  return METERS.filter((meter) => {
    const price = operations[HOSTING + meter]
    return price !== undefined && (price.price_micros > 0 || price.minimum_micros > 0)
  })
}

async function chargeDay(
  platform: Sweeping,
  version: PriceVersion,
  day: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const meters = pricedMeters(version)
  if (meters.length === 0) return
  for (let isMore = true; isMore && signal?.aborted !== true;) {
    const due = await platform.store.hosting.due(day, meters, AT_ONCE)
    // One unit for each account: it locks one wallet.
    for (const accountId of new Set(due.map(({ account_id }) => account_id))) {
      await chargeAccount(
        platform,
        version,
        due.filter(({ account_id }) => account_id === accountId),
      )
    }
    isMore = due.length === AT_ONCE
  }
}

async function chargeAccount(
  { store, clock, engine, billing }: Sweeping,
  { version, operations }: PriceVersion,
  due: readonly HostingDue[],
): Promise<void> {
  const currency = billing.currency ?? ''
  await store.write(async (tx) => {
    const now = clock.now()
    for (const one of due) {
      const priced = operations[HOSTING + one.meter]
      if (priced === undefined) continue
      const use = { ...one, currency, price_version: version, price: priced, now }
      const posted = await tx.hosting.charge(use, costOf)
      await publishLow(engine, tx, one.account_id, currency, posted?.low ?? null, now)
    }
  })
}

function dayOf(at: Instant): string {
  return toIso(at).slice(0, 10)
}
