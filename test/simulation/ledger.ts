import { isDeepStrictEqual } from 'node:util'
import type {
  ChargeState,
  Credit,
  KeyBudget,
  LedgerWrites,
  NewHold,
} from '../../plugins/platform/contract/ledger.ts'
import { DAY, HOUR } from '../../lib/time.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import type { SqlClient } from '../../plugins/store/sql/client.ts'
import type { SeededRandom } from '../support/seeded-random.ts'
import { createSeededRandom } from '../support/seeded-random.ts'
import type { LedgerModel, ModelAccount, ModelLot } from './ledger-model.ts'
import { countOf, createLedgerModel, heldOf, monthOf } from './ledger-model.ts'

/** Steps after which all accounts are new: the model remembers every micro. */
const GENERATION = 250
/** Steps from one verification of an account to the next; each reads all entries, so of all accounts it is rarer. */
const VERIFIED_EVERY = 500
const ALL_VERIFIED_EVERY = 10_000

const BUDGETS: readonly KeyBudget[] = [
  { key_id: 'root', monthly_micros: 120 },
  { key_id: 'child', monthly_micros: 50 },
]

const OPERATOR = { type: 'operator', id: null } as const

/** The ledger as a mistake would make it. */
export type LedgerDefect = (ledger: LedgerWrites) => LedgerWrites

export interface LedgerRun {
  readonly steps: number
  /** How many steps of each name there were. */
  readonly calls: ReadonlyMap<string, number>
  /** The first step after which ledger and model differ; null for none. */
  readonly difference: string | null
}

/** What a processor knows of a payment. */
interface Payment {
  readonly credit: Credit
  readonly charge_id: string
  readonly paid: number
  readonly items: { readonly amount: number; active: boolean }[]
}

interface World {
  readonly random: SeededRandom
  model: LedgerModel
  readonly store: PlatformStore
  readonly client: SqlClient
  readonly defect: LedgerDefect
  /** Ids of accounts that are in use. */
  accounts: readonly string[]
  /** Those that the step may have changed. */
  readonly touched: Set<string>
  now: number
  /** Numbers given out so far. */
  number: number
  readonly payments: Payment[]
  readonly credits: Credit[]
  /** Ids that the ledger gave to credits, by the account and key of the credit. */
  readonly ids: Map<string, string>
}

/**
 * Random steps of users, the operator and a processor on a ledger and on a model of it by brute force; the
 * answers and all rows of the accounts are compared after each. The same seed makes the same steps.
 */
export async function simulateLedger(
  { store, client }: Pick<World, 'store' | 'client'>,
  seed: string,
  steps: number,
  defect: LedgerDefect = (ledger) => ledger,
): Promise<LedgerRun> {
  const world: World = {
    random: createSeededRandom(seed),
    model: createLedgerModel(),
    store,
    client,
    defect,
    accounts: [],
    touched: new Set(),
    now: Date.UTC(2026, 0, 20),
    number: 0,
    payments: [],
    credits: [],
    ids: new Map(),
  }
  const calls = new Map<string, number>()
  for (let step = 0; step < steps; step += 1) {
    if (step % GENERATION === 0) await begin(world, seed, step)
    moveClock(world)
    const [name, run] = world.random.pick(STEPS)
    calls.set(name, (calls.get(name) ?? 0) + 1)
    const difference = await takeStep(world, run, step + 1, steps).catch(String)
    if (difference !== null) {
      return { steps: step, calls, difference: `step ${step} (${name}): ${difference}` }
    }
  }
  return { steps, calls, difference: null }
}

/** Answers in what ledger and model differ after a step; null for nothing. */
async function takeStep(
  world: World,
  run: Step[1],
  number: number,
  steps: number,
): Promise<string | null> {
  world.touched.clear()
  const { expected, found } = await run(world)
  if (!isDeepStrictEqual(found, expected)) return told({ expected, found })
  const differing = await compare(world)
  if (differing !== undefined) return differing
  const isLast = number === steps
  const accounts =
    isLast || number % ALL_VERIFIED_EVERY === 0
      ? [null]
      : number % VERIFIED_EVERY === 0
        ? world.accounts.slice(0, 1)
        : []
  for (const account of accounts) {
    const { differences } = await world.store.ledger.verify(account)
    if (differences.length > 0) return told(differences[0])
  }
  return null
}

