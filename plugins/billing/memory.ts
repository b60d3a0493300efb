import type { Clock } from '../../lib/engine/ports.ts'
import {
  declareArguments,
  NAME,
  optional,
  optionsOf,
  portOf,
  POSITIVE,
} from '../../lib/internal/arguments.ts'
import { DAY, type Instant } from '../../lib/time.ts'
import type { Till } from './conformance/till.ts'
import { arrange, type Arrangement } from './memory/arrange.ts'
import { readEvent } from './memory/event.ts'
import { MemoryObjects } from './memory/objects.ts'
import { signBytes, verifyBytes } from './memory/signature.ts'
import { Turnstile } from './memory/turnstile.ts'
import {
  type CheckoutRequest,
  type Micros,
  type PaymentProcessor,
  ProcessorError,
  type ReceivedEvent,
} from './contract.ts'

export interface MemoryProcessorOptions {
  readonly clock: Pick<Clock, 'now'>
  /** Default `USD`. */
  readonly currency?: string
  /** Price of the plan; default 25 units of the currency. */
  readonly plan_micros?: Micros
}

/** The till of a processor in memory; it can also repeat, reorder and lose events. */
export interface MemoryTill extends Till {
  /** The clock and what has passed by `pass`. */
  now(): Instant
  take(how?: Arrangement): ReturnType<Till['take']>
}

export interface MemoryProcessor extends PaymentProcessor {
  readonly till: MemoryTill
}

const SECRET = 'memory-secret'
const CENT: Micros = 10_000
/** Events of one page of `changedSince`. */
const PAGE = 20

const readOptions = declareArguments('createMemoryProcessor', {
  options: optionsOf({
    clock: portOf('now'),
    currency: optional(NAME),
    plan_micros: optional(POSITIVE),
  }),
})

/**
 * Creates a payment processor in the memory of one process, for tests: no money moves. Its till plays the
 * customers and their banks.
 *
 * @example
 * const processor = createMemoryProcessor({ clock })
 * const { session_id } = await processor.createCheckout(asked)
 * await processor.till.pay(session_id)
 * for (const { headers, body } of await processor.till.take({ copies: 2, order: 'reverse' })) {
 *   await post('/hooks/billing/memory', headers, body)
 * }
 */
