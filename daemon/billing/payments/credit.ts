import type { Micros } from '../../../plugins/billing/contract.ts'
import type { Instant } from '../../../lib/time.ts'
import { publishCredited } from '../events.ts'
import type { Applying } from './applying.ts'
import { auditProcessor } from './applying.ts'

interface PaidCredit {
  readonly account_id: string
  readonly kind: 'topup' | 'monthly_credit'
  /** What brought it; a second credit of the same origin changes nothing. */
  readonly origin_id: string
  readonly amount: Micros
  readonly from_processor: Micros
  readonly expires_at: Instant | null
}

/** Adds credit that was paid for, and returns its id; undefined where it was added before. */
export async function addPaidCredit(
  applying: Applying,
  credit: PaidCredit,
): Promise<string | undefined> {
  const { platform, tx, processor, currency, now } = applying
  const { kind, account_id, expires_at } = credit
  const posted = await tx.ledger.credit({
    ...credit,
    currency,
    note: null,
    actor: { type: 'processor', id: processor },
    now,
  })
  if (posted === undefined) return undefined
  await publishCredited(platform.engine, tx, posted, { kind, currency, expires_at, now })
  await auditProcessor(applying, {
    account_id,
    action: 'billing.credited',
    target_type: 'credit',
    target_id: posted.transaction_id,
  })
  return posted.transaction_id
}
