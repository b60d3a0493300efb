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
import { createRunner, jobTimes } from '../../daemon/jobs/runner.ts'
import type { Platform } from '../../daemon/platform.ts'
import type { Fact, ObjectRef, PaymentProcessor } from '../../plugins/billing/contract.ts'
import { ProcessorError } from '../../plugins/billing/contract.ts'
import type { MemoryProcessor } from '../../plugins/billing/memory.ts'
import { createMemoryProcessor } from '../../plugins/billing/memory.ts'
import { arrange } from '../../plugins/billing/memory/arrange.ts'
import type { Answers, Step } from './ledger-steps.ts'
import { USER_STEPS } from './ledger-steps.ts'
import type { LedgerDefect, Stepped } from './ledger-world.ts'
import { createLedgerWorld } from './ledger-world.ts'
import type { LedgerRun } from './ledger.ts'
import { runSteps } from './ledger.ts'
import {
  buy,
  cycle,
  endLater,
  leave,
  prorate,
  recover,
  refundOrDispute,
  subscribe,
  winOrFail,
} from './payments-customers.ts'
import { MONTHLY, MONTHLY_DAYS, PRICE, createPaymentsModel } from './payments-model.ts'
import type { PaymentsWorld } from './payments-world.ts'
import { CENT, NEVER, answer } from './payments-world.ts'

/** A processor as a mistake of ours would read it. */
export type ProcessorDefect = (processor: PaymentProcessor) => PaymentProcessor

export interface PaymentDefects {
  readonly ledger?: LedgerDefect
  readonly processor?: ProcessorDefect
}

/** Beyond this nothing that was lost is looked for. */
const LONGEST_LOSS = 15 * DAY
const COUNTS = createPaymentCounts()

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
  const world: PaymentsWorld = {
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
async function begun(world: PaymentsWorld): Promise<void> {
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
function moveClock(world: PaymentsWorld): void {
  const { random } = world
  world.fetched.length = 0
  world.published.length = 0
  const skew = world.now - world.truth
  world.truth += random.oneIn(60) ? LONGEST_LOSS : random.below(3 * HOUR)
  const skews = [0, 0, 0 - random.below(2 * DAY), random.below(12 * HOUR)]
  world.now = world.truth + (random.oneIn(15) ? (random.pickAny(skews) ?? 0) : skew)
}

/** Some events arrive, repeated and in any order; some are lost, and some are on their way for longer. */
async function deliver(world: PaymentsWorld): Promise<Answers> {
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
async function work(world: PaymentsWorld): Promise<Answers> {
  for (let left = 1 + world.random.below(4); left > 0; left -= 1) {
    if (!(await world.runner.runNext(NEVER))) break
  }
  return answer(world)
}

async function failSome(world: PaymentsWorld): Promise<Answers> {
  world.failing += 1 + world.random.below(3)
  return answer(world)
}

async function sweep(world: PaymentsWorld): Promise<Answers> {
  await sweepPayments(world.platform, NEVER, COUNTS)
  world.payments.endPlans(world.now)
  return answer(world)
}

/** Nothing is on its way any more: what was lost is found within a day, and then all is as it must be. */
async function settle(world: PaymentsWorld): Promise<Answers> {
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
async function applyAll(world: PaymentsWorld): Promise<Answers> {
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
async function comparePlans(world: PaymentsWorld): Promise<Answers> {
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
  (run: (world: PaymentsWorld) => Promise<Answers>) =>
  async (world: PaymentsWorld): Promise<Answers> => {
    if (world.truth - world.settled < LONGEST_LOSS) return run(world)
    return settle(world)
  }

const PAYMENT_STEPS: readonly Step<PaymentsWorld>[] = [
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

const STEPS: readonly [Step<PaymentsWorld>, ...Step<PaymentsWorld>[]] = [
  ['settle', settle],
  ...PAYMENT_STEPS.map(([name, run]): Step<PaymentsWorld> => [name, settleFirst(run)]),
  ...USER_STEPS,
]
