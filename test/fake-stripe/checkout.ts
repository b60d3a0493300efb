import { subscribe } from './billing.ts'
import { addMethod, addPayment, failPayment, settlePayment } from './money.ts'
import type { FakeSession } from './objects.ts'
import { invalid } from './refusal.ts'
import type { FakeState } from './state.ts'

/** What a session sells, which its object does not say. */
export interface Sale {
  /** Of a subscription. */
  readonly price: string | null
}

const HOURS_24 = 24 * 60 * 60

/** Checkout sessions, and what customers do on their pages. */
export class Checkouts {
  readonly #state: FakeState
  readonly #sales = new Map<string, Sale>()
  readonly #pages: () => string

  /** @param pages origin of the pages */
  constructor(state: FakeState, pages: () => string) {
    this.#state = state
    this.#pages = pages
  }

  open(
    given: Pick<
      FakeSession,
      | 'amount_total'
      | 'cancel_url'
      | 'client_reference_id'
      | 'currency'
      | 'customer'
      | 'mode'
      | 'success_url'
    > & { readonly expires_at?: number | undefined },
    sale: Sale,
  ): FakeSession {
    const id = this.#state.id('cs_test')
    this.#sales.set(id, sale)
    return this.#state.add('sessions', {
      id,
      object: 'checkout.session',
      ...given,
      created: this.#state.now(),
      expires_at: given.expires_at ?? this.#state.now() + HOURS_24,
      livemode: false,
      payment_intent: null,
      payment_status: given.mode === 'setup' ? 'no_payment_required' : 'unpaid',
      setup_intent: null,
      status: 'open',
      subscription: null,
      url: `${this.#pages()}/c/pay/${id}`,
    })
  }

  /** The customer completes it with a card that works. */
  pay(id: string, how: 'paid' | 'coupon' = 'paid'): FakeSession {
    const session = this.#openOnly(id)
    const method = addMethod(this.#state, session.customer).id
    const { mode, customer } = session
    if (mode === 'payment') {
      session.payment_intent = this.#payment(session, method, 'succeeded')
      session.payment_status = 'paid'
    } else if (mode === 'subscription') {
      const price = this.#sales.get(id)?.price ?? ''
      session.subscription = subscribe(this.#state, session, { price, method, how }).id
      session.payment_status = 'paid'
    } else {
      const intent = this.#state.add('setup_intents', {
        id: this.#state.id('seti'),
        object: 'setup_intent',
        created: this.#state.now(),
        customer,
        livemode: false,
        payment_method: method,
        status: 'succeeded',
      })
      session.setup_intent = intent.id
    }
    return this.#complete(session)
  }

  /** The customer completes it with a payment that takes days. */
  payLater(id: string): FakeSession {
    const session = this.#openOnly(id)
    if (session.mode !== 'payment') throw invalid('Only a payment can take days here.')
    const method = addMethod(this.#state, session.customer).id
    session.payment_intent = this.#payment(session, method, 'processing')
    return this.#complete(session)
  }

  /** A payment that took days arrives. */
  settle(id: string): FakeSession {
    const session = this.#processing(id)
    settlePayment(this.#state, this.#state.get('payment_intents', session.payment_intent ?? ''))
    session.payment_status = 'paid'
    this.#state.emit('checkout.session.async_payment_succeeded', session)
    return session
  }

  /** A payment that took days fails. */
  failLater(id: string): FakeSession {
    const session = this.#processing(id)
    failPayment(this.#state, this.#state.get('payment_intents', session.payment_intent ?? ''))
    this.#state.emit('checkout.session.async_payment_failed', session)
    return session
  }

  /** A card is declined: the session stays open. */
  decline(id: string): FakeSession {
    const session = this.#openOnly(id)
    this.#state.emit('payment_intent.payment_failed', { object: 'payment_intent' })
    return session
  }

  expire(id: string): FakeSession {
    const session = this.#state.get('sessions', id)
    if (session.status !== 'open') {
      throw invalid(
        'Only Checkout Sessions with a status in ["open"] can be expired. ' +
          `This Checkout Session has a status of ${session.status}.`,
      )
    }
    session.status = 'expired'
    session.url = null
    this.#state.emit('checkout.session.expired', session)
    return session
  }

  #payment(session: FakeSession, method: string, how: 'succeeded' | 'processing'): string {
    const { customer, amount_total, currency } = session
    const given = { customer, amount: amount_total ?? 0, currency: currency ?? '', method }
    return addPayment(this.#state, given, how).id
  }

  #complete(session: FakeSession): FakeSession {
    session.status = 'complete'
    session.url = null
    this.#state.emit('checkout.session.completed', session)
    return session
  }

  #openOnly(id: string): FakeSession {
    const session = this.#state.get('sessions', id)
    if (session.status !== 'open') throw invalid(`This Checkout Session is ${session.status}.`)
    return session
  }

  #processing(id: string): FakeSession {
    const session = this.#state.get('sessions', id)
    const intent = this.#state.get('payment_intents', session.payment_intent ?? '')
    if (intent.status !== 'processing') throw invalid(`The payment is ${intent.status}.`)
    return session
  }
}
