import type { Instant } from '../../../lib/time.ts'
import type { LedgerActor, Posted } from '../contract/ledger.ts'
import { recordsOf } from '../model/records.ts'
import { LEDGER_TRANSACTIONS } from '../models/ledger.ts'
import type { ReadScope } from '../sql/scope.ts'
import { readLot } from './lots.ts'
import { isPosted, post, postedOf } from './post.ts'
import { lockWallet } from './wallet.ts'

export async function revoke(
  sql: ReadScope,
  accountId: string,
  creditId: string,
  actor: LedgerActor,
  now: Instant,
): Promise<Posted | 'revoked' | undefined> {
  const journal = await lockWallet(sql, accountId, now)
  if (journal === undefined) return undefined
  const grant = await recordsOf(sql.query, sql.t, LEDGER_TRANSACTIONS).get({
    id: creditId,
    account_id: accountId,
    kind: 'grant',
  })
  if (grant === undefined) return undefined
  const read = await readLot(sql, accountId, creditId)
  if (read === undefined) return undefined
  const key = `revoke:${creditId}`
  if (await isPosted(sql, key)) return 'revoked'
  const lot = journal.lotOf(read)
  const amount = lot.remaining
  // What is held of it expires when it is released.
  lot.expires_at = Math.min(lot.expires_at, now)
  const about = { actor, reverses: creditId, ref_type: 'grant', ref_id: grant.ref_id }
  const posted = journal.add({ kind: 'revoke', key, ...about }, [
    { ledger: lot.source, lot, amount: -amount },
    { ledger: 'issued', lot, amount },
  ])
  return postedOf(journal, posted, amount, await post(sql, journal))
}
