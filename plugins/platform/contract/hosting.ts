import type { Instant } from '../../../lib/time.ts'
import type { RecordOf } from '../model/define.ts'
import type { HOSTING_CHARGES } from '../models/ledger.ts'
import type { HeldPrice, Micros, Posted } from './ledger.ts'
import type { Meter } from './observations.ts'

/** What was charged for a meter of an app and day. The price is that of its first charge. */
export type HostingCharge = RecordOf<typeof HOSTING_CHARGES>

/** A meter of an app and day that counted more than was charged. */
export interface HostingDue {
  readonly account_id: string
  readonly app_id: string
  /** Of UTC: `2026-01-31`. */
  readonly day: string
  readonly meter: Meter
}

export interface HostingUse extends HostingDue {
  readonly currency: string
  readonly price_version: string
  readonly price: HeldPrice & { readonly meter: string }
  readonly now: Instant
}

export interface HostingReads {
  /** What is due of a day, release and preview together, the same order each time. */
  due(day: string, meters: readonly Meter[], limit: number): Promise<readonly HostingDue[]>
  charged(appId: string): Promise<readonly HostingCharge[]>
}

export interface HostingWrites extends HostingReads {
  /**
   * Charges what a meter of an app and day counted since it was charged. What the balance does not cover becomes
   * a debt. Undefined when nothing is charged: nothing was counted since, or it costs nothing. Of concurrent
   * callers one charges.
   *
   * @param costOf cost of all that was counted on the day
   */
  charge(
    use: HostingUse,
    costOf: (price: HeldPrice, quantity: number) => Micros,
  ): Promise<Posted | undefined>
}
