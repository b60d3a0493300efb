import type { Stripe } from 'stripe'

/** A field as it is without expansion: an id in place of the object. */
type Plain<Value> = Value extends { id: string } ? never : Value

/** Fields of an object of the package, by its own names and types, without expansion. */
type Fields<Whole, Names extends keyof Whole> = { -readonly [Name in Names]-?: Plain<Whole[Name]> }

export type FakeCustomer = Fields<
  Stripe.Customer,
  'id' | 'object' | 'created' | 'email' | 'livemode' | 'metadata'
> & { readonly invoice_settings: { default_payment_method: string | null } }

export type FakePaymentMethod = Fields<
  Stripe.PaymentMethod,
  'id' | 'object' | 'created' | 'customer' | 'type' | 'livemode'
> & { readonly card: FakeCard }

/** What must never reach Keyhook. */
export type FakeCard = Pick<
  Stripe.PaymentMethod.Card,
  'brand' | 'last4' | 'exp_month' | 'exp_year' | 'fingerprint'
>

export type FakeIntent = Fields<
  Stripe.PaymentIntent,
  | 'id'
  | 'object'
  | 'amount'
  | 'amount_received'
  | 'created'
  | 'currency'
  | 'customer'
  | 'latest_charge'
  | 'livemode'
  | 'metadata'
  | 'payment_method'
  | 'status'
>

export type FakeSetupIntent = Fields<
  Stripe.SetupIntent,
  'id' | 'object' | 'created' | 'customer' | 'livemode' | 'payment_method' | 'status'
>

export type FakeCharge = Fields<
  Stripe.Charge,
  | 'id'
  | 'object'
  | 'amount'
  | 'amount_captured'
  | 'amount_refunded'
  | 'created'
  | 'currency'
  | 'customer'
  | 'disputed'
  | 'livemode'
  | 'paid'
  | 'payment_intent'
  | 'payment_method'
  | 'refunded'
  | 'status'
> & { readonly payment_method_details: { readonly type: 'card'; readonly card: FakeCard } }

export type FakeRefund = Fields<
  Stripe.Refund,
  'id' | 'object' | 'amount' | 'charge' | 'created' | 'currency' | 'payment_intent' | 'status'
>

export type FakeDispute = Fields<
  Stripe.Dispute,
  'id' | 'object' | 'amount' | 'charge' | 'created' | 'currency' | 'livemode' | 'reason' | 'status'
> & { readonly balance_transactions: FakeBalance[] }

export type FakeBalance = Pick<
  Stripe.BalanceTransaction,
  'id' | 'object' | 'amount' | 'currency' | 'type'
>

export type FakeSession = Fields<
  Stripe.Checkout.Session,
  | 'id'
  | 'object'
  | 'amount_total'
  | 'cancel_url'
  | 'client_reference_id'
  | 'created'
  | 'currency'
  | 'customer'
  | 'expires_at'
  | 'livemode'
  | 'mode'
  | 'payment_intent'
  | 'payment_status'
  | 'setup_intent'
  | 'status'
  | 'subscription'
  | 'success_url'
  | 'url'
>

export type FakeSubscription = Fields<
  Stripe.Subscription,
  | 'id'
  | 'object'
  | 'cancel_at'
  | 'cancel_at_period_end'
  | 'canceled_at'
  | 'created'
  | 'currency'
  | 'customer'
  | 'default_payment_method'
  | 'ended_at'
  | 'latest_invoice'
  | 'livemode'
  | 'metadata'
  | 'status'
> & { readonly items: FakeList<FakeItem> }

export type FakeItem = Pick<
  Stripe.SubscriptionItem,
  'id' | 'object' | 'current_period_start' | 'current_period_end'
> & { readonly price: FakePrice; readonly quantity: number; readonly subscription: string }

export type FakePrice = Fields<
  Stripe.Price,
  'id' | 'object' | 'active' | 'created' | 'currency' | 'livemode' | 'type' | 'unit_amount'
> & { recurring: { interval: string; interval_count: number } | null }

export type FakeInvoice = Fields<
  Stripe.Invoice,
  | 'id'
  | 'object'
  | 'amount_due'
  | 'amount_paid'
  | 'amount_remaining'
  | 'billing_reason'
  | 'created'
  | 'currency'
  | 'customer'
  | 'effective_at'
  | 'hosted_invoice_url'
  | 'invoice_pdf'
  | 'livemode'
  | 'number'
  | 'period_end'
  | 'period_start'
  | 'status'
  | 'total'
> & {
  readonly lines: FakeList<FakeLine>
  readonly parent: FakeParent | null
  readonly status_transitions: { paid_at: number | null; finalized_at: number | null }
}

export type FakeLine = Pick<
  Stripe.InvoiceLineItem,
  'id' | 'object' | 'amount' | 'currency' | 'period'
> & {
  readonly pricing: {
    readonly type: 'price_details'
    readonly price_details: { readonly price: string; readonly product: string }
    readonly unit_amount_decimal: string
  }
}

export type FakeParent = Pick<Stripe.Invoice.Parent, 'type'> & {
  readonly subscription_details: { readonly subscription: string }
}

export type FakeInvoicePayment = Fields<
  Stripe.InvoicePayment,
  | 'id'
  | 'object'
  | 'amount_paid'
  | 'created'
  | 'currency'
  | 'invoice'
  | 'is_default'
  | 'livemode'
  | 'status'
> & { readonly payment: { readonly type: 'payment_intent'; readonly payment_intent: string } }

export interface FakeEvent {
  readonly id: string
  readonly object: 'event'
  readonly api_version: string
  readonly created: number
  readonly data: { readonly object: object }
  readonly livemode: false
  readonly pending_webhooks: number
  readonly request: { readonly id: string | null; readonly idempotency_key: string | null }
  readonly type: string
}

export interface FakeList<One> {
  readonly object: 'list'
  readonly url: string
  readonly has_more: boolean
  readonly data: One[]
}

/** Everything of the fake that has an id, by the resource's name in its path. */
export interface FakeObjects {
  readonly customers: FakeCustomer
  readonly payment_methods: FakePaymentMethod
  readonly payment_intents: FakeIntent
  readonly setup_intents: FakeSetupIntent
  readonly charges: FakeCharge
  readonly refunds: FakeRefund
  readonly disputes: FakeDispute
  readonly sessions: FakeSession
  readonly subscriptions: FakeSubscription
  readonly prices: FakePrice
  readonly invoices: FakeInvoice
  readonly invoice_payments: FakeInvoicePayment
  readonly events: FakeEvent
}

export type Resource = keyof FakeObjects
