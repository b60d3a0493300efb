import type { Engine } from '../../lib/engine/engine.ts'
import type { Clock } from '../../lib/engine/ports.ts'
import { DAY, HOUR } from '../../lib/time.ts'
import { createBilling } from '../../daemon/billing/billing.ts'
import { readPrices } from '../../daemon/billing/prices.ts'
import { createPaymentCounts } from '../../daemon/billing/payments/counts.ts'
import { createEventHandler } from '../../daemon/billing/payments/events-job.ts'
import { receiveEvent } from '../../daemon/billing/payments/intake.ts'
import { sweepPayments } from '../../daemon/billing/payments/sweep.ts'
import { createWorkAvailable } from '../../daemon/composition/work-available.ts'
import { startCheckout } from '../../daemon/families/billing/checkout.ts'
import type { Runner } from '../../daemon/jobs/runner.ts'
import { createRunner, jobTimes } from '../../daemon/jobs/runner.ts'
import type { Platform } from '../../daemon/platform.ts'
import type { Fact, ObjectRef, PaymentProcessor } from '../../plugins/billing/contract.ts'
import { ProcessorError } from '../../plugins/billing/contract.ts'
import type { MemoryProcessor } from '../../plugins/billing/memory.ts'
import { createMemoryProcessor } from '../../plugins/billing/memory.ts'
import { arrange } from '../../plugins/billing/memory/arrange.ts'
import type { Answers, Step } from './ledger-steps.ts'
import { USER_STEPS } from './ledger-steps.ts'
import type { LedgerDefect, LedgerWorld, Stepped } from './ledger-world.ts'
import { createLedgerWorld } from './ledger-world.ts'
import type { LedgerRun } from './ledger.ts'
import { runSteps } from './ledger.ts'
import type { ModelPayment, PaymentsModel, Subscription } from './payments-model.ts'
import { MONTHLY, MONTHLY_DAYS, PRICE, createPaymentsModel } from './payments-model.ts'

/** A processor as a mistake of ours would read it. */
export type ProcessorDefect = (processor: PaymentProcessor) => PaymentProcessor

export interface PaymentDefects {
  readonly ledger?: LedgerDefect
  readonly processor?: ProcessorDefect
}

/** The memory processor takes whole hundredths; the model of the ledger remembers every micro. */
const CENT = 10_000
/** Beyond this nothing that was lost is looked for. */
const LONGEST_LOSS = 15 * DAY
const NEVER = new AbortController().signal
const COUNTS = createPaymentCounts()

interface World extends LedgerWorld {
  readonly platform: Platform
  readonly memory: MemoryProcessor
  readonly runner: Runner
  payments: PaymentsModel
  /** The processor's clock, which is right. */
  truth: number
  /** When nothing was lost or on its way. */
  settled: number
  /** What was fetched in this step. */
  readonly fetched: ObjectRef[]
  /** What was published in this step. */
  readonly published: string[]
  /** Fetches that fail. */
  failing: number
  /** Events on their way. */
  onTheirWay: Uint8Array[]
}

/**
 * As `simulateLedger`, with the product's own intake, events, facts and sweep in between: the model is told
 * what customers and banks did, and which object the product fetched. Every so often all of it must be known.
 */
