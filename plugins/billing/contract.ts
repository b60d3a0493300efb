/**
 * A payment processor takes money: it sells credit and the Pro plan on its own pages, and reports payments.
 *
 * No card data reaches Keyhook. An event of the processor only names the objects that changed; each is
 * fetched as a fact before anything depends on it. Facts are absolute, so repeated, reordered and lost events
 * do no harm. An implementation proves itself with `conformance`.
 *
 * @module
 */
import type { Clock } from '../../lib/engine/ports.ts'
import type { Instant } from '../../lib/time.ts'
import type { CheckoutKind, Fact, Micros } from './facts.ts'

export { PROCESSOR_ERRORS, ProcessorError } from './errors.ts'
export type { ProcessorErrorCode } from './errors.ts'
export type {
  ChargeFact,
  CheckoutFact,
  CheckoutKind,
  Fact,
  InvoiceFact,
  InvoicePayment,
  Micros,
  Payment,
  SubscriptionFact,
} from './facts.ts'

/** What a module named by `KEYHOOK_BILLING` exports as `paymentProcessor`. */
export interface PaymentProcessorPlugin {
  /** `[a-z][a-z0-9-]{0,31}`: names it in records, and its intake `POST /hooks/billing/<name>`. */
  readonly name: string
  /** Environment variables that it needs, each also as NAME_FILE. Only built-in ones begin with `KEYHOOK_`. */
  readonly settings: readonly ProcessorSetting[]
  /**
   * The only origins that `ports.fetch` reaches, such as `https://api.example.com`.
   *
   * @throws ProcessorError `misconfigured`
   */
  origins(settings: ProcessorSettings): readonly string[]
  /** @throws ProcessorError `misconfigured`, saying in `internal` which setting is wrong and how */
  open(ports: ProcessorPorts): Promise<PaymentProcessor>
}

export interface ProcessorSetting {
  readonly name: string
  readonly required: boolean
}

/** Values of the settings by name. */
export type ProcessorSettings = Readonly<Record<string, string | undefined>>

export interface ProcessorPorts {
  readonly settings: ProcessorSettings
  /**
   * `fetch` over the guarded client, for a URL as text, GET or POST, and a body as text: it follows no
   * redirect, `signal` ends it at any time, and a response has at most 4 MiB. It rejects when there is no
   * status line; `final: true` on the error says that a retry cannot help.
   */
  readonly fetch: typeof globalThis.fetch
  readonly clock: Pick<Clock, 'now' | 'after'>
  /** ISO 4217, in upper case. */
  readonly currency: string
}

/** Every method rejects with a `ProcessorError`, or with the reason of the signal that it was given. */
export interface PaymentProcessor {
  readonly capabilities: ProcessorCapabilities
  /** The same key with the same request always answers the same customer. */
  createCustomer(given: NewCustomer): Promise<{ readonly customer_id: string }>
  /** The same key with the same request always answers the same session. */
  createCheckout(asked: CheckoutRequest): Promise<CheckoutSession>
  /**
   * Makes the method that a `payment_method` checkout collected the one that is charged from now on.
   *
   * @throws ProcessorError `not_found` when it collected none
   */
  usePaymentMethod(sessionId: string, key: string): Promise<void>
  /**
   * Ends it with the period that is paid for.
   *
   * @param key a new one for each request of a user: the same one changes nothing again, also when the
   * cancellation was undone meanwhile
   */
  cancelSubscription(subscriptionId: string, key: string): Promise<void>
  openPortal(given: PortalRequest): Promise<{ readonly url: string }>
  /**
   * Checks the signature of the raw bytes before anything is parsed.
   *
   * @throws ProcessorError `invalid_signature`; `unavailable` for a signed event that cannot be read
   */
  receive(given: IncomingEvent): Promise<ReceivedEvent>
  /** The object as it is now; empty for one that is gone or is not ours. */
  fetchFacts(ref: ObjectRef, signal: AbortSignal): Promise<readonly Fact[]>
  /**
   * Objects that changed at or after an instant, one page at a time. It may name too many, never too few.
   *
   * @param cursor of the page before; null for the first page
   */
  changedSince(since: Instant, cursor: string | null, signal: AbortSignal): Promise<ChangedPage>
  /**
   * Reaches the service and compares the price of the plan, for `doctor`.
   *
   * @throws ProcessorError `misconfigured`, saying in `internal` what differs
   */
  check(plan: PlanPrice, signal: AbortSignal): Promise<{ readonly detail: string }>
  /**
   * Whose account takes the money, and whether it is real. What is stored of one account is unknown to another,
   * so a start with another one is refused. It is asked at each start; where it rejects, at the next one.
   */
  identify?(signal: AbortSignal): Promise<ProcessorIdentity>
  /** Ends calls in progress and refuses later ones as `unavailable`. */
  close?(): Promise<void>
}

export interface ProcessorIdentity {
  /** Id of the account at the service; null where the credential may not read it, or it is away. */
  readonly account_id: string | null
  /** Whether money moves: false in a test mode. */
  readonly live: boolean
}

export interface ProcessorCapabilities {
  readonly subscriptions: boolean
  readonly portal: boolean
  readonly paymentMethods: boolean
}

export interface NewCustomer {
  readonly account_id: string
  readonly email: string | null
  /** Idempotency key. */
  readonly key: string
}

export interface CheckoutRequest {
  /** Ours; comes back in the fact. */
  readonly id: string
  readonly kind: CheckoutKind
  readonly customer_id: string
  /** For `topup`; null for the others. */
  readonly amount_micros: Micros | null
  readonly success_url: string
  readonly cancel_url: string
  /** Idempotency key. */
  readonly key: string
}

export interface CheckoutSession {
  readonly session_id: string
  /** The processor's page. */
  readonly url: string
  readonly expires_at: Instant
}

export interface PortalRequest {
  readonly customer_id: string
  readonly return_url: string
}

/** A request to the intake. */
export interface IncomingEvent {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Uint8Array
  readonly now: Instant
}

export interface ReceivedEvent {
  readonly id: string
  readonly type: string
  readonly created_at: Instant
  /** Empty for an event that concerns none of our objects. */
  readonly refs: readonly ObjectRef[]
}

export type ObjectKind = 'checkout' | 'invoice' | 'subscription' | 'charge'

/** An object of the processor, by the processor's id. */
export interface ObjectRef {
  readonly kind: ObjectKind
  readonly id: string
}

/** An object that changed. One of a customer that is not ours is left out without being fetched. */
export interface ChangedObject extends ObjectRef {
  /** Null: it has none, and is not ours. Undefined: the list does not tell it. */
  readonly customer_id?: string | null | undefined
}

export interface ChangedPage {
  readonly refs: readonly ChangedObject[]
  /** Null on the last page. */
  readonly cursor: string | null
}

/** What a month of Pro costs by the price file. */
export interface PlanPrice {
  readonly price_micros: Micros
  readonly currency: string
}