const told = (value: unknown): string => JSON.stringify(value)

/** New accounts, with budgets of their own. Nothing of earlier ones is left to any sweep. */
async function begin(world: World, seed: string, step: number): Promise<void> {
  const later = world.now + 1000 * DAY
  await world.store.write(async (tx) => {
    await tx.ledger.expireHolds(later, 10_000)
    await tx.ledger.expireLots(later, 10_000)
  })
  world.model = createLedgerModel()
  world.accounts = ['a', 'b', 'c'].map((name) => `${seed} ${step} ${name}`)
  world.payments.length = 0
  world.credits.length = 0
}

/** Mostly onward, now and then to the next month, and sometimes back. */
function moveClock(world: World): void {
  const { random } = world
  if (random.oneIn(60)) world.now += 15 * DAY
  else if (random.oneIn(15)) world.now -= random.below(2 * DAY)
  else world.now += random.below(3 * HOUR)
}

interface Answers {
  readonly expected: unknown
  readonly found: unknown
}

function anyAccount({ random, accounts, touched }: World): string {
  const account = random.pickAny(accounts) ?? ''
  touched.add(account)
  return account
}

const call = <T>({ store, defect }: World, run: (ledger: LedgerWrites) => Promise<T>): Promise<T> =>
  store.write((tx) => run(defect(tx.ledger)))

async function addCredit(world: World, credit: Credit): Promise<Answers> {
  world.touched.add(credit.account_id)
  const expected = world.model.credit(credit)
  const posted = await call(world, (ledger) => ledger.credit(credit))
  if (posted !== undefined) world.ids.set(idKey(credit), posted.transaction_id)
  return { expected, found: posted && { low: posted.low } }
}

const idKey = ({ account_id, kind, origin_id }: Credit): string =>
  `${account_id} ${kind}:${origin_id}`

function newCredit(world: World, kind: Credit['kind']): Credit {
  const { random, now } = world
  const amount = 1 + random.below(kind === 'grant' ? 25 : 40)
  const expiries = [null, null, now + random.below(4 * DAY), now + 5 * DAY, now]
  return {
    account_id: anyAccount(world),
    currency: 'USD',
    kind,
    origin_id: `${(world.number += 1)} of ${world.accounts[0] ?? ''}`,
    amount,
    from_processor: kind === 'topup' ? amount : kind === 'grant' ? 0 : random.below(amount + 1),
    expires_at: random.pickAny(expiries) ?? null,
    note: null,
    actor: OPERATOR,
    now,
  }
}

/** A payment of the processor, told once, or told again later. */
function pay(kind: 'topup' | 'monthly_credit'): (world: World) => Promise<Answers> {
  return async (world) => {
    const credit = newCredit(world, kind)
    const paid = world.random.oneIn(3) ? 1 + world.random.below(90) : credit.amount
    world.payments.push({ credit, charge_id: credit.origin_id, paid, items: [] })
    // The first telling of some is lost, until one of another step repeats it.
    world.credits.push(credit)
    if (world.random.oneIn(6)) return { expected: null, found: null }
    return addCredit(world, credit)
  }
}

function newHold(world: World, account_id: string): NewHold {
  const { random, now } = world
  const operations = Array.from({ length: 12 }, (_, at) => `op_${at}`)
  const amount = 1 + random.below(14)
  return {
    id: `hold ${(world.number += 1)} ${account_id}`,
    operation_id: random.pickAny(operations) ?? '',
    account_id,
    operation: 'edits.create',
    meter: 'edits',
    quantity: 1,
    app_id: random.oneIn(2) ? 'app_1' : null,
    key_id: null,
    amount,
    price_version: 'v1',
    price: { price_micros: amount, per: 1, minimum_micros: 0 },
    deadline_at: now + random.below(2 * DAY),
    actor: OPERATOR,
    now,
  }
}

