import { DAY, type Instant } from '../../../lib/time.ts'
import type {
  ChargeFact,
  CheckoutFact,
  CheckoutRequest,
  Fact,
  InvoiceFact,
  Micros,
  ObjectKind,
  ObjectRef,
  ReceivedEvent,
  SubscriptionFact,
} from '../contract.ts'

/** A billing period. */
const MONTH = 30 * DAY

interface World {
  now(): Instant
  readonly currency: string
  readonly plan_micros: Micros
}

type FactOf<Kind extends ObjectKind> = Extract<Fact, { kind: Kind }>

/** The objects of a processor, as the facts that they are now, and a log of what changed. */
export class MemoryObjects {
  readonly log: ReceivedEvent[] = []
  readonly #world: World
  readonly #facts = new Map<string, Fact>()
  readonly #asked = new Map<string, CheckoutRequest>()
  #ids = 0

  constructor(world: World) {
    this.#world = world
  }

  id(kind: string): string {
    this.#ids += 1
    return `${kind}_memory_${this.#ids}`
  }

  find({ kind, id }: ObjectRef): Fact | undefined {
    return this.#facts.get(`${kind} ${id}`)
  }

  get<Kind extends ObjectKind>(kind: Kind, id: string): FactOf<Kind> {
    const fact = this.find({ kind, id })
    if (fact === undefined) throw new Error(`The memory processor has no ${kind} ${id}.`)
    return fact as FactOf<Kind>
  }

