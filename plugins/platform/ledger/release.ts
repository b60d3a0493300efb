import type { Instant } from '../../../lib/time.ts'
import type { HoldEnd, LedgerWork } from '../contract/ledger.ts'
import type { ReadScope } from '../sql/scope.ts'
import { endHolds, endedBefore } from './end.ts'
import { readHold } from './hold.ts'
import { post } from './post.ts'
import { lockWallet } from './wallet.ts'

export async function release(
  sql: ReadScope,
  work: LedgerWork,
  now: Instant,
): Promise<HoldEnd | undefined> {
  const journal = await lockWallet(sql, work.account_id, now)
  if (journal === undefined) return undefined
  const hold = await readHold(sql.query, sql.t, work)
  if (hold === undefined) return undefined
  if (hold.state !== 'open') return endedBefore(hold, await post(sql, journal))
  const ended = { ...hold, state: 'released' as const, ended_at: journal.at }
  const low = await endHolds(sql, journal, [{ ...ended, used: 0 }])
  return { hold: ended, ended: true, captured: 0, low }
}
