import type { z } from 'zod'
import { type Instant, SECOND } from '../../../lib/time.ts'
import type {
  ChargeFact,
  CheckoutFact,
  CheckoutKind,
  InvoiceFact,
  Payment,
  SubscriptionFact,
} from '../contract.ts'
import { microsOf } from './amounts.ts'
import type { ProPrices } from './settings.ts'
import type { CHARGE, DISPUTE, INTENT, INVOICE, REFUND, SESSION, SUBSCRIPTION } from './shapes.ts'

type Session = z.infer<typeof SESSION>
type Invoice = z.infer<typeof INVOICE>
type Subscription = z.infer<typeof SUBSCRIPTION>

const PURPOSES: Readonly<Record<Session['mode'], CheckoutKind>> = {
  payment: 'topup',
  subscription: 'subscribe',
  setup: 'payment_method',
}

/** Other reasons, such as `subscription_update` of a proration, bring no credit. */
const REASONS: Readonly<Record<string, InvoiceFact['reason']>> = {
  subscription_create: 'create',
  subscription_cycle: 'cycle',
}

/** `unpaid` is past due after all retries of Stripe; a status that is not here gives no plan. */
const STATUSES: Readonly<Record<string, SubscriptionFact['status']>> = {
  trialing: 'active',
  active: 'active',
  past_due: 'past_due',
  unpaid: 'past_due',
  canceled: 'canceled',
  incomplete_expired: 'canceled',
}

export function instantOf(seconds: number): Instant {
  return seconds * SECOND
}

/** Nothing for a session without a customer: Keyhook always names one. */
export function checkoutFact(session: Session): readonly CheckoutFact[] {
  const { id, mode, customer, payment_intent: intent, payment_status } = session
  if (customer === null) return []
  const purpose = PURPOSES[mode]
  const isTopup = purpose === 'topup' && intent !== null
  return [
    {
      kind: 'checkout',
      id,
      checkout_id: session.client_reference_id,
      purpose,
      status: session.status ?? 'open',
      customer_id: customer,
      payment: isTopup ? paymentOf(intent, payment_status === 'paid') : null,
      subscription_id: purpose === 'subscribe' ? session.subscription : null,
    },
  ]
}

function paymentOf(intent: z.infer<typeof INTENT>, isPaid: boolean): Payment | null {
  const { latest_charge: charge_id, amount_received, currency, status } = intent
  if (charge_id === null) return null
  return {
    charge_id,
    amount_micros: microsOf(amount_received, currency),
    currency: currency.toUpperCase(),
    settled: isPaid && status === 'succeeded',
  }
}

/** A payment of an invoice: it names its charge, or the intent that has it. */
interface Paid {
  readonly intent: string | null
  readonly charge: string | null
  readonly amount: number
}

/** What paid an invoice. One payment that says no amount paid all of it. */
export function paidBy({ payments, amount_paid: all }: Invoice): readonly Paid[] {
  const paid = payments?.data.filter(({ status }) => status === 'paid') ?? []
  return paid.map(({ payment, amount_paid }) => ({
    intent: payment.payment_intent ?? null,
    charge: payment.charge ?? null,
    amount: amount_paid ?? all,
  }))
}

export function invoiceFact(
  invoice: Invoice,
  proPrices: ProPrices,
  payments: readonly { readonly charge_id: string; readonly amount: number }[],
): readonly InvoiceFact[] {
  const { id, number, customer, currency, billing_reason, parent } = invoice
  if (customer === null) return []
  const plan = invoice.lines.data.find(({ pricing }) =>
    isPro(proPrices, pricing?.price_details?.price),
  )
  // The period of an invoice itself is the one before: what was used then.
  const { start, end } = plan?.period ?? { start: invoice.period_start, end: invoice.period_end }
  return [
    {
      kind: 'invoice',
      id,
      number,
      customer_id: customer,
      subscription_id: parent?.subscription_details?.subscription ?? null,
      status: invoice.status ?? 'draft',
      reason: REASONS[billing_reason ?? ''] ?? 'other',
      is_plan: plan !== undefined,
      amount_due_micros: microsOf(invoice.amount_due, currency),
      amount_paid_micros: microsOf(invoice.amount_paid, currency),
      currency: currency.toUpperCase(),
      period: { start: instantOf(start), end: instantOf(end) },
      payments: payments.map(({ charge_id, amount }) => ({
        charge_id,
        amount_micros: microsOf(amount, currency),
      })),
      hosted_url: invoice.hosted_invoice_url ?? null,
      pdf_url: invoice.invoice_pdf ?? null,
    },
  ]
}

/** Subscribers of an earlier price keep the plan. */
function isPro(proPrices: ProPrices, price: string | undefined): boolean {
  return price !== undefined && proPrices.includes(price)
}

export function statusOf({ status }: Pick<Subscription, 'status'>): SubscriptionFact['status'] {
  return STATUSES[status] ?? 'incomplete'
}

export function subscriptionFact(
  subscription: Subscription,
  proPrices: ProPrices,
  past_due_since: Instant | null,
): SubscriptionFact {
  const { id, customer, items, created, cancel_at, cancel_at_period_end } = subscription
  const ends = items.data.map((item) => instantOf(item.current_period_end))
  const current_period_end = ends.length === 0 ? null : Math.max(...ends)
  const atPeriodEnd = cancel_at_period_end ? current_period_end : null
  return {
    kind: 'subscription',
    id,
    customer_id: customer,
    is_plan: items.data.some(({ price }) => isPro(proPrices, price.id)),
    status: statusOf(subscription),
    past_due_since,
    cancel_at: cancel_at === null ? atPeriodEnd : instantOf(cancel_at),
    current_period_end,
    created_at: instantOf(created),
  }
}

export function chargeFact(
  { id, customer, amount, currency }: z.infer<typeof CHARGE>,
  refunds: readonly z.infer<typeof REFUND>[],
  disputes: readonly z.infer<typeof DISPUTE>[],
): readonly ChargeFact[] {
  if (customer === null) return []
  return [
    {
      kind: 'charge',
      id,
      customer_id: customer,
      amount_micros: microsOf(amount, currency),
      currency: currency.toUpperCase(),
      refunds: refunds.map((one) => ({
        id: one.id,
        amount_micros: microsOf(one.amount, one.currency),
        // A pending one may still fail, and is reported when it succeeds.
        succeeded: one.status === 'succeeded',
      })),
      disputes: disputes.map((one) => ({
        id: one.id,
        // Of another currency than the charge: at most all of it.
        amount_micros: microsOf(one.currency === currency ? one.amount : amount, currency),
        withdrawn: one.balance_transactions.reduce((sum, { amount: part }) => sum + part, 0) < 0,
      })),
    },
  ]
}