export async function simulatePayments(
  stepped: Stepped,
  seed: string,
  steps: number,
  { ledger = (one) => one, processor = (one) => one }: PaymentDefects = {},
): Promise<LedgerRun> {
  const base = createLedgerWorld(stepped, seed, ledger)
  const memory = createMemoryProcessor({
    clock: { now: () => world.truth },
    plan_micros: PRICE * CENT,
  })
  const fetched: ObjectRef[] = []
  const published: string[] = []
  const watched = processor(inMicros(memory))
  const processing = {
    // Its ids are those of other runs.
    name: `memory ${seed}`,
    processor: {
      ...watched,
      async fetchFacts(ref: ObjectRef, signal: AbortSignal) {
        if (world.failing > 0) {
          world.failing -= 1
          throw new ProcessorError('unavailable', { internal: 'the step says so' })
        }
        fetched.push(ref)
        return watched.fetchFacts(ref, signal)
      },
    },
  }
  const clock: Clock = {
    now: () => world.now,
    steady: () => world.truth,
    after: () => () => undefined,
    taken: () => Promise.resolve(),
  }
  // Ids in the order in which they are made, and of no other run on the database.
  let ids = 0
  const newId = (): string => `${seed} ${String((ids += 1)).padStart(9, '0')}`
  const engine: Pick<Engine, 'newEvent' | 'publishIn'> = {
    newEvent: (account_id, type, _, now = 0, app_id = null) => {
      const body = new Uint8Array()
      return { id: newId(), account_id, app_id, type, created_at: now, body, supplied: false }
    },
    async publishIn(_, events) {
      published.push(...events.map(({ type }) => type))
      return events.map(() => 'stored')
    },
  }
  const { store } = stepped
  const prices = readPrices(PRICES)
  const billing = createBilling({
    mode: 'memory',
    processing,
    currency: 'USD',
    prices,
    engine,
    clock,
    newId,
  })
  const platform = {
    store: {
      ...store,
      write: (work: Parameters<typeof store.write>[0]) =>
        store.write((tx) => work({ ...tx, ledger: ledger(tx.ledger) })),
    },
    clock,
    newId,
    billing,
    engine,
    workAvailable: createWorkAvailable(),
  } as unknown as Platform
  const handler = createEventHandler(platform, () => undefined, processing, COUNTS)
  const world: World = {
    ...base,
    platform,
    memory,
    runner: createRunner(platform, handler, jobTimes('billing_event'), () => undefined),
    payments: createPaymentsModel(base.model, processing.name),
    truth: base.now,
    settled: base.now,
    fetched,
    published,
    failing: 0,
    onTheirWay: [],
  }
  return runSteps(world, { table: STEPS, seed, steps, moveClock, begun, ending: settle })
}

const PRICES = JSON.stringify({
  versions: [
    {
      version: 'v1',
      effective_at: '1970-01-01T00:00:00Z',
      plans: {
        pro: {
          price_micros: PRICE,
          monthly_credit_micros: MONTHLY,
          credit_expires_days: MONTHLY_DAYS,
        },
      },
      topup: { min_micros: 1, max_micros: 1000 },
      operations: Object.fromEntries(
        ['apps.create', 'edits.create', 'files.upload'].map((operation) => [
          operation,
          { meter: 'units', price_micros: 1, per: 1 },
        ]),
      ),
    },
  ],
})

/** Its amounts, smaller. */
function inMicros(memory: MemoryProcessor): PaymentProcessor {
  return {
    ...memory,
    createCheckout: (asked) =>
      memory.createCheckout({
        ...asked,
        amount_micros: asked.amount_micros === null ? null : asked.amount_micros * CENT,
      }),
    async fetchFacts(ref, signal) {
      return (await memory.fetchFacts(ref, signal)).map(smaller)
    },
  }
}

function smaller(fact: Fact): Fact {
  const text = JSON.stringify(fact, (name, value: unknown) =>
    /^amount_(due_|paid_)?micros$/.test(name) ? Number(value) / CENT : value,
  )
  return JSON.parse(text) as Fact
}

/** New accounts, all of them on the free plan. */
async function begun(world: World): Promise<void> {
  const { now, store, accounts, platform } = world
  world.payments = createPaymentsModel(world.model, platform.billing.processing?.name ?? '')
  await store.write(async (tx) => {
    for (const id of accounts) {
      await tx.accounts.insert({
        id,
        name: id,
        plan: 'free',
        key_limit: null,
        suspended_at: null,
        created_at: now,
        updated_at: now,
      })
    }
  })
}

/** The processor's time goes on; ours is right, behind, or ahead. */
function moveClock(world: World): void {
  const { random } = world
  world.fetched.length = 0
  world.published.length = 0
  const skew = world.now - world.truth
  world.truth += random.oneIn(60) ? LONGEST_LOSS : random.below(3 * HOUR)
  const skews = [0, 0, 0 - random.below(2 * DAY), random.below(12 * HOUR)]
  world.now = world.truth + (random.oneIn(15) ? (random.pickAny(skews) ?? 0) : skew)
}

