import { FAKE_PRICE } from './names.ts'
import type { FakeEvent, FakeObjects, Resource } from './objects.ts'
import { missing } from './refusal.ts'

type Tables = { readonly [Name in Resource]: Map<string, FakeObjects[Name]> }

/** What Stripe calls one of these in messages. */
const SINGULAR: Readonly<Record<Resource, string>> = {
  customers: 'customer',
  payment_methods: 'PaymentMethod',
  payment_intents: 'payment_intent',
  setup_intents: 'setup_intent',
  charges: 'charge',
  refunds: 'refund',
  disputes: 'dispute',
  sessions: 'checkout.session',
  subscriptions: 'subscription',
  prices: 'price',
  invoices: 'invoice',
  invoice_payments: 'invoice_payment',
  events: 'event',
}

export interface StateOptions {
  /** Milliseconds. */
  readonly now: () => number
  readonly version: string
  /** In lower case. */
  readonly currency: string
  /** Price of the plan, in minor units. */
  readonly planAmount: number
}

/** The objects of the fake, and its log of events. */
export class FakeState {
  readonly currency: string
  readonly #options: StateOptions
  readonly #tables: Tables = {
    customers: new Map(),
    payment_methods: new Map(),
    payment_intents: new Map(),
    setup_intents: new Map(),
    charges: new Map(),
    refunds: new Map(),
    disputes: new Map(),
    sessions: new Map(),
    subscriptions: new Map(),
    prices: new Map(),
    invoices: new Map(),
    invoice_payments: new Map(),
    events: new Map(),
  }
  /** Called with each event. */
  #listener: (event: FakeEvent) => void = () => undefined
  #ids = 0
  #passed = 0

  constructor(options: StateOptions) {
    this.#options = options
    this.currency = options.currency
    this.add('prices', {
      id: FAKE_PRICE,
      object: 'price',
      active: true,
      created: this.now(),
      currency: options.currency,
      livemode: false,
      type: 'recurring',
      unit_amount: options.planAmount,
      recurring: { interval: 'month', interval_count: 1 },
    })
  }

  /** Milliseconds. */
  instant(): number {
    return this.#options.now() + this.#passed
  }

  /** Seconds. */
  now(): number {
    return Math.floor(this.instant() / 1000)
  }

  /** Time goes on by milliseconds. */
  pass(ms: number): void {
    this.#passed += ms
  }

  id(prefix: string): string {
    this.#ids += 1
    return `${prefix}_fake_${this.#ids}`
  }

  onEvent(listener: (event: FakeEvent) => void): void {
    this.#listener = listener
  }

  add<Name extends Resource>(name: Name, object: FakeObjects[Name]): FakeObjects[Name] {
    this.#tables[name].set(object.id, object)
    return object
  }

  /** @throws Refusal 404, or 400 for an id in a parameter */
  get<Name extends Resource>(name: Name, id: string, param?: string): FakeObjects[Name] {
    const found = this.#tables[name].get(id)
    if (found === undefined) throw missing(SINGULAR[name], id, param)
    return found
  }

  has(name: Resource, id: string): boolean {
    return this.#tables[name].has(id)
  }

  /** Newest first. */
  all<Name extends Resource>(name: Name): readonly FakeObjects[Name][] {
    return [...this.#tables[name].values()].toReversed()
  }

  /** Records an event with the object as it is now. */
  emit(type: string, object: object): void {
    const event: FakeEvent = {
      id: this.id('evt'),
      object: 'event',
      api_version: this.#options.version,
      created: this.now(),
      data: { object: structuredClone(object) },
      livemode: false,
      pending_webhooks: 1,
      request: { id: null, idempotency_key: null },
      type,
    }
    this.add('events', event)
    this.#listener(event)
  }
}
