import { addPayment } from './money.ts'
import type { FakeInvoice, FakeItem, FakeSession, FakeSubscription } from './objects.ts'
import { invalid } from './refusal.ts'
import type { FakeState } from './state.ts'

export type BillingReason = 'subscription_create' | 'subscription_cycle' | 'subscription_update'

/** How an invoice is paid: a coupon of 100 % leaves nothing to pay. */
export type HowPaid = 'paid' | 'unpaid' | 'coupon'

interface Period {
  readonly start: number
  readonly end: number
}

/** The subscription of a checkout that is paid, with its first invoice. */
export function subscribe(
  state: FakeState,
  session: FakeSession,
  given: { readonly price: string; readonly method: string; readonly how: 'paid' | 'coupon' },
): FakeSubscription {
  const start = state.now()
  const id = state.id('sub')
  const price = state.get('prices', given.price)
  const item: FakeItem = {
    id: state.id('si'),
    object: 'subscription_item',
    current_period_start: start,
    current_period_end: monthAfter(start),
    price,
    quantity: 1,
    subscription: id,
  }
  const url = `/v1/subscription_items?subscription=${id}`
  const subscription = state.add('subscriptions', {
    id,
    object: 'subscription',
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    created: start,
    currency: price.currency,
    customer: session.customer ?? '',
    // As Checkout does: the subscription charges the method of its page.
    default_payment_method: given.method,
    ended_at: null,
    latest_invoice: null,
    livemode: false,
    metadata: {},
    status: 'active',
    items: { object: 'list', url, has_more: false, data: [item] },
  })
  state.emit('customer.subscription.created', subscription)
  bill(state, subscription, 'subscription_create', periodOf(item), given.how)
  return subscription
}

/** The next period of a subscription begins. */
export function cycle(state: FakeState, id: string, how: HowPaid): FakeInvoice {
  const subscription = live(state, id)
  const item = itemOf(subscription)
  item.current_period_start = item.current_period_end
  item.current_period_end = monthAfter(item.current_period_start)
  const invoice = bill(state, subscription, 'subscription_cycle', periodOf(item), how)
  if (how === 'unpaid') subscription.status = 'past_due'
  state.emit('customer.subscription.updated', subscription)
  return invoice
}

/** The customer pays all open invoices of a subscription. */
export function recover(state: FakeState, id: string): FakeSubscription {
  const subscription = live(state, id)
  for (const invoice of state.all('invoices').toReversed()) {
    if (invoice.parent?.subscription_details.subscription !== id) continue
    if (invoice.status === 'open') payInvoice(state, invoice, subscription)
  }
  subscription.status = 'active'
  state.emit('customer.subscription.updated', subscription)
  return subscription
}

/** A change within a period is billed at once. */
export function prorate(state: FakeState, id: string): FakeInvoice {
  const subscription = live(state, id)
  const now = state.now()
  return bill(state, subscription, 'subscription_update', { start: now, end: now }, 'paid')
}

/** A subscription is over now: its period has ended, or all retries of a payment have failed. */
export function end(state: FakeState, id: string): FakeSubscription {
  const subscription = live(state, id)
  subscription.status = 'canceled'
  subscription.canceled_at ??= state.now()
  subscription.ended_at = state.now()
  state.emit('customer.subscription.deleted', subscription)
  return subscription
}

export function cancelAtPeriodEnd(state: FakeState, id: string, isSet: boolean): FakeSubscription {
  const subscription = live(state, id)
  subscription.cancel_at_period_end = isSet
  subscription.cancel_at = isSet ? itemOf(subscription).current_period_end : null
  subscription.canceled_at = isSet ? state.now() : null
  state.emit('customer.subscription.updated', subscription)
  return subscription
}

export function voidInvoice(state: FakeState, id: string): FakeInvoice {
  const invoice = state.get('invoices', id)
  if (invoice.status !== 'open') throw invalid(`The invoice is ${invoice.status}.`)
  invoice.status = 'void'
  state.emit('invoice.voided', invoice)
  return invoice
}