async function holdSome(world: World): Promise<Answers> {
  const { random } = world
  const account_id = anyAccount(world)
  const asked = Array.from({ length: 1 + random.below(3) }, () => newHold(world, account_id))
  const holds = asked.filter(
    ({ operation_id }, at) => asked.findIndex((one) => one.operation_id === operation_id) === at,
  )
  const chain = random.pick<readonly KeyBudget[]>([[], BUDGETS.slice(0, 1), BUDGETS])
  const budgets = chain.map(({ key_id, monthly_micros }) => ({
    key_id: `${key_id} of ${account_id}`,
    monthly_micros,
  }))
  return {
    expected: world.model.hold(holds, budgets),
    found: await call(world, (ledger) => ledger.hold(holds, budgets)),
  }
}

function anyWork(world: World): { readonly account_id: string; readonly operation_id: string } {
  return { account_id: anyAccount(world), operation_id: `op_${world.random.below(12)}` }
}

const endOf = (
  end: { readonly ended: boolean; readonly captured: number; readonly low: unknown } | undefined,
) => end && { ended: end.ended, captured: end.captured, low: end.low }

/** Changes what the processor knows of a payment, and tells it, unless the event is lost. */
async function changePayment(world: World): Promise<Answers> {
  const { random } = world
  const payment = random.pickAny(world.payments)
  if (payment === undefined) return { expected: null, found: null }
  if (random.oneIn(2)) {
    payment.items.push({ amount: 1 + random.below(payment.paid), active: true })
  } else {
    const item = random.pickAny(payment.items)
    if (item !== undefined) item.active = !item.active
  }
  return random.oneIn(4) ? { expected: null, found: null } : tellPayment(world, payment)
}

async function tellPayment(
  world: World,
  { credit, charge_id, paid, items }: Payment,
): Promise<Answers> {
  const { account_id } = credit
  world.touched.add(account_id)
  const charge: ChargeState = {
    account_id,
    processor: 'stripe',
    charge_id,
    credit_id: world.ids.get(idKey(credit)) ?? 'none',
    paid,
    items: world.random.oneIn(2) ? items : items.toReversed(),
  }
  const key = `${credit.kind}:${credit.origin_id}`
  const expected = world.model.reconcile(charge, key, world.now)
  const posted = await call(world, (ledger) => ledger.reconcile(charge, world.now))
  return { expected, found: posted?.map(({ amount }) => amount) }
}

type Step = readonly [name: string, run: (world: World) => Promise<Answers>]

/** The steps, the more frequent ones more than once. */
const STEPS: readonly [Step, ...Step[]] = [
  ['hold', holdSome],
  ['hold', holdSome],
  ['hold', holdSome],
  ['hold', holdSome],
  ['capture', captureOne],
  ['capture', captureOne],
  ['release', releaseOne],
  ['grant', (world) => addGrant(world)],
  ['topup', pay('topup')],
  ['monthly credit', pay('monthly_credit')],
  ['repeat', repeatCredit],
  ['refund or dispute', changePayment],
  ['refund or dispute', changePayment],
  ['sweep of payments', sweepPayment],
  ['revoke', revokeOne],
  ['usage', useOne],
  ['extend', extendOne],
  ['expire holds', expireHolds],
  ['expire lots', expireLots],
  ['threshold', setThreshold],
]

async function captureOne(world: World): Promise<Answers> {
  const work = anyWork(world)
  const charge = { amount: world.random.below(16), quantity: 1 + world.random.below(3) }
  const { now } = world
  return {
    expected: world.model.capture(work, charge, now),
    found: endOf(await call(world, (ledger) => ledger.capture(work, () => charge, now))),
  }
}

async function releaseOne(world: World): Promise<Answers> {
  const work = anyWork(world)
  return {
    expected: world.model.release(work, world.now),
    found: endOf(await call(world, (ledger) => ledger.release(work, world.now))),
  }
}

function addGrant(world: World): Promise<Answers> {
  const credit = newCredit(world, 'grant')
  world.credits.push(credit)
  return addCredit(world, credit)
}