  count(kind: ObjectKind): number {
    return [...this.#facts.values()].filter((fact) => fact.kind === kind).length
  }

  open(asked: CheckoutRequest): CheckoutFact {
    const fact: CheckoutFact = {
      kind: 'checkout',
      id: this.id('checkout'),
      checkout_id: asked.id,
      purpose: asked.kind,
      status: 'open',
      customer_id: asked.customer_id,
      payment: null,
      subscription_id: null,
    }
    this.#asked.set(fact.id, asked)
    return this.#put(fact)
  }

  expire(id: string): void {
    const checkout = this.get('checkout', id)
    if (checkout.status === 'open')
      this.#tell('checkout.expired', { ...checkout, status: 'expired' })
  }

  pay(id: string): void {
    const checkout = this.#openOnly(id)
    if (checkout.purpose === 'topup') return this.#payTopup(checkout, true)
    if (checkout.purpose === 'subscribe') return this.#subscribe(checkout)
    this.#tell('checkout.completed', { ...checkout, status: 'complete' })
  }

  payLater(id: string): void {
    this.#payTopup(this.#openOnly(id), false)
  }

  settle(id: string): void {
    const checkout = this.get('checkout', id)
    const { payment } = checkout
    if (payment === null || payment.settled) throw new Error(`Nothing of ${id} is on its way.`)
    const { amount_micros } = this.get('charge', payment.charge_id)
    this.#tell('checkout.settled', {
      ...checkout,
      payment: { ...payment, amount_micros, settled: true },
    })
  }

  failLater(id: string): void {
    this.#tell('checkout.failed', { ...this.get('checkout', id), payment: null })
  }

  cycle(id: string, how: 'paid' | 'unpaid' | 'coupon'): InvoiceFact {
    const subscription = this.get('subscription', id)
    const start = subscription.current_period_end ?? this.#world.now()
    const invoice = this.#invoice(subscription, 'cycle', { start, end: start + MONTH }, how)
    const due = how === 'unpaid' ? (subscription.past_due_since ?? this.#world.now()) : null
    this.#tell('subscription.updated', {
      ...subscription,
      current_period_end: start + MONTH,
      ...(due === null ? {} : ({ status: 'past_due', past_due_since: due } as const)),
    })
    return invoice
  }

  recover(id: string): void {
    for (const fact of this.#facts.values()) {
      if (fact.kind !== 'invoice' || fact.subscription_id !== id || fact.status !== 'open') continue
      this.#tell('invoice.paid', this.#paid(fact))
    }
    const subscription = this.get('subscription', id)
    this.#tell('subscription.updated', { ...subscription, status: 'active', past_due_since: null })
  }

  prorate(id: string): InvoiceFact {
    const now = this.#world.now()
    const subscription = this.get('subscription', id)
    return this.#invoice(subscription, 'other', { start: now, end: now }, 'paid')
  }

  cancel(id: string): void {
    const subscription = this.get('subscription', id)
    if (subscription.cancel_at !== null) return
    const { current_period_end: cancel_at } = subscription
    this.#tell('subscription.updated', { ...subscription, cancel_at })
  }

  end(id: string): void {
    const subscription = this.get('subscription', id)
    const cancel_at = subscription.cancel_at ?? this.#world.now()
    this.#tell('subscription.ended', {
      ...subscription,
      status: 'canceled',
      past_due_since: null,
      cancel_at,
    })
  }

  refund(chargeId: string, amount_micros: Micros): string {
    const charge = this.get('charge', chargeId)
    const returned = charge.refunds
      .filter(({ succeeded }) => succeeded)
      .reduce((sum, one) => sum + one.amount_micros, 0)
    if (returned + amount_micros > charge.amount_micros) throw new Error('More than was charged.')
    const id = this.id('refund')
    const refunds = [...charge.refunds, { id, amount_micros, succeeded: true }]
    this.#tell('charge.refunded', { ...charge, refunds })
    return id
  }

  failRefund(refundId: string): void {
    const charge = this.#chargeWith(refundId)
    const refunds = charge.refunds.map((one) =>
      one.id === refundId ? { ...one, succeeded: false } : one,
    )
    this.#tell('charge.refund_failed', { ...charge, refunds })
  }

  dispute(chargeId: string, amount_micros: Micros, withdrawn: boolean): string {
    const charge = this.get('charge', chargeId)
    const id = this.id('dispute')
    const disputes = [...charge.disputes, { id, amount_micros, withdrawn }]
    this.#tell('charge.disputed', { ...charge, disputes })
    return id
  }

  win(disputeId: string): void {
    const charge = this.#chargeWith(disputeId)
    const disputes = charge.disputes.map((one) =>
      one.id === disputeId ? { ...one, withdrawn: false } : one,
    )
    this.#tell('charge.dispute_won', { ...charge, disputes })
  }

  #openOnly(id: string): CheckoutFact {
    const checkout = this.get('checkout', id)
    if (checkout.status !== 'open') throw new Error(`The checkout ${id} is ${checkout.status}.`)
    return checkout
  }

  #payTopup(checkout: CheckoutFact, settled: boolean): void {
    const asked = this.#asked.get(checkout.id)?.amount_micros ?? 0
    const { id, currency } = this.#charge(checkout.customer_id, asked)
    const amount_micros = settled ? asked : 0
    this.#tell('checkout.completed', {
      ...checkout,
      status: 'complete',
      payment: { charge_id: id, amount_micros, currency, settled },
    })
  }

  #subscribe(checkout: CheckoutFact): void {
    const { customer_id } = checkout
    const now = this.#world.now()
    const period = { start: now, end: now + MONTH }
    const subscription: SubscriptionFact = {
      kind: 'subscription',
      id: this.id('subscription'),
      customer_id,
      is_plan: true,
      status: 'active',
      past_due_since: null,
      cancel_at: null,
      current_period_end: period.end,
      created_at: now,
    }
    this.#tell('subscription.created', subscription)
    this.#invoice(subscription, 'create', period, 'paid')
    const subscription_id = subscription.id
    this.#tell('checkout.completed', { ...checkout, status: 'complete', subscription_id })
  }

  #invoice(
    { id: subscription_id, customer_id }: SubscriptionFact,
    reason: InvoiceFact['reason'],
    period: NonNullable<InvoiceFact['period']>,
    how: 'paid' | 'unpaid' | 'coupon',
  ): InvoiceFact {
    const id = this.id('invoice')
    const open: InvoiceFact = {
      kind: 'invoice',
      id,
      number: id.toUpperCase(),
      customer_id,
      subscription_id,
      status: 'open',
      reason,
      is_plan: true,
      amount_due_micros: how === 'coupon' ? 0 : this.#world.plan_micros,
      amount_paid_micros: 0,
      currency: this.#world.currency,
      period,
      payments: [],
      hosted_url: `https://memory.invalid/invoices/${id}`,
      pdf_url: null,
    }
    if (how === 'unpaid') return this.#tell('invoice.payment_failed', open)
    return this.#tell('invoice.paid', this.#paid(open))
  }

  #paid(invoice: InvoiceFact): InvoiceFact {
    const { amount_due_micros: due, customer_id } = invoice
    const paid = { ...invoice, status: 'paid', amount_paid_micros: due } as const
    if (due === 0) return paid
    const { id: charge_id } = this.#charge(customer_id, due)
    return { ...paid, payments: [{ charge_id, amount_micros: due }] }
  }

  #charge(customer_id: string, amount_micros: Micros): ChargeFact {
    const { currency } = this.#world
    const id = this.id('charge')
    const given = { refunds: [], disputes: [] }
    return this.#put({ kind: 'charge', id, customer_id, amount_micros, currency, ...given })
  }

  #chargeWith(id: string): ChargeFact {
    for (const fact of this.#facts.values()) {
      if (fact.kind !== 'charge') continue
      if ([...fact.refunds, ...fact.disputes].some((one) => one.id === id)) return fact
    }
    throw new Error(`The memory processor has no ${id}.`)
  }

  #put<One extends Fact>(fact: One): One {
    this.#facts.set(`${fact.kind} ${fact.id}`, fact)
    return fact
  }

  #tell<One extends Fact>(type: string, fact: One): One {
    const { kind, id } = fact
    const event = { id: this.id('event'), type, created_at: this.#world.now() }
    this.log.push({ ...event, refs: [{ kind, id }] })
    return this.#put(fact)
  }
}
