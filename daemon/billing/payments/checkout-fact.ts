import type { CheckoutFact } from '../../../plugins/billing/contract.ts'
import type { CheckoutRecord } from '../../../plugins/platform/contract/payments.ts'
import type { Applying, Outcome } from './applying.ts'
import { DONE, IGNORED, accountOfCustomer, failed, followUp } from './applying.ts'
import { addPaidCredit } from './credit.ts'

export async function applyCheckout(applying: Applying, fact: CheckoutFact): Promise<Outcome> {
  const checkout = await findCheckout(applying, fact)
  if (checkout === undefined || checkout.kind !== fact.purpose) return IGNORED
  const { tx } = applying
  if (fact.purpose === 'topup' && fact.payment?.settled === true) {
    return settleTopup(applying, checkout, fact.id, fact.payment)
  }
  if (fact.status === 'expired') {
    await tx.payments.endCheckout(checkout.id, 'expired', null)
    return DONE
  }
  // A top-up that is paid later is complete before it is settled: there is nothing to do yet.
  if (fact.status === 'open' || fact.purpose === 'topup') return IGNORED
  await tx.payments.endCheckout(checkout.id, 'complete', applying.now)
  if (fact.subscription_id !== null) {
    await followUp(applying, { kind: 'subscription', id: fact.subscription_id })
  }
  return DONE
}

/**
 * By the session, or by our id where the answer to its creation was lost; then it must be of the account of
 * its customer.
 */
async function findCheckout(
  applying: Applying,
  { id, checkout_id, customer_id }: CheckoutFact,
): Promise<CheckoutRecord | undefined> {
  const { tx, processor } = applying
  const known = await tx.payments.checkoutOf(processor, id)
  if (known !== undefined || checkout_id === null) return known
  const account_id = await accountOfCustomer(applying, customer_id)
  const lost = await tx.payments.checkout(checkout_id)
  const isOurs = lost?.processor === processor && lost.account_id === account_id
  return isOurs && lost.session_id === null ? lost : undefined
}

/** The settled amount is credited, whatever was asked for. */
async function settleTopup(
  applying: Applying,
  { id, account_id }: CheckoutRecord,
  sessionId: string,
  payment: NonNullable<CheckoutFact['payment']>,
): Promise<Outcome> {
  const { tx, processor, currency, now } = applying
  const { charge_id, amount_micros: amount } = payment
  if (payment.currency !== currency) {
    return failed(`checkout ${sessionId} was paid in ${payment.currency}`)
  }
  if (amount === 0) return IGNORED
  const kind = 'topup'
  const credit = { kind, origin_id: id, account_id, amount, expires_at: null } as const
  const credit_id = await addPaidCredit(applying, { ...credit, from_processor: amount })
  await tx.payments.endCheckout(id, 'complete', now)
  if (credit_id === undefined) return DONE
  const charge = { processor, id: charge_id, account_id, credit_id, paid: amount, total: amount }
  await tx.payments.addCharge({ ...charge, created_at: now })
  // Its refund may have been told of before.
  await followUp(applying, { kind: 'charge', id: charge_id })
  return DONE
}
