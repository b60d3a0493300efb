import type { Instant } from '../../../lib/time.ts'
import { toIso } from '../../../lib/time.ts'
import type { Micros } from '../contract/ledger.ts'

/** @throws TypeError for anything but an integer from `least` to the largest exact one */
export function requireInteger(value: number, least: number, what: string): void {
  if (!Number.isSafeInteger(value) || value < least) {
    throw new TypeError(`${what} must be an integer from ${least}, not ${value}`)
  }
}

/** `amount` × `part` ÷ `whole`, rounded down. */
export function shareOf(amount: Micros, part: Micros, whole: Micros): Micros {
  return Number((BigInt(amount) * BigInt(part)) / BigInt(whole))
}

/** The day of UTC: `2026-01-31`. */
export const dayOf = (at: Instant): string => toIso(at).slice(0, 10)

/** The month of UTC: 202601. */
export const monthOf = (at: Instant): number => Number(toIso(at).slice(0, 7).replace('-', ''))

/** When the month after that of an instant begins. */
export function nextMonth(at: Instant): Instant {
  const month = monthOf(at)
  return Date.UTC(Math.floor(month / 100), month % 100, 1)
}
