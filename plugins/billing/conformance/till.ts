import assert from 'node:assert/strict'
import type { Instant, Millis } from '../../../lib/time.ts'
import type { ConformanceCase, ConformanceHarness } from '../../conformance.ts'
import {
  type CheckoutKind,
  type CheckoutRequest,
  type CheckoutSession,
  type Fact,
  type Micros,
  type ObjectKind,
  type ObjectRef,
  type PaymentProcessor,
  PROCESSOR_ERRORS,
  ProcessorError,
  type ProcessorErrorCode,
  type ReceivedEvent,
} from '../contract.ts'

/** A signed event, as it reaches the intake. */
export interface Delivery {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** The other side of a processor: what its customers, their banks and its clock do. */
export interface Till {
  /** The customer completes a checkout with a card that works. */
  pay(sessionId: string): Promise<void>
  /** The customer tries a card that is declined: the checkout stays open. */
  decline(sessionId: string): Promise<void>
  /** The customer completes a `topup` with a payment that takes days. */
  payLater(sessionId: string): Promise<void>
  /** That payment arrives. */
  settle(sessionId: string): Promise<void>
  /** That payment fails. */
  failLater(sessionId: string): Promise<void>
  /** The session ends unused. */
  expire(sessionId: string): Promise<void>
  /** The next period begins; answers its invoice. */
  cycle(subscriptionId: string, how: 'paid' | 'unpaid' | 'coupon'): Promise<string>
  /** The open invoices of a subscription are paid. */
  recover(subscriptionId: string): Promise<void>
  /** Answers a paid invoice of a change within a period. */
  prorate(subscriptionId: string): Promise<string>
  /** The subscription is over now. */
  end(subscriptionId: string): Promise<void>
  /** Answers the refund, which succeeds. */
  refund(chargeId: string, micros: Micros): Promise<string>
  /** A refund that succeeded comes back. */
  failRefund(refundId: string): Promise<void>
  /** The customer's bank withdraws money; answers the dispute. */
  dispute(chargeId: string, micros: Micros): Promise<string>
  /** The customer's bank asks, and withdraws nothing; answers the dispute. */
  inquire(chargeId: string): Promise<string>
  /** A dispute is won: the money comes back. */
  win(disputeId: string): Promise<void>
  /** Every signed event since the last call, oldest first. What is not handed on is lost. */
  take(): Promise<readonly Delivery[]>
  /** Signs bytes as an event, at an instant. */
  sign(body: Uint8Array, at: Instant): Delivery
  /** Signs with a secret that the processor does not have. */
  forge(body: Uint8Array, at: Instant): Delivery
  /** A signed event of a type that concerns none of our objects. */
  stray(): Delivery
  /** How many objects exist. */
  count(): Promise<{ readonly customers: number; readonly checkouts: number }>
  /** Time goes on, for the processor and for `now`. */
  pass(ms: Millis): Promise<void>
  /** Lets the next call hang; resolves once it hangs. */
  hang(): Promise<void>
}

/** What a processor gives the suite; made anew for every case. */
export interface ProcessorHarness extends ConformanceHarness {
  readonly processor: PaymentProcessor
  readonly till: Till
  now(): Instant
  readonly currency: string
  /** A price of the plan that `check` accepts. */
  readonly plan_micros: Micros
  /** What no error may contain: credentials, signing secrets, card numbers. */
  readonly secrets: readonly string[]
}

export type ProcessorCase = ConformanceCase<ProcessorHarness>

export const NEVER: AbortSignal = new AbortController().signal
/** What top-ups of the suite cost: ten units of the currency. */
export const TEN: Micros = 10_000_000

export async function customerOf({ processor }: ProcessorHarness): Promise<string> {
  const given = { account_id: 'acc_1', email: 'owner@example.com', key: 'keyhook-customer-acc_1' }
  return (await processor.createCustomer(given)).customer_id
}

export function checkoutOf(
  customer_id: string,
  kind: CheckoutKind,
  changes: Partial<CheckoutRequest> = {},
): CheckoutRequest {
  const id = changes.id ?? `checkout-${kind}`
  return {
    id,
    kind,
    customer_id,
    amount_micros: kind === 'topup' ? TEN : null,
    success_url: 'https://keyhook.example.com/billing/done',
    cancel_url: 'https://keyhook.example.com/billing/canceled',
    key: `keyhook-checkout-${id}`,
    ...changes,
  }
}

export async function openCheckout(
  harness: ProcessorHarness,
  kind: CheckoutKind,
): Promise<CheckoutSession> {
  return harness.processor.createCheckout(checkoutOf(await customerOf(harness), kind))
}

/** The one fact of an object. */
export async function factOf<Kind extends ObjectKind>(
  { processor }: ProcessorHarness,
  kind: Kind,
  id: string,
): Promise<Extract<Fact, { kind: Kind }>> {
  const facts = await processor.fetchFacts({ kind, id }, NEVER)
  assert.equal(facts.length, 1, `${kind} ${id}`)
  const [fact] = facts
  assert.equal(fact?.kind, kind)
  assert.equal(fact?.id, id)
  return fact as Extract<Fact, { kind: Kind }>
}

/** A top-up that is paid: its charge. */
export async function paidTopup(harness: ProcessorHarness): Promise<string> {
  const { session_id } = await openCheckout(harness, 'topup')
  await harness.till.pay(session_id)
  const { payment } = await factOf(harness, 'checkout', session_id)
  assert.ok(payment)
  return payment.charge_id
}

/** A subscription that is paid for. */
export async function paidSubscription(harness: ProcessorHarness): Promise<string> {
  const { session_id } = await openCheckout(harness, 'subscribe')
  await harness.till.pay(session_id)
  const { subscription_id } = await factOf(harness, 'checkout', session_id)
  assert.ok(subscription_id)
  return subscription_id
}

export function received(
  harness: ProcessorHarness,
  { headers, body }: Delivery,
  now: Instant = harness.now(),
): Promise<ReceivedEvent> {
  return harness.processor.receive({ headers, body, now })
}

/** What the events since the last call refer to. */
export async function refsTaken(harness: ProcessorHarness): Promise<readonly ObjectRef[]> {
  const refs: ObjectRef[] = []
  for (const delivery of await harness.till.take()) {
    refs.push(...(await received(harness, delivery)).refs)
  }
  return refs
}

/** The ids of one kind, each once, in the order in which they came. */
export function idsOf(refs: readonly ObjectRef[], kind: ObjectKind): readonly string[] {
  return [...new Set(refs.filter((ref) => ref.kind === kind).map(({ id }) => id))]
}

/** The error that a call ended with, which is in the table and says so. */
export async function failureOf(
  call: Promise<unknown>,
  code: ProcessorErrorCode,
): Promise<ProcessorError> {
  const failure: unknown = await call.then(
    () => assert.fail('it was carried out'),
    (error: unknown) => error,
  )
  assert.ok(failure instanceof ProcessorError, `not a ProcessorError: ${String(failure)}`)
  assert.equal(failure.code, code, failure.internal)
  assert.equal(failure.message, PROCESSOR_ERRORS[code].text)
  assert.equal(failure.retryable, PROCESSOR_ERRORS[code].retryable)
  return failure
}

/** Everything that an error may show or log. */
export function shownBy(error: ProcessorError): string {
  const { message, stack, internal, cause, details } = error
  const chain = cause instanceof Error ? [cause.message, cause.stack, JSON.stringify(cause)] : []
  return [message, stack, internal, JSON.stringify(details), ...chain, JSON.stringify(error)].join(
    '\n',
  )
}