/** Every fetch is told to the model, which says what must have been published of it. */
function answer(world: World, expected: unknown = null, found: unknown = null): Answers {
  const { fetched, published, payments, now, touched } = world
  const told: string[] = []
  for (const ref of fetched.splice(0)) {
    const { account, events } = payments.apply(ref, now)
    if (account !== undefined) touched.add(account)
    told.push(...events)
  }
  const seen = published.splice(0).filter((type) => type !== 'billing.subscription_changed')
  return {
    expected: { answer: expected, events: told },
    found: { answer: found, events: seen },
  }
}

const anyAccount = (world: World): string => world.random.pickAny(world.accounts) ?? ''

async function checkOut(
  world: World,
  kind: 'topup' | 'subscribe',
  account: string,
  amount: number | null,
): Promise<string> {
  const { platform, store, random } = world
  const call = {
    platform,
    principal: { type: 'operator', account_id: account },
    idempotencyKey: random.oneIn(2) ? undefined : `${account} ${world.number++}`,
    requestId: 'request',
    ip: '',
    now: world.now,
    unit: (work: Parameters<typeof store.write>[0]) => platform.store.write(work),
  } as unknown as Parameters<typeof startCheckout>[0]
  const pages = { success_url: 'https://a.example/', cancel_url: 'https://a.example/' }
  return startCheckout(call, { kind, amount, ...pages }).then(
    ({ session_id }) => session_id,
    (cause: unknown) => String((cause as { readonly code?: unknown }).code),
  )
}

async function buy(world: World): Promise<Answers> {
  const { random, memory, payments } = world
  const account = anyAccount(world)
  const amount = 1 + random.below(40)
  const session = await checkOut(world, 'topup', account, amount)
  const how = random.pickAny(['paid', 'paid', 'paid', 'later', 'never'] as const) ?? 'paid'
  if (how === 'paid') await memory.till.pay(session)
  if (how === 'later') await memory.till.payLater(session)
  if (how === 'never') await (random.oneIn(2) ? memory.till.expire(session) : undefined)
  const [fact] = await memory.fetchFacts({ kind: 'checkout', id: session }, NEVER)
  if (fact?.kind !== 'checkout') throw new Error('there is a checkout')
  const charge = fact.payment?.charge_id
  payments.addTopup({
    session,
    account,
    amount,
    origin: String(fact.checkout_id),
    status: how === 'never' ? 'open' : how,
    charge,
  })
  return answer(world)
}

/** A payment that took days arrives, or fails. */
async function endLater(world: World): Promise<Answers> {
  const { random, memory, payments } = world
  const topup = random.pickAny(payments.topups.filter(({ status }) => status === 'later'))
  if (topup === undefined) return answer(world)
  const isPaid = random.oneIn(2)
  if (isPaid) await memory.till.settle(topup.session)
  else await memory.till.failLater(topup.session)
  topup.status = isPaid ? 'paid' : 'failed'
  return answer(world)
}

async function subscribe(world: World): Promise<Answers> {
  const { memory, payments, now } = world
  const account = anyAccount(world)
  const session = await checkOut(world, 'subscribe', account, null)
  const isPaying = payments.planOf(account, now) === 'pro'
  if (isPaying || session === 'already_subscribed') {
    return answer(world, isPaying, session === 'already_subscribed')
  }
  const [open] = await memory.fetchFacts({ kind: 'checkout', id: session }, NEVER)
  // An earlier one is told of again until it is known to be complete.
  if (open?.kind !== 'checkout' || open.status !== 'open') return answer(world)
  await memory.till.pay(session)
  const [fact] = await memory.fetchFacts({ kind: 'checkout', id: session }, NEVER)
  const subscription = fact?.kind === 'checkout' ? (fact.subscription_id ?? '') : ''
  payments.addSubscription(subscription, account, world.truth)
  await noteBills(world)
  return answer(world)
}

/** The model learns the ids of what a step made, and nothing else of it. */
async function noteBills({ memory, payments }: World): Promise<void> {
  const { refs } = await everything(memory)
  for (const { kind, id } of refs) {
    if (kind !== 'invoice' || payments.bills.some((bill) => bill.id === id)) continue
    const [fact] = await memory.fetchFacts({ kind, id }, NEVER)
    if (fact?.kind !== 'invoice') continue
    payments.addBill({
      id,
      subscription: fact.subscription_id ?? '',
      due: fact.amount_due_micros / CENT,
      isPaid: fact.status === 'paid',
      grants: fact.reason !== 'other',
      charge: fact.charge_id,
    })
  }
}

