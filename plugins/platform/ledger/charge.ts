import type { Posted, UsageCharge } from '../contract/ledger.ts'
import type { ReadScope } from '../sql/scope.ts'
import { dayOf, requireInteger } from './amounts.ts'
import type { Side } from './journal.ts'
import { availableOf } from './journal.ts'
import { SYSTEM, divide, readSpendableLots } from './lots.ts'
import { isPosted, post, postedOf } from './post.ts'
import { recordUsage } from './usage.ts'
import { openWallet } from './wallet.ts'

export async function charge(sql: ReadScope, given: UsageCharge): Promise<Posted | undefined> {
  const { account_id, currency, key: own, amount, now, ...work } = given
  requireInteger(amount, 1, 'the amount of a charge')
  requireInteger(work.quantity, 0, 'the quantity of a charge')
  const key = `usage:${own}`
  const journal = await openWallet(sql, account_id, currency, now)
  if (await isPosted(sql, key)) return undefined
  const paid = Math.min(amount, availableOf(journal.wallet))
  const lots = await readSpendableLots(sql, journal, paid)
  const sides: readonly Side[] = [
    ...divide(lots, paid).flatMap((piece) => [
      { ledger: piece.lot.source, lot: piece.lot, amount: -piece.amount },
      { ledger: 'revenue' as const, lot: piece.lot, amount: piece.amount },
    ]),
    { ledger: 'debt', amount: paid - amount },
    { ledger: 'revenue', amount: amount - paid },
  ]
  const posted = journal.add({ kind: 'usage', key, actor: SYSTEM, ...work }, sides)
  await recordUsage(sql, dayOf(journal.at), posted, amount)
  return postedOf(journal, posted, amount, await post(sql, journal))
}
