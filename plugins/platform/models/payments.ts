import { big, creator, flag, id, orNull, text } from '../../store/sql/columns.ts'
import { defineModel } from '../model/define.ts'

export const CHECKOUT_STATUSES = ['created', 'open', 'complete', 'expired', 'failed'] as const

export const INVOICE_STATUSES = ['draft', 'open', 'paid', 'void', 'uncollectible'] as const

export type SubscriptionStatus = 'incomplete' | 'active' | 'past_due' | 'canceled'

/** What an event of a processor concerns; `none` is nothing of ours. */
export type EventSubject = 'checkout' | 'invoice' | 'subscription' | 'charge' | 'none'

/** Accounts as the processor knows them. */
export const BILLING_CUSTOMERS = defineModel('billing_customers', {
  account_id: id(),
  processor: id(),
  customer_id: id(),
  created_at: big(),
})

export const CHECKOUTS = defineModel('checkouts', {
  id: id(),
  account_id: id(),
  kind: text<'topup' | 'subscribe' | 'payment_method'>(),
  /** What was asked for; null but for a top-up. */
  amount: orNull(big()),
  processor: id(),
  /** The request that began it, unique within the account while the session may be open. */
  request_key: orNull(id()),
  session_id: orNull(id()),
  url: orNull(text()),
  /** Where its page returns to. */
  success_url: orNull(text()),
  cancel_url: orNull(text()),
  status: text<(typeof CHECKOUT_STATUSES)[number]>(),
  settled_at: orNull(big()),
  created_by: creator(),
  created_at: big(),
  expires_at: big(),
})

export const SUBSCRIPTIONS = defineModel('subscriptions', {
  processor: id(),
  id: id(),
  account_id: id(),
  is_plan: flag(),
  status: text<SubscriptionStatus>(),
  past_due_since: orNull(big()),
  cancel_at: orNull(big()),
  current_period_end: orNull(big()),
  created_at: big(),
  updated_at: big(),
})

export const INVOICES = defineModel('invoices', {
  processor: id(),
  id: id(),
  account_id: id(),
  number: orNull(text()),
  status: text<(typeof INVOICE_STATUSES)[number]>(),
  amount_due: big(),
  amount_paid: big(),
  currency: text(),
  period_start: orNull(big()),
  period_end: orNull(big()),
  hosted_url: orNull(text()),
  pdf_url: orNull(text()),
  charge_id: orNull(text()),
  /** The transaction of the credit that it brought. */
  credit_transaction: orNull(id()),
  created_at: big(),
})

/** Payments that brought credit. */
export const CHARGES = defineModel('charges', {
  processor: id(),
  id: id(),
  account_id: id(),
  credit_id: id(),
  /** By this charge. */
  paid: big(),
  /** By all charges that paid for the credit. */
  total: big(),
  created_at: big(),
})

/** Refunds and disputes of charges, as they were last seen. */
export const CHARGE_ITEMS = defineModel('charge_items', {
  processor: id(),
  id: id(),
  charge_id: id(),
  kind: text<'refund' | 'dispute'>(),
  amount: big(),
  active: flag(),
})

/** What a processor told of, or a sweep found. Nothing of a customer is kept. */
export const PROCESSOR_EVENTS = defineModel('processor_events', {
  /** That of its job. */
  id: id(),
  processor: id(),
  /** The processor's; null where no event told of it. */
  event_id: orNull(id()),
  type: text(),
  ref_kind: id<EventSubject>(),
  ref_id: id(),
  source: text<'intake' | 'sweep' | 'request'>(),
  status: text<'pending' | 'done' | 'ignored' | 'failed'>(),
  error: orNull(text()),
  received_at: big(),
  done_at: orNull(big()),
})

/** Until when the changes of a processor were swept. */
export const PROCESSOR_SWEEPS = defineModel('processor_sweeps', {
  processor: id(),
  swept_at: big(),
  /** When it last looked far back. */
  far_at: big(),
})
