import type { ChargeFact } from '../../../plugins/billing/contract.ts'
import type { ChargeItem } from '../../../plugins/platform/contract/payments.ts'
import { publishLow } from '../events.ts'
import type { Applying, Outcome } from './applying.ts'
import { DONE, IGNORED, auditProcessor, failed } from './applying.ts'

/**
 * Takes back what refunds and disputes took of a payment, or returns what they no longer take. A charge that
 * brought no credit yet changes nothing: its credit has it fetched again.
 */
export async function applyCharge(applying: Applying, fact: ChargeFact): Promise<Outcome> {
  const { platform, tx, processor, currency, now } = applying
  const charge = await tx.payments.charge(processor, fact.id)
  if (charge === undefined) return IGNORED
  if (fact.currency !== currency) return failed(`charge ${fact.id} is in ${fact.currency}`)
  await tx.payments.putChargeItems(itemsOf(processor, fact))
  const items = await tx.payments.chargeItems(processor, fact.id)
  const { account_id, credit_id, paid, total } = charge
  const state = { account_id, processor, charge_id: fact.id, credit_id, paid, total, items }
  const posted = await tx.ledger.reconcile(state, now)
  if (posted === undefined) return failed(`charge ${fact.id} has no credit ${credit_id}`)
  for (const { transaction_id, low } of posted) {
    await publishLow(platform.engine, tx, account_id, currency, low, now)
    const transaction = await tx.ledger.transaction(account_id, transaction_id)
    const isBack = transaction?.kind === 'reinstatement'
    await auditProcessor(applying, {
      account_id,
      action: isBack ? 'billing.reinstated' : 'billing.clawed_back',
      target_type: 'credit',
      target_id: credit_id,
    })
  }
  return DONE
}

function itemsOf(
  processor: string,
  { id: charge_id, refunds, disputes }: ChargeFact,
): readonly ChargeItem[] {
  const of = { processor, charge_id }
  return [
    ...refunds.map(({ id, amount_micros: amount, succeeded: active }) => ({
      ...of,
      id,
      kind: 'refund' as const,
      amount,
      active,
    })),
    ...disputes.map(({ id, amount_micros: amount, withdrawn: active }) => ({
      ...of,
      id,
      kind: 'dispute' as const,
      amount,
      active,
    })),
  ]
}
