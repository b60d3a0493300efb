import type { Credit, Posted } from '../contract/ledger.ts'
import type { ReadScope } from '../sql/scope.ts'
import { requireInteger } from './amounts.ts'
import type { CreditKind, LotSource } from './kinds.ts'
import { NEVER } from './kinds.ts'
import { settleLot } from './lots.ts'
import { isPosted, post, postedOf } from './post.ts'
import { openWallet } from './wallet.ts'

/** What a credit becomes, and what its origin is. */
const CREDITS: Readonly<
  Record<CreditKind, { readonly source: LotSource; readonly origin: string }>
> = {
  topup: { source: 'paid', origin: 'checkout' },
  monthly_credit: { source: 'granted', origin: 'invoice' },
  grant: { source: 'granted', origin: 'grant' },
}

export async function credit(sql: ReadScope, given: Credit): Promise<Posted | undefined> {
  const { account_id, currency, kind, origin_id, amount, from_processor, note, actor, now } = given
  requireInteger(amount, 1, 'the amount of a credit')
  requireInteger(from_processor, 0, 'what the processor brought')
  if (from_processor > amount) throw new TypeError('the processor brought more than the credit')
  const key = `${kind}:${origin_id}`
  const journal = await openWallet(sql, account_id, currency, now)
  if (await isPosted(sql, key)) return undefined
  const { source, origin } = CREDITS[kind]
  const expires_at = given.expires_at ?? NEVER
  const lot = journal.newLot({ source, from_processor, expires_at })
  const posted = journal.add({ kind, key, actor, note, ref_type: origin, ref_id: origin_id }, [
    { ledger: 'processor', lot, amount: -from_processor },
    { ledger: 'issued', lot, amount: from_processor - amount },
    { ledger: source, lot, amount },
  ])
  settleLot(journal, lot)
  return postedOf(journal, posted, amount, await post(sql, journal))
}