/** A fact that is told again, or for the first time though later ones were told before. */
async function repeatCredit(world: World): Promise<Answers> {
  const credit = world.random.pickAny(world.credits)
  if (credit === undefined) return { expected: null, found: null }
  return addCredit(world, { ...credit, now: world.now })
}

async function sweepPayment(world: World): Promise<Answers> {
  const payment = world.random.pickAny(world.payments)
  return payment === undefined ? { expected: null, found: null } : tellPayment(world, payment)
}

async function revokeOne(world: World): Promise<Answers> {
  const credit = world.random.pickAny(world.credits)
  if (credit === undefined || !world.random.oneIn(3)) return { expected: null, found: null }
  const { account_id, kind, origin_id } = credit
  world.touched.add(account_id)
  const id = world.ids.get(idKey(credit)) ?? 'none'
  const expected = world.model.revoke(account_id, `${kind}:${origin_id}`, world.now)
  const found = await call(world, (ledger) => ledger.revoke(account_id, id, OPERATOR, world.now))
  return { expected, found: typeof found === 'object' ? found.amount : found }
}

async function useOne(world: World): Promise<Answers> {
  const { random, now } = world
  const usage = {
    account_id: anyAccount(world),
    currency: 'USD',
    key: `${random.below(40)} of ${world.accounts[0] ?? ''}`,
    operation: 'hosting.egress_bytes',
    meter: 'egress_bytes',
    quantity: random.below(1000),
    app_id: 'app_1',
    amount: 1 + random.below(12),
    price_version: 'v1',
    now,
  }
  const account = { ...usage, key: `${usage.key} ${usage.account_id}` }
  const expected = world.model.charge(account)
  const posted = await call(world, (ledger) => ledger.charge(account))
  return { expected, found: posted && { low: posted.low } }
}

async function extendOne(world: World): Promise<Answers> {
  const work = anyWork(world)
  const deadline = world.now + world.random.below(2 * DAY)
  return {
    expected: world.model.extend(work, deadline),
    found: await call(world, (ledger) => ledger.extend(work, deadline)),
  }
}

async function expireHolds(world: World): Promise<Answers> {
  const limit = touchAll(world)
  const expected = world.model.expireHolds(world.now, limit)
  const ends = await call(world, (ledger) => ledger.expireHolds(world.now, limit))
  return { expected: expected.toSorted(), found: ends.map(({ hold }) => hold.id).toSorted() }
}

/** Of a sweep: it may change any account. Answers its limit. */
function touchAll({ accounts, touched, random }: World): number {
  for (const account of accounts) touched.add(account)
  return 1 + random.below(5)
}

async function expireLots(world: World): Promise<Answers> {
  const limit = touchAll(world)
  // Which of two accounts' lots with the same expiry is taken first is the ledger's choice: by their ids.
  const ids = await lotIds(world)
  const order = (lot: ModelLot): string => ids.get(lot) ?? ''
  const expected = world.model.expireLots(world.now, limit, order)
  const posted = await call(world, (ledger) => ledger.expireLots(world.now, limit))
  return { expected, found: posted.length }
}

async function lotIds(world: World): Promise<ReadonlyMap<ModelLot, string>> {
  const rows = await world.client.read(
    `SELECT account_id, seq, id FROM lots WHERE ${world.client.dialect.among('account_id', '$1')}`,
    [JSON.stringify(world.accounts)],
  )
  const ids = new Map(
    rows.map((row) => [[row['account_id'], row['seq']].join(' '), String(row['id'])]),
  )
  const lots = world.accounts.flatMap((id) =>
    world.model.of(id).lots.map((lot) => [lot, ids.get(`${id} ${lot.seq}`) ?? ''] as const),
  )
  return new Map(lots)
}

async function setThreshold(world: World): Promise<Answers> {
  const account_id = anyAccount(world)
  const micros = world.random.oneIn(4) ? null : world.random.below(60)
  const { now } = world
  const given = { account_id, currency: 'USD', micros, now }
  return {
    expected: world.model.setLowBalance(account_id, micros, now),
    found: await call(world, (ledger) => ledger.setLowBalance(given)),
  }
}

