import { createPaymentCounts } from '../../daemon/billing/payments/counts.ts'
import { createEventHandler } from '../../daemon/billing/payments/events-job.ts'
import { findChanged } from '../../daemon/billing/payments/find-changed.ts'
import type { PaymentSweeps } from '../../daemon/billing/payments/sweep.ts'
import { sweepPayments } from '../../daemon/billing/payments/sweep.ts'
import { auditFamily } from '../../daemon/families/audit/family.ts'
import { billingFamily } from '../../daemon/families/billing/family.ts'
import { createRunner, jobTimes } from '../../daemon/jobs/runner.ts'
import type { PaymentProcessor } from '../../plugins/billing/contract.ts'
import type { Delivery } from '../../plugins/billing/conformance.ts'
import { createMemoryProcessor } from '../../plugins/billing/memory.ts'
import type { Arrangement } from '../../plugins/billing/memory/arrange.ts'
import { ask } from './ask.ts'
import { pricesOf, walletOf } from './billing.ts'
import { createClock } from './clock.ts'
import type { AnyBody, Answer, WorldOptions } from './world.ts'
import { createWorld } from './world.ts'

type Scope = Parameters<typeof createWorld>[0]

export const START = Date.UTC(2026, 10, 24, 10)
export const PRO = 25_000_000

const PRICES = { 'apps.create': 500, 'edits.create': 100, 'files.upload': 0 }
const NEVER = new AbortController().signal

/** A world whose accounts pay at a processor in memory, and what its customers and banks do. */
export async function openShop(
  t: Scope,
  options: WorldOptions = {},
  capabilities?: PaymentProcessor['capabilities'],
) {
  const clock = createClock(START)
  const memory = createMemoryProcessor({ clock })
  const failing: { calls: number; whenDone: boolean } = { calls: 0, whenDone: false }
  const processor = {
    ...memory,
    ...(capabilities === undefined ? {} : { capabilities }),
    /** Fails as often as a test says, after the call had its effect where it says so. */
    async createCheckout(asked: Parameters<typeof memory.createCheckout>[0]) {
      if (failing.calls > 0 && !failing.whenDone) {
        failing.calls -= 1
        throw new Error('the process died')
      }
      const session = await memory.createCheckout(asked)
      if (failing.calls > 0) {
        failing.calls -= 1
        throw new Error('the process died')
      }
      return session
    },
  }
  const world = await createWorld(t, {
    prices: pricesOf(PRICES),
    plan: 'free',
    ...options,
    clock,
    families: [billingFamily, auditFamily, ...(options.families ?? [])],
    processing: { name: 'memory', processor },
  })
  const { platform, baseUrl, request } = world
  const { till } = memory
  const warnings: unknown[] = []
  const warn = (what: string, _: string, cause: unknown): void => void warnings.push([what, cause])
  const counts = createPaymentCounts()
  const sweeps: PaymentSweeps = {}
  const handler = createEventHandler(platform, warn, { name: 'memory', processor }, counts)
  const runner = createRunner(platform, handler, jobTimes('billing_event'), warn)

  /** Sends an event as the processor does. */
  async function send({ headers, body }: Delivery): Promise<number> {
    const sent = Object.fromEntries(
      Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
    )
    const url = `${baseUrl}/hooks/billing/memory`
    const { status } = await ask(url, { method: 'POST', headers: sent, body })
    return status
  }

  /** Applies everything that waits, one after the other. */
  async function work(): Promise<void> {
    while (await runner.runNext(NEVER)) continue
  }

  /** Sends what happened, as arranged, and applies it. */
  async function deliver(how?: Arrangement): Promise<readonly number[]> {
    const statuses: number[] = []
    for (const delivery of await till.take(how)) statuses.push(await send(delivery))
    await work()
    return statuses
  }

  function post<Body = AnyBody>(
    path: string,
    body: AnyBody = {},
    key?: string,
  ): Promise<Answer<Body>> {
    const headers = key === undefined ? {} : { 'idempotency-key': key }
    return request<Body>('POST', `/v1/billing/${path}`, { body, headers })
  }

  /** The session of a checkout. */
  async function sessionOf({ body }: Answer<AnyBody>): Promise<string> {
    const found = await platform.store.payments.checkout(String(body['id']))
    if (typeof found?.session_id !== 'string')
      throw new Error(`no session: ${JSON.stringify(body)}`)
    return found.session_id
  }

  return {
    ...world,
    ...walletOf(world),
    clock,
    processor,
    till,
    failing,
    warnings,
    send,
    work,
    deliver,
    post,
    sessionOf,
    counts,
    sweep: () => sweepPayments(platform, NEVER, counts, sweeps),
    findChanged: () => findChanged(platform, { name: 'memory', processor }, NEVER),
    /** A paid top-up that nothing was told of yet; the charge. */
    async payTopup(micros: number, key: string): Promise<string> {
      const session = await sessionOf(await post('topup', { amount_micros: micros }, key))
      await till.pay(session)
      return chargeOf(session)
    },
    async payPro(): Promise<string> {
      const session = await sessionOf(await post('subscribe', { plan: 'pro' }))
      await till.pay(session)
      const [fact] = await memory.fetchFacts({ kind: 'checkout', id: session }, NEVER)
      if (fact?.kind !== 'checkout' || fact.subscription_id === null) throw new Error('not paid')
      return fact.subscription_id
    },
  }

  async function chargeOf(session: string): Promise<string> {
    const [fact] = await memory.fetchFacts({ kind: 'checkout', id: session }, NEVER)
    if (fact?.kind !== 'checkout' || fact.payment === null) throw new Error('no payment')
    return fact.payment.charge_id
  }
}