/** The last page of what changed. */
async function everything(memory: MemoryProcessor): Promise<{ readonly refs: ObjectRef[] }> {
  const refs: ObjectRef[] = []
  const since = memory.till.now() - 1
  for (let cursor: string | null = null; ;) {
    const page = await memory.changedSince(since, cursor, NEVER)
    refs.push(...page.refs)
    cursor = page.cursor
    if (cursor === null) return { refs }
  }
}

function anyLive({ random, payments }: World): Subscription | undefined {
  return random.pickAny(payments.subscriptions.filter(({ now }) => now.status !== 'canceled'))
}

async function cycle(world: World): Promise<Answers> {
  const { random, memory, payments } = world
  const one = anyLive(world)
  if (one === undefined) return answer(world)
  const how = random.pickAny(['paid', 'paid', 'unpaid', 'coupon'] as const) ?? 'paid'
  await memory.till.cycle(one.id, how)
  payments.cycle(one, how !== 'unpaid', world.truth)
  await noteBills(world)
  return answer(world)
}

async function recover(world: World): Promise<Answers> {
  const { memory, payments } = world
  const one = anyLive(world)
  if (one === undefined) return answer(world)
  await memory.till.recover(one.id)
  one.now = { ...one.now, status: 'active', past_due_since: null }
  for (const bill of payments.bills) {
    if (bill.subscription !== one.id || bill.isPaid) continue
    const [fact] = await memory.fetchFacts({ kind: 'invoice', id: bill.id }, NEVER)
    bill.isPaid = true
    bill.charge = fact?.kind === 'invoice' ? fact.charge_id : null
  }
  return answer(world)
}

async function prorate(world: World): Promise<Answers> {
  const one = anyLive(world)
  if (one !== undefined) await world.memory.till.prorate(one.id)
  await noteBills(world)
  return answer(world)
}

async function leave(world: World): Promise<Answers> {
  const { random, memory } = world
  const one = anyLive(world)
  if (one === undefined) return answer(world)
  if (random.oneIn(2)) {
    await memory.cancelSubscription(one.id, one.id)
    const { period_end, cancel_at } = one.now
    one.now = { ...one.now, cancel_at: cancel_at ?? period_end }
  } else {
    await memory.till.end(one.id)
    const cancel_at = one.now.cancel_at ?? world.truth
    one.now = { ...one.now, status: 'canceled', past_due_since: null, cancel_at }
  }
  return answer(world)
}

/** Payments that have arrived. */
function anyPaid({ random, payments }: World): ModelPayment | undefined {
  return random.pickAny(payments.paid())
}

async function refundOrDispute(world: World): Promise<Answers> {
  const { random, memory, payments } = world
  const payment = anyPaid(world)
  if (payment === undefined) return answer(world)
  const { charge, amount } = payment
  const items = payments.items(charge)
  const returned = items
    .filter(({ kind, active }) => kind === 'refund' && active)
    .reduce((sum, one) => sum + one.amount, 0)
  if (random.oneIn(2) && returned < amount) {
    const part = random.oneIn(2) ? amount - returned : 1 + random.below(amount - returned)
    const id = await memory.till.refund(charge, part * CENT)
    items.push({ id, kind: 'refund', amount: part, active: true })
  } else {
    const part = 1 + random.below(amount)
    const id = await memory.till.dispute(charge, part * CENT)
    items.push({ id, kind: 'dispute', amount: part, active: true })
  }
  return answer(world)
}

async function winOrFail(world: World): Promise<Answers> {
  const { random, memory, payments } = world
  const all = payments.paid().flatMap(({ charge }) => payments.items(charge))
  const item = random.pickAny(all.filter(({ active }) => active))
  if (item === undefined) return answer(world)
  if (item.kind === 'refund') await memory.till.failRefund(item.id)
  else await memory.till.win(item.id)
  item.active = false
  return answer(world)
}