/** The first thing in which the rows of the accounts differ from the model. */
async function compare(world: World): Promise<string | undefined> {
  const { client, model, now } = world
  for (const id of world.touched) {
    const account = model.of(id)
    const found = await rowsOf(world, id)
    const expected = expectedRows(world, account)
    for (const [what, value] of Object.entries(expected)) {
      const stored = found[what as keyof typeof found]
      if (!isDeepStrictEqual(stored, value)) {
        return `${what} of ${id} at ${now}: ${told({ expected: value, found: stored })}`
      }
    }
  }
  const unbalanced = await client.read(
    `SELECT made.id FROM ledger_transactions made
     JOIN ledger_entries entry ON entry.transaction_id = made.id
     WHERE ${client.dialect.among('made.account_id', '$1')}
     GROUP BY made.id HAVING SUM(entry.amount) <> 0`,
    [JSON.stringify([...world.touched])],
  )
  return unbalanced.length === 0 ? undefined : `transactions do not balance: ${told(unbalanced)}`
}

function expectedRows({ model, now }: World, account: ModelAccount) {
  const ofSource = (source: string): number =>
    account.lots
      .filter((lot) => lot.source === source && lot.expires_at > now)
      .reduce((sum, lot) => sum + countOf(lot, 'left'), 0)
  const held = account.lots.reduce((sum, lot) => sum + heldOf(lot), 0)
  const keys = BUDGETS.map(({ key_id }) => `${key_id} of ${account.id}`)
  return {
    wallet: account.exists
      ? {
          paid: ofSource('paid'),
          granted: ofSource('granted'),
          held,
          debt: account.debt,
          available: model.available(account, now),
          low_balance: account.low_balance,
          isLow: account.isLow,
        }
      : undefined,
    transactions: account.transactions,
    lots: account.lots.map((lot) =>
      [
        lot.source,
        lot.micros.length,
        countOf(lot, 'left'),
        heldOf(lot),
        countOf(lot, 'spent'),
        countOf(lot, 'expired'),
        countOf(lot, 'clawed'),
        lot.expires_at,
      ].join(' '),
    ),
    holds: account.holds.map(({ asked, state, captured, deadline_at }) =>
      [asked.operation_id, state, captured, deadline_at].join(' '),
    ),
    budgets: keys.map((key) => model.used(key, monthOf(now))),
    usage: { count: account.charges, charged: account.charged },
  }
}

async function rowsOf({ client, store, now }: World, account_id: string) {
  const { ledger } = store
  const wallet = await ledger.wallet(account_id, now)
  const [counted] = await client.read(
    'SELECT count(*) AS count FROM ledger_transactions WHERE account_id = $1',
    [account_id],
  )
  const lots = await client.read('SELECT * FROM lots WHERE account_id = $1 ORDER BY seq', [
    account_id,
  ])
  const holds = await client.read('SELECT * FROM holds WHERE account_id = $1 ORDER BY seq', [
    account_id,
  ])
  const keys = BUDGETS.map(({ key_id }) => `${key_id} of ${account_id}`)
  const spending = await ledger.keySpending(keys, now)
  const columns = ['granted', 'remaining', 'held', 'spent', 'expired', 'clawed', 'expires_at']
  return {
    wallet: wallet && {
      paid: wallet.paid,
      granted: wallet.granted,
      held: wallet.held,
      debt: wallet.debt,
      available: wallet.available,
      low_balance: wallet.low_balance,
      isLow: wallet.low_since !== null,
    },
    transactions: Number(counted?.['count']),
    lots: lots.map((row) => [row['source'], ...columns.map((name) => row[name])].join(' ')),
    holds: holds.map((row) =>
      [row['operation_id'], row['state'], row['captured'] ?? 0, row['deadline_at']].join(' '),
    ),
    budgets: keys.map((key) => {
      const { held, spent } = spending.find((one) => one.key_id === key) ?? { held: 0, spent: 0 }
      return held + spent
    }),
    usage: await ledger.usageTotals({ account_id, from: '0', to: '9' }),
  }
}
