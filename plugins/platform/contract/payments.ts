import type { Instant, Millis } from '../../../lib/time.ts'
import type { Page, PageQuery } from '../../store/contract/page.ts'
import type { RecordOf } from '../model/define.ts'
import { placeOf } from '../model/pages.ts'
import type {
  BILLING_CUSTOMERS,
  CHARGES,
  CHARGE_ITEMS,
  CHECKOUTS,
  EventSubject,
  INVOICES,
  PROCESSOR_EVENTS,
  PROCESSOR_SWEEPS,
  SUBSCRIPTIONS,
} from '../models/payments.ts'

export { INVOICE_STATUSES } from '../models/payments.ts'

export type CustomerRecord = RecordOf<typeof BILLING_CUSTOMERS>
export type CheckoutRecord = RecordOf<typeof CHECKOUTS>
export type SubscriptionRecord = RecordOf<typeof SUBSCRIPTIONS>
export type InvoiceRecord = RecordOf<typeof INVOICES>
export type ChargeRecord = RecordOf<typeof CHARGES>
export type ChargeItem = RecordOf<typeof CHARGE_ITEMS>
export type ProcessorEvent = RecordOf<typeof PROCESSOR_EVENTS>
export type ProcessorSweep = RecordOf<typeof PROCESSOR_SWEEPS>

/** Newest first; `after` is what `placeOfInvoice` answers of the last one of the page before. */
export interface InvoiceQuery extends PageQuery {
  readonly account_id: string
  readonly status: InvoiceRecord['status'] | null
}

/** Where an invoice stands in a list. */
export const placeOfInvoice = ({ created_at, id }: InvoiceRecord): string => placeOf(created_at, id)

export type ObjectKind = Exclude<EventSubject, 'none'>

export interface KnownObject {
  readonly kind: ObjectKind
  readonly id: string
}

/** An object of a processor. */
export interface ProcessorObject {
  readonly processor: string
  readonly kind: EventSubject
  readonly id: string
}

export interface PaymentReads {
  customer(accountId: string, processor: string): Promise<CustomerRecord | undefined>
  /** The account of a customer. */
  customerOf(processor: string, customerId: string): Promise<CustomerRecord | undefined>
  checkout(id: string): Promise<CheckoutRecord | undefined>
  checkoutOf(processor: string, sessionId: string): Promise<CheckoutRecord | undefined>
  /** Sessions of a kind that can still be paid, newest first. */
  openCheckouts(
    accountId: string,
    kind: CheckoutRecord['kind'],
    now: Instant,
  ): Promise<readonly CheckoutRecord[]>
  subscription(processor: string, id: string): Promise<SubscriptionRecord | undefined>
  /** Newest first. */
  subscriptions(accountId: string): Promise<readonly SubscriptionRecord[]>
  invoice(accountId: string, id: string): Promise<InvoiceRecord | undefined>
  invoiceOf(processor: string, id: string): Promise<InvoiceRecord | undefined>
  invoices(query: InvoiceQuery): Promise<Page<InvoiceRecord>>
  charge(processor: string, id: string): Promise<ChargeRecord | undefined>
  chargeItems(processor: string, chargeId: string): Promise<readonly ChargeItem[]>
  event(id: string): Promise<ProcessorEvent | undefined>
  /** Whether an event of the object waits to be applied. */
  isAwaited(object: ProcessorObject): Promise<boolean>
  /** Events that wait to be applied. */
  countWaiting(processor: string): Promise<number>
  /** Objects that an event told of and that could not be applied, nor were by a later event. */
  countFailed(processor: string): Promise<number>
  /** Accounts whose stored plan is not the one that is paid for. */
  countOtherPlans(now: Instant, grace: Millis): Promise<number>
  /** Subscriptions that go on at another processor than this; null: at any. */
  countElsewhere(processor: string | null): Promise<number>
  sweep(processor: string): Promise<ProcessorSweep | undefined>
  /** Subscriptions whose period has ended, as far as is known: the first `limit` after an id. */
  lapsed(processor: string, now: Instant, after: string, limit: number): Promise<readonly string[]>
  /** Checkouts, invoices and disputed charges that may change at any age: the first `limit` after one. */
  changeable(
    processor: string,
    after: KnownObject | null,
    limit: number,
  ): Promise<readonly KnownObject[]>
  /** Accounts with the plan `pro` whose subscriptions no longer pay for it: the first `limit`. */
  endedPlans(now: Instant, grace: Millis, limit: number): Promise<readonly string[]>
}

export interface PaymentWrites extends PaymentReads {
  /** Returns the customer of the account: of concurrent callers the first one's stays. */
  keepCustomer(customer: CustomerRecord): Promise<CustomerRecord>
  /**
   * Adds a checkout, and returns the one of its request that was begun before and has not expired, if
   * there is one. One to subscribe is over with its session, and once its subscription is known.
   */
  beginCheckout(checkout: CheckoutRecord): Promise<CheckoutRecord>
  /** Notes the session of a checkout. False, changing nothing, when it has one. */
  openCheckout(
    id: string,
    session: Pick<CheckoutRecord, 'expires_at'> & {
      readonly session_id: string
      readonly url: string
    },
  ): Promise<boolean>
  /** Ends a checkout. False, changing nothing, when it is complete: that is final. */
  endCheckout(
    id: string,
    status: 'complete' | 'expired' | 'failed',
    settledAt: Instant | null,
  ): Promise<boolean>
  putSubscription(subscription: SubscriptionRecord): Promise<void>
  /** Of one that is known, its account and when it was created stay. */
  putInvoice(invoice: InvoiceRecord): Promise<void>
  /** Adds a payment; nothing where it is known. */
  addCharge(charge: ChargeRecord): Promise<void>
  putChargeItems(items: readonly ChargeItem[]): Promise<void>
  /** False, changing nothing, for an event that is known. */
  addEvent(event: ProcessorEvent): Promise<boolean>
  endEvent(
    id: string,
    end: Pick<ProcessorEvent, 'status' | 'error'> & { readonly done_at: Instant },
  ): Promise<void>
  putSweep(sweep: ProcessorSweep): Promise<void>
}