/** Some events arrive, repeated and in any order; some are lost, and some are on their way for longer. */
async function deliver(world: World): Promise<Answers> {
  const { random, memory, platform } = world
  const { processing } = platform.billing
  if (processing === undefined) throw new Error('there is a processor')
  const sent = await memory.till.take()
  world.onTheirWay.push(...sent.map(({ body }) => body))
  const seed = String(world.number++)
  const order = random.pickAny(['as_sent', 'reverse', 'random'] as const) ?? 'random'
  const copies = 1 + random.below(3)
  const lose = random.oneIn(3) ? random.below(3) : 0
  const all = arrange(world.onTheirWay, { order, seed, copies, lose })
  const later = random.oneIn(3) ? random.below(all.length + 1) : 0
  for (const body of all.slice(later)) {
    const { headers } = memory.till.sign(body, world.now)
    await receiveEvent(platform, processing, { headers, body })
  }
  world.onTheirWay = all.slice(0, later)
  return answer(world)
}

/** Some of what waits is fetched and applied. */
async function work(world: World): Promise<Answers> {
  for (let left = 1 + world.random.below(4); left > 0; left -= 1) {
    if (!(await world.runner.runNext(NEVER))) break
  }
  return answer(world)
}

async function failSome(world: World): Promise<Answers> {
  world.failing += 1 + world.random.below(3)
  return answer(world)
}

async function sweep(world: World): Promise<Answers> {
  await sweepPayments(world.platform, NEVER, COUNTS)
  world.payments.endPlans(world.now)
  return answer(world)
}

/** Nothing is on its way any more: what was lost is found within a day, and then all is as it must be. */
async function settle(world: World): Promise<Answers> {
  world.onTheirWay = []
  await world.memory.till.take()
  world.now = world.truth
  const answers = [await applyAll(world)]
  // The last search of a month may have been noted by a clock that was half a day ahead.
  for (const passed of [2 * DAY, HOUR]) {
    world.truth += passed
    world.now = world.truth
    await sweepPayments(world.platform, NEVER, COUNTS)
    world.payments.endPlans(world.now)
    answers.push(await applyAll(world))
  }
  world.settled = world.truth
  return {
    expected: [...answers.map(({ expected }) => expected), []],
    found: [...answers.map(({ found }) => found), world.payments.unknown(world.now)],
  }
}

/** One after the other, each compared at its own instant. */
async function applyAll(world: World): Promise<Answers> {
  const expected: unknown[] = []
  const found: unknown[] = []
  world.failing = 0
  for (;;) {
    const ran = await world.runner.runNext(NEVER)
    const one = answer(world)
    expected.push(one.expected)
    found.push(one.found)
    if (ran) continue
    const [row] = await world.client.read(
      `SELECT count(*) AS n FROM keyhook_jobs WHERE kind = 'billing_event'`,
    )
    if (Number(row?.['n']) === 0) return { expected, found }
    world.truth += HOUR
    world.now = world.truth
  }
}

/** The plan of an account by what is known of its subscriptions, and the one that is stored. */
async function comparePlans(world: World): Promise<Answers> {
  const { platform, store, payments, now } = world
  const expected = world.accounts.map((id) => [payments.planOf(id, now), payments.stored(id)])
  const found = await Promise.all(
    world.accounts.map(async (id) => [
      await platform.billing.planOf(store, id, now),
      (await store.accounts.get(id))?.plan,
    ]),
  )
  return answer(world, expected, found)
}

/** Before more than a month has passed, beyond which nothing is looked for. */
const settleFirst =
  (run: (world: World) => Promise<Answers>) =>
  async (world: World): Promise<Answers> => {
    if (world.truth - world.settled < LONGEST_LOSS) return run(world)
    return settle(world)
  }

const PAYMENT_STEPS: readonly Step<World>[] = [
  ['buy credit', buy],
  ['buy credit', buy],
  ['late payment', endLater],
  ['subscribe', subscribe],
  ['month', cycle],
  ['month', cycle],
  ['recover', recover],
  ['proration', prorate],
  ['leave', leave],
  ['refund or dispute', refundOrDispute],
  ['refund or dispute', refundOrDispute],
  ['win or fail', winOrFail],
  ['deliver', deliver],
  ['deliver', deliver],
  ['deliver', deliver],
  ['work', work],
  ['work', work],
  ['work', work],
  ['work', work],
  ['processor away', failSome],
  ['sweep', sweep],
  ['plans', comparePlans],
]

const STEPS: readonly [Step<World>, ...Step<World>[]] = [
  ['settle', settle],
  ...PAYMENT_STEPS.map(([name, run]): Step<World> => [name, settleFirst(run)]),
  ...USER_STEPS,
]
