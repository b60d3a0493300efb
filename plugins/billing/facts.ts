/**
 * What a processor knows of one object now. Money is in micros of `currency`, an ISO 4217 code in upper case:
 * the core refuses a fact in another currency than its own.
 *
 * @module
 */
import type { Instant } from '../../lib/time.ts'

/** Money in millionths of the currency's unit: integers from 0 to below 2^53. */
export type Micros = number

/** What a checkout is for. */
export type CheckoutKind = 'topup' | 'subscribe' | 'payment_method'

export type Fact = CheckoutFact | InvoiceFact | SubscriptionFact | ChargeFact

export interface CheckoutFact {
  readonly kind: 'checkout'
  readonly id: string
  /** Our id; null for a session that Keyhook did not create. */
  readonly checkout_id: string | null
  readonly purpose: CheckoutKind
  readonly status: 'open' | 'complete' | 'expired'
  readonly customer_id: string
  /** Of a `topup`, once there is a charge. */
  readonly payment: Payment | null
  /** Of a `subscribe` that is complete. */
  readonly subscription_id: string | null
}

export interface Payment {
  readonly charge_id: string
  /** What was received; 0 while it is not settled. */
  readonly amount_micros: Micros
  readonly currency: string
  /** Whether the money has arrived: a charge that is processing has not. */
  readonly settled: boolean
}

export interface InvoiceFact {
  readonly kind: 'invoice'
  readonly id: string
  readonly number: string | null
  readonly customer_id: string
  readonly subscription_id: string | null
  readonly status: 'draft' | 'open' | 'paid' | 'void' | 'uncollectible'
  /** Only `create` and `cycle` bring credit; prorations and manual invoices are `other`. */
  readonly reason: 'create' | 'cycle' | 'other'
  /** Whether it bills the Pro plan. */
  readonly is_plan: boolean
  readonly amount_due_micros: Micros
  /** 0 when a coupon paid all of it. */
  readonly amount_paid_micros: Micros
  readonly currency: string
  /** What it bills. */
  readonly period: { readonly start: Instant; readonly end: Instant } | null
  /** The charges that paid it, with what each paid; empty where none did. */
  readonly payments: readonly InvoicePayment[]
  readonly hosted_url: string | null
  readonly pdf_url: string | null
}

export interface InvoicePayment {
  readonly charge_id: string
  readonly amount_micros: Micros
}

export interface SubscriptionFact {
  readonly kind: 'subscription'
  readonly id: string
  readonly customer_id: string
  readonly is_plan: boolean
  readonly status: 'incomplete' | 'active' | 'past_due' | 'canceled'
  /** When the oldest invoice became due that is not paid; null unless `past_due`. */
  readonly past_due_since: Instant | null
  /** When it ends or has ended by cancellation. */
  readonly cancel_at: Instant | null
  readonly current_period_end: Instant | null
  readonly created_at: Instant
}

export interface ChargeFact {
  readonly kind: 'charge'
  readonly id: string
  readonly customer_id: string
  readonly amount_micros: Micros
  readonly currency: string
  readonly refunds: readonly Refund[]
  readonly disputes: readonly Dispute[]
}

export interface Refund {
  readonly id: string
  readonly amount_micros: Micros
  /** Whether the customer has the money: false while pending, and after it failed. */
  readonly succeeded: boolean
}

export interface Dispute {
  readonly id: string
  readonly amount_micros: Micros
  /** Whether the money is withdrawn now: false for an inquiry, and once it is reinstated. */
  readonly withdrawn: boolean
}
