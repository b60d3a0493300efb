import type { InvoiceFact } from '../../../plugins/billing/contract.ts'
import { creditExpiry } from '../prices.ts'
import type { Applying, Outcome } from './applying.ts'
import { DONE, IGNORED, accountOfCustomer, failed, followUp } from './applying.ts'
import { addPaidCredit } from './credit.ts'

/** Keeps an invoice, and grants the credit of its month once it is paid. */
export async function applyInvoice(applying: Applying, fact: InvoiceFact): Promise<Outcome> {
  const { tx, processor, currency, now } = applying
  const account_id = await accountOfCustomer(applying, fact.customer_id)
  if (account_id === undefined) return IGNORED
  if (fact.currency !== currency) return failed(`invoice ${fact.id} is in ${fact.currency}`)
  const known = await tx.payments.invoiceOf(processor, fact.id)
  const granted = bringsCredit(fact) ? await grantMonth(applying, account_id, fact) : undefined
  await tx.payments.putInvoice({
    processor,
    id: fact.id,
    account_id,
    number: fact.number,
    status: fact.status,
    amount_due: fact.amount_due_micros,
    amount_paid: fact.amount_paid_micros,
    currency,
    period_start: fact.period?.start ?? null,
    period_end: fact.period?.end ?? null,
    hosted_url: fact.hosted_url,
    pdf_url: fact.pdf_url,
    charge_id: fact.payments[0]?.charge_id ?? null,
    credit_transaction: granted ?? known?.credit_transaction ?? null,
    created_at: known?.created_at ?? now,
  })
  return DONE
}

/** The first invoice and those of later months, not a proration or an invoice made by hand. */
function bringsCredit({ status, reason, is_plan }: InvoiceFact): boolean {
  return status === 'paid' && is_plan && reason !== 'other'
}

/** The id of the credit; undefined where it was granted before, or the plan has none. */
async function grantMonth(
  applying: Applying,
  account_id: string,
  { id, period, payments, amount_paid_micros: total }: InvoiceFact,
): Promise<string | undefined> {
  const { platform, tx, processor, now } = applying
  const prices = platform.billing.prices.at(period?.start ?? now)
  const amount = prices.plans.pro.monthly_credit_micros
  if (amount === 0) return undefined
  const credit_id = await addPaidCredit(applying, {
    account_id,
    kind: 'monthly_credit',
    origin_id: `${processor}:${id}`,
    amount,
    // Tax is no credit, and a coupon paid nothing.
    from_processor: Math.min(amount, total),
    expires_at: creditExpiry(prices, now),
  })
  if (credit_id === undefined) return undefined
  for (const { charge_id: charged, amount_micros: paid } of payments) {
    if (paid === 0) continue
    const charge = { processor, id: charged, account_id, credit_id, paid, total }
    await tx.payments.addCharge({ ...charge, created_at: now })
    // Its refund may have been told of before.
    await followUp(applying, { kind: 'charge', id: charged })
  }
  return credit_id
}
