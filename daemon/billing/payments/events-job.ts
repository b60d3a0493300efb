import type { Fact, ObjectRef } from '../../../plugins/billing/contract.ts'
import type { Applying, Outcome } from './applying.ts'
import { applyCharge } from './charge.ts'
import { applyCheckout } from './checkout-fact.ts'
import { applyInvoice } from './invoice.ts'
import { applySubscription } from './subscription.ts'
import type { Millis } from '../../../lib/time.ts'
import { HOUR, SECOND } from '../../../lib/time.ts'
import { ProcessorError } from '../../../plugins/billing/contract.ts'
import type { PaymentReads, ProcessorEvent } from '../../../plugins/platform/contract/payments.ts'
import { ClaimLost } from '../../jobs/handler.ts'
import type { JobHandler, Leased, Warn } from '../../jobs/handler.ts'
import type { Platform } from '../../platform.ts'
import type { Processing } from '../billing.ts'
import { IGNORED, failed } from './applying.ts'
import type { PaymentCounts } from './counts.ts'

const FIRST_DELAY: Millis = 5 * SECOND
const LONGEST_DELAY: Millis = HOUR
/** An object that cannot be fetched or applied by then is left to the sweep. */
const GIVEN_UP: Millis = 72 * HOUR

/** Fetches the object that an event tells of, and applies what it is now. */
export function createEventHandler(
  platform: Platform,
  warn: Warn,
  { name, processor }: Processing,
  { events: counts }: Pick<PaymentCounts, 'events'>,
): JobHandler<ProcessorEvent> {
  const { store, clock, billing, workAvailable } = platform

  /** Ends the event and its job in one unit with what is applied. */
  async function end(
    { job: { id, claim }, subject: event }: Leased<ProcessorEvent>,
    facts: readonly Fact[],
    given: Outcome = IGNORED,
  ): Promise<void> {
    const ended = await store.write(async (tx) => {
      if (!(await tx.jobs.complete(id, claim))) throw new ClaimLost()
      const now = clock.now()
      const currency = billing.currency ?? ''
      const applying = { platform, tx, processor: name, currency, event, now }
      let outcome = given
      for (const fact of facts) outcome = await applyFact(applying, fact)
      await tx.payments.endEvent(event.id, { ...outcome, done_at: now })
      if (outcome.status === 'failed') warn('an event of the processor failed', id, outcome.error)
      return outcome.status
    })
    if (ended !== 'pending') counts[ended] += 1
    // What follows from it.
    workAvailable.jobs('billing_event')
  }

  return {
    kind: 'billing_event',
    async begin(tx, { id }) {
      const event = await tx.payments.event(id)
      if (event?.status !== 'pending') return undefined
      if (event.processor === name) return { subject: event }
      // Waiting, it would hide the object from the sweeps of its processor, which find it once that is set again.
      const outcome = failed(`the payment processor is ${name}`)
      await tx.payments.endEvent(id, { ...outcome, done_at: clock.now() })
      return undefined
    },
    async run(leased, _, signal) {
      const { ref_kind: kind, ref_id: id } = leased.subject
      const facts =
        kind === 'none'
          ? []
          : await fetchObject(store.payments, { name, processor }, { kind, id }, signal)
      await end(leased, facts)
    },
    // It has neither a deadline nor a limit of attempts, and nobody cancels it.
    end: () => Promise.reject(new Error('an event of a processor does not end early')),
    async fail(leased, cause) {
      const { job, subject } = leased
      warn('an event of the processor could not be applied yet', job.id, cause)
      if (clock.now() - subject.received_at < GIVEN_UP) {
        counts.retried += 1
        return delayOf(job.attempts)
      }
      await end(leased, [], failed(cause instanceof ProcessorError ? cause.code : 'defect'))
      return undefined
    },
  }
}

function delayOf(attempts: number): Millis {
  return Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** Math.max(0, attempts - 1))
}

/**
 * A method that was collected for one of our checkouts is used from then on; again is the same. Others may sell
 * with the same account of the processor.
 */
async function fetchObject(
  payments: PaymentReads,
  { name, processor }: Processing,
  ref: ObjectRef,
  signal: AbortSignal,
): Promise<readonly Fact[]> {
  const facts = await processor.fetchFacts(ref, signal)
  for (const fact of facts) {
    const isMethod = fact.kind === 'checkout' && fact.purpose === 'payment_method'
    if (!isMethod || fact.status !== 'complete' || fact.checkout_id === null) continue
    const checkout = await payments.checkout(fact.checkout_id)
    if (checkout === undefined || checkout.status === 'complete') continue
    const customer = await payments.customerOf(name, fact.customer_id)
    if (checkout.account_id === customer?.account_id) {
      await processor.usePaymentMethod(fact.id, `keyhook-method-${fact.checkout_id}`)
    }
  }
  return facts
}

type Apply<Kind extends Fact['kind']> = (
  applying: Applying,
  fact: Extract<Fact, { readonly kind: Kind }>,
) => Promise<Outcome>

const APPLY: { readonly [Kind in Fact['kind']]: Apply<Kind> } = {
  checkout: applyCheckout,
  invoice: applyInvoice,
  subscription: applySubscription,
  charge: applyCharge,
}

/** Makes the records and the ledger agree with a fact; once they do, it changes nothing. */
export function applyFact<Kind extends Fact['kind']>(
  applying: Applying,
  fact: Extract<Fact, { readonly kind: Kind }>,
): Promise<Outcome> {
  return (APPLY[fact.kind] as Apply<Kind>)(applying, fact)
}
