import type { Instant } from '../../../lib/time.ts'
import type { Charged, HoldEnd, HoldRecord, LedgerWork } from '../contract/ledger.ts'
import type { ReadScope } from '../sql/scope.ts'
import { requireInteger } from './amounts.ts'
import { endHolds, endedBefore } from './end.ts'
import { readHold } from './hold.ts'
import { post } from './post.ts'
import { lockWallet } from './wallet.ts'

export async function capture(
  sql: ReadScope,
  work: LedgerWork,
  chargeOf: (hold: HoldRecord) => Charged,
  now: Instant,
): Promise<HoldEnd | undefined> {
  const journal = await lockWallet(sql, work.account_id, now)
  if (journal === undefined) return undefined
  const hold = await readHold(sql.query, sql.t, work)
  if (hold === undefined) return undefined
  if (hold.state !== 'open') return endedBefore(hold, await post(sql, journal))
  const { amount, quantity } = chargeOf(hold)
  requireInteger(amount, 0, 'the amount of a capture')
  requireInteger(quantity, 0, 'the quantity of a capture')
  const captured = Math.min(amount, hold.amount)
  const ended = { ...hold, state: 'captured' as const, captured, ended_at: journal.at }
  const low = await endHolds(sql, journal, [{ ...ended, used: quantity }])
  return { hold: ended, ended: true, captured, low }
}