/** @throws Refusal for a subscription that has ended */
function live(state: FakeState, id: string): FakeSubscription {
  const subscription = state.get('subscriptions', id)
  if (subscription.status === 'canceled') {
    throw invalid('A canceled subscription can only update its cancellation_details and metadata.')
  }
  return subscription
}

function itemOf({ id, items }: FakeSubscription): FakeItem {
  const [item] = items.data
  if (item === undefined) throw new Error(`${id} has no item`)
  return item
}

function periodOf({ current_period_start: start, current_period_end: end }: FakeItem): Period {
  return { start, end }
}

function bill(
  state: FakeState,
  subscription: FakeSubscription,
  reason: BillingReason,
  period: Period,
  how: HowPaid,
): FakeInvoice {
  const { price } = itemOf(subscription)
  const full = price.unit_amount ?? 0
  const amount = how === 'coupon' ? 0 : full
  const id = state.id('in')
  const now = state.now()
  const invoice = state.add('invoices', {
    id,
    object: 'invoice',
    amount_due: amount,
    amount_paid: 0,
    amount_remaining: amount,
    billing_reason: reason,
    created: now,
    currency: price.currency,
    customer: subscription.customer,
    effective_at: now,
    hosted_invoice_url: `https://invoice.fake-stripe.invalid/${id}`,
    invoice_pdf: `https://invoice.fake-stripe.invalid/${id}/pdf`,
    livemode: false,
    number: `FAKE-${id}`,
    // Of the invoice itself: the period before, as Stripe has it.
    period_end: now,
    period_start: now,
    status: 'open',
    total: amount,
    lines: {
      object: 'list',
      url: `/v1/invoices/${id}/lines`,
      has_more: false,
      data: [
        {
          id: state.id('il'),
          object: 'line_item',
          amount: full,
          currency: price.currency,
          period,
          pricing: {
            type: 'price_details',
            price_details: { price: price.id, product: 'prod_fake_pro' },
            unit_amount_decimal: String(full),
          },
        },
      ],
    },
    parent: {
      type: 'subscription_details',
      subscription_details: { subscription: subscription.id },
    },
    status_transitions: { paid_at: null, finalized_at: now },
  })
  subscription.latest_invoice = id
  state.emit('invoice.created', invoice)
  state.emit('invoice.finalized', invoice)
  if (how === 'unpaid') state.emit('invoice.payment_failed', invoice)
  else payInvoice(state, invoice, subscription)
  return invoice
}

function payInvoice(
  state: FakeState,
  invoice: FakeInvoice,
  { customer, default_payment_method }: FakeSubscription,
): void {
  const { amount_due: amount, currency } = invoice
  const payer = state.get('customers', customer)
  const method = default_payment_method ?? payer.invoice_settings.default_payment_method ?? ''
  // A coupon that pays all of it leaves no payment.
  if (amount > 0) {
    const intent = addPayment(state, { customer, amount, currency, method }, 'succeeded')
    state.add('invoice_payments', {
      id: state.id('inpay'),
      object: 'invoice_payment',
      amount_paid: amount,
      created: state.now(),
      currency,
      invoice: invoice.id,
      is_default: true,
      livemode: false,
      status: 'paid',
      payment: { type: 'payment_intent', payment_intent: intent.id },
    })
  }
  invoice.status = 'paid'
  invoice.amount_paid = amount
  invoice.amount_remaining = 0
  invoice.status_transitions.paid_at = state.now()
  state.emit('invoice.paid', invoice)
  state.emit('invoice.payment_succeeded', invoice)
}

function monthAfter(seconds: number): number {
  const at = new Date(seconds * 1000)
  const day = at.getUTCDate()
  at.setUTCDate(1)
  at.setUTCMonth(at.getUTCMonth() + 1)
  const last = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0)).getUTCDate()
  at.setUTCDate(Math.min(day, last))
  return Math.floor(at.getTime() / 1000)
}