export function createMemoryProcessor(
  ...args: readonly [options: MemoryProcessorOptions]
): MemoryProcessor {
  const [{ clock, currency = 'USD', plan_micros = 25_000_000 }] = readOptions(args) as typeof args
  let passed = 0
  const now = (): Instant => clock.now() + passed
  const objects = new MemoryObjects({ now, currency, plan_micros })
  const turnstile = new Turnstile()
  const keys = new Map<string, { readonly request: string; readonly answer: object }>()
  let customers = 0

  /** A second request with a key gets the first answer, and is rejected when it asks for something else. */
  function once<Answer extends object>(key: string, asked: object, create: () => Answer): Answer {
    const request = JSON.stringify(asked)
    const known = keys.get(key)
    if (known === undefined) {
      const answer = create()
      keys.set(key, { request, answer })
      return answer
    }
    if (known.request !== request) throw rejected('the key was used with another request')
    return known.answer as Answer
  }

  const processor: PaymentProcessor = {
    capabilities: { subscriptions: true, portal: true, paymentMethods: true },
    async createCustomer(given) {
      await turnstile.enter()
      return once(given.key, given, () => {
        customers += 1
        return { customer_id: objects.id('customer') }
      })
    },
    async createCheckout(asked) {
      await turnstile.enter()
      assertAmount(asked)
      return once(asked.key, asked, () => {
        const { id } = objects.open(asked)
        const expires_at = now() + DAY
        return { session_id: id, url: `https://memory.invalid/checkouts/${id}`, expires_at }
      })
    },
    async usePaymentMethod(sessionId) {
      await turnstile.enter()
      assertKnown('checkout', sessionId)
      if (objects.get('checkout', sessionId).status !== 'complete') throw notFound(sessionId)
    },
    async cancelSubscription(subscriptionId) {
      await turnstile.enter()
      assertKnown('subscription', subscriptionId)
      objects.cancel(subscriptionId)
    },
    async openPortal({ customer_id }) {
      await turnstile.enter()
      return { url: `https://memory.invalid/portal/${customer_id}` }
    },
    async receive(given) {
      verifyBytes(given, SECRET)
      return readEvent(given.body)
    },
    async fetchFacts(ref, signal) {
      await turnstile.enter(signal)
      const fact = objects.find(ref)
      return fact === undefined ? [] : [fact]
    },
    async changedSince(since, cursor, signal) {
      await turnstile.enter(signal)
      const changed = objects.log.filter(({ created_at }) => created_at >= since)
      const end = Number(cursor ?? 0) + PAGE
      const page = changed.slice(end - PAGE, end)
      const refs = page.flatMap((event) =>
        event.refs.map((ref) => ({ ...ref, customer_id: objects.find(ref)?.customer_id ?? null })),
      )
      return { refs, cursor: end < changed.length ? String(end) : null }
    },
    async check(plan, signal) {
      await turnstile.enter(signal)
      if (plan.price_micros !== plan_micros || plan.currency !== currency) {
        const internal = `the plan costs ${plan_micros} micros ${currency}`
        throw new ProcessorError('misconfigured', { internal })
      }
      return { detail: 'in memory: no money moves' }
    },
    close: () => turnstile.close(),
  }

  function assertKnown(kind: 'checkout' | 'subscription', id: string): void {
    if (objects.find({ kind, id }) === undefined) throw notFound(id)
  }

  let taken = 0
  const till: MemoryTill = {
    now,
    pay: async (id) => objects.pay(id),
    decline: async (id) => void objects.get('checkout', id),
    payLater: async (id) => objects.payLater(id),
    settle: async (id) => objects.settle(id),
    failLater: async (id) => objects.failLater(id),
    expire: async (id) => objects.expire(id),
    cycle: async (id, how) => objects.cycle(id, how).id,
    recover: async (id) => objects.recover(id),
    prorate: async (id) => objects.prorate(id).id,
    end: async (id) => objects.end(id),
    refund: async (id, micros) => objects.refund(id, micros),
    failRefund: async (id) => objects.failRefund(id),
    dispute: async (id, micros) => objects.dispute(id, micros, true),
    inquire: async (id) => objects.dispute(id, objects.get('charge', id).amount_micros, false),
    win: async (id) => objects.win(id),
    async take(how) {
      const sent = objects.log.slice(taken)
      taken = objects.log.length
      return arrange(sent, how).map((event) => till.sign(bytesOf(event), now()))
    },
    sign: (body, at) => ({ headers: signBytes(body, at, SECRET), body }),
    forge: (body, at) => ({ headers: signBytes(body, at, `not-${SECRET}`), body }),
    stray() {
      const event = { id: objects.id('event'), type: 'payout.paid', created_at: now() }
      return till.sign(bytesOf({ ...event, refs: [] }), now())
    },
    count: async () => ({ customers, checkouts: objects.count('checkout') }),
    async pass(ms) {
      passed += ms
    },
    hang: () => turnstile.hang(),
  }

  return { ...processor, till }
}

function assertAmount({ kind, amount_micros: amount }: CheckoutRequest): void {
  if (kind !== 'topup') return
  const isWhole = amount !== null && Number.isSafeInteger(amount) && amount % CENT === 0
  if (!isWhole || amount <= 0) throw rejected('the currency cannot express the amount')
}

function rejected(internal: string): ProcessorError {
  return new ProcessorError('rejected', { internal })
}

function notFound(id: string): ProcessorError {
  return new ProcessorError('not_found', { internal: `no object ${id}` })
}

function bytesOf(event: ReceivedEvent): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(event))
}
