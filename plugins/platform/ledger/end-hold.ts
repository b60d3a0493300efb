import type { Instant } from '../../../lib/time.ts'
import type { Charged, HoldEnd, HoldRecord, LedgerWork } from '../contract/ledger.ts'
import type { ReadScope } from '../sql/scope.ts'
import { requireInteger } from './amounts.ts'
import type { EndingHold } from './end.ts'
import { endHolds } from './end.ts'
import { readHold } from './hold.ts'
import { post } from './post.ts'
import { lockWallet } from './wallet.ts'

type Ending = Pick<EndingHold, 'state' | 'captured' | 'used'>

const RELEASED: Ending = { state: 'released', captured: null, used: 0 }

/** Captures what is asked of the hold of work and returns the rest; without `chargeOf` it returns all. */
export async function endHold(
  sql: ReadScope,
  work: LedgerWork,
  now: Instant,
  chargeOf?: (hold: HoldRecord) => Charged,
): Promise<HoldEnd | undefined> {
  const journal = await lockWallet(sql, work.account_id, now)
  if (journal === undefined) return undefined
  const hold = await readHold(sql.query, sql.t, work)
  if (hold === undefined) return undefined
  if (hold.state !== 'open') {
    return { hold, ended: false, captured: hold.captured ?? 0, low: await post(sql, journal) }
  }
  const { used, ...ending } = chargeOf === undefined ? RELEASED : captureOf(hold, chargeOf(hold))
  const ended = { ...hold, ...ending, ended_at: journal.at }
  const low = await endHolds(sql, journal, [{ ...ended, used }])
  return { hold: ended, ended: true, captured: ended.captured ?? 0, low }
}

function captureOf(hold: HoldRecord, { amount, quantity }: Charged): Ending {
  requireInteger(amount, 0, 'the amount of a capture')
  requireInteger(quantity, 0, 'the quantity of a capture')
  return { state: 'captured', captured: Math.min(amount, hold.amount), used: quantity }
}
