import type {
  ChargeState,
  Credit,
  KeyBudget,
  LedgerWrites,
  NewHold,
} from '../../plugins/platform/contract/ledger.ts'
import { DAY } from '../../lib/time.ts'
import { OPERATOR, sampleCredit, sampleHold } from '../platform/ledger-samples.ts'
import type { ModelLot } from './ledger-model.ts'
import type { LedgerWorld, Payment, World } from './ledger-world.ts'
import { BUDGETS } from './ledger-world.ts'

/** What the model says of a step, and what the ledger does. */
export interface Answers {
  readonly expected: unknown
  readonly found: unknown
}

function anyAccount({ random, accounts, touched }: LedgerWorld): string {
  const account = random.pickAny(accounts) ?? ''
  touched.add(account)
  return account
}

const call = <T>(
  { store, defect }: LedgerWorld,
  run: (ledger: LedgerWrites) => Promise<T>,
): Promise<T> => store.write((tx) => run(defect(tx.ledger)))

async function addCredit(world: LedgerWorld, credit: Credit): Promise<Answers> {
  world.touched.add(credit.account_id)
  const expected = world.model.credit(credit)
  const posted = await call(world, (ledger) => ledger.credit(credit))
  if (posted !== undefined) world.ids.set(idKey(credit), posted.transaction_id)
  return { expected, found: posted && { low: posted.low } }
}

const idKey = ({ account_id, kind, origin_id }: Credit): string =>
  `${account_id} ${kind}:${origin_id}`

function newCredit(world: LedgerWorld, kind: Credit['kind']): Credit {
  const { random, now } = world
  const amount = 1 + random.below(kind === 'grant' ? 25 : 40)
  const expiries = [null, null, now + random.below(4 * DAY), now + 5 * DAY, now]
  return sampleCredit(`${(world.number += 1)} of ${world.accounts[0] ?? ''}`, {
    account_id: anyAccount(world),
    kind,
    amount,
    from_processor: kind === 'topup' ? amount : kind === 'grant' ? 0 : random.below(amount + 1),
    expires_at: random.pickAny(expiries) ?? null,
    now,
  })
}

/** A payment of the processor, told once, or told again later. */
function pay(kind: 'topup' | 'monthly_credit'): (world: World) => Promise<Answers> {
  return async (world) => {
    const credit = newCredit(world, kind)
    const paid = world.random.oneIn(3) ? 1 + world.random.below(90) : credit.amount
    const { origin_id: charge_id } = credit
    const second = world.random.oneIn(4) ? 1 + world.random.below(30) : 0
    const total = paid + second
    world.payments.push({ credit, charge_id, paid, total, items: [] })
    if (second > 0) {
      const other = { charge_id: `${charge_id} too`, paid: second, total }
      world.payments.push({ credit, ...other, items: [] })
    }
    // The first telling of some is lost, until one of another step repeats it.
    world.credits.push(credit)
    if (world.random.oneIn(6)) return { expected: null, found: null }
    return addCredit(world, credit)
  }
}

function newHold(world: LedgerWorld, account_id: string): NewHold {
  const { random, now } = world
  const operations = Array.from({ length: 12 }, (_, at) => `op_${at}`)
  const amount = 1 + random.below(14)
  return sampleHold(random.pickAny(operations) ?? '', {
    id: `hold ${(world.number += 1)} ${account_id}`,
    account_id,
    app_id: random.oneIn(2) ? 'app_1' : null,
    amount,
    price: { price_micros: amount, per: 1, minimum_micros: 0 },
    deadline_at: now + random.below(2 * DAY),
    now,
  })
}

async function holdSome(world: LedgerWorld): Promise<Answers> {
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

function anyWork(world: LedgerWorld): {
  readonly account_id: string
  readonly operation_id: string
} {
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
  { credit, charge_id, paid, total, items }: Payment,
): Promise<Answers> {
  const { account_id } = credit
  world.touched.add(account_id)
  const charge: ChargeState = {
    account_id,
    processor: 'stripe',
    charge_id,
    credit_id: world.ids.get(idKey(credit)) ?? 'none',
    paid,
    total,
    items: world.random.oneIn(2) ? items : items.toReversed(),
  }
  const key = `${credit.kind}:${credit.origin_id}`
  const expected = world.model.reconcile(charge, key, world.now)
  const posted = await call(world, (ledger) => ledger.reconcile(charge, world.now))
  return { expected, found: posted?.map(({ amount }) => amount) }
}

export type Step<Of extends LedgerWorld> = readonly [
  name: string,
  run: (world: Of) => Promise<Answers>,
]

/** What users and the operator do, the more frequent more than once. */
export const USER_STEPS: readonly Step<LedgerWorld>[] = [
  ['hold', holdSome],
  ['hold', holdSome],
  ['hold', holdSome],
  ['hold', holdSome],
  ['capture', captureOne],
  ['capture', captureOne],
  ['release', releaseOne],
  ['grant', (world) => addGrant(world)],
  ['repeat', repeatCredit],
  ['revoke', revokeOne],
  ['usage', useOne],
  ['extend', extendOne],
  ['expire holds', expireHolds],
  ['expire lots', expireLots],
  ['threshold', setThreshold],
]

export const STEPS: readonly [Step<World>, ...Step<World>[]] = [
  ['topup', pay('topup')],
  ['monthly credit', pay('monthly_credit')],
  ['refund or dispute', changePayment],
  ['refund or dispute', changePayment],
  ['sweep of payments', sweepPayment],
  ...USER_STEPS,
]

async function captureOne(world: LedgerWorld): Promise<Answers> {
  const work = anyWork(world)
  const charge = { amount: world.random.below(16), quantity: 1 + world.random.below(3) }
  const { now } = world
  return {
    expected: world.model.capture(work, charge, now),
    found: endOf(await call(world, (ledger) => ledger.capture(work, () => charge, now))),
  }
}

async function releaseOne(world: LedgerWorld): Promise<Answers> {
  const work = anyWork(world)
  return {
    expected: world.model.release(work, world.now),
    found: endOf(await call(world, (ledger) => ledger.release(work, world.now))),
  }
}

function addGrant(world: LedgerWorld): Promise<Answers> {
  const credit = newCredit(world, 'grant')
  world.credits.push(credit)
  return addCredit(world, credit)
}

/** A fact that is told again, or for the first time though later ones were told before. */
async function repeatCredit(world: LedgerWorld): Promise<Answers> {
  const credit = world.random.pickAny(world.credits)
  if (credit === undefined) return { expected: null, found: null }
  return addCredit(world, { ...credit, now: world.now })
}

async function sweepPayment(world: World): Promise<Answers> {
  const payment = world.random.pickAny(world.payments)
  return payment === undefined ? { expected: null, found: null } : tellPayment(world, payment)
}

async function revokeOne(world: LedgerWorld): Promise<Answers> {
  const credit = world.random.pickAny(world.credits)
  if (credit === undefined || !world.random.oneIn(3)) return { expected: null, found: null }
  const { account_id, kind, origin_id } = credit
  world.touched.add(account_id)
  const id = world.ids.get(idKey(credit)) ?? 'none'
  const expected = world.model.revoke(account_id, `${kind}:${origin_id}`, world.now)
  const found = await call(world, (ledger) => ledger.revoke(account_id, id, OPERATOR, world.now))
  return { expected, found: typeof found === 'object' ? found.amount : found }
}

async function useOne(world: LedgerWorld): Promise<Answers> {
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

async function extendOne(world: LedgerWorld): Promise<Answers> {
  const work = anyWork(world)
  const deadline = world.now + world.random.below(2 * DAY)
  return {
    expected: world.model.extend(work, deadline),
    found: await call(world, (ledger) => ledger.extend(work, deadline)),
  }
}

async function expireHolds(world: LedgerWorld): Promise<Answers> {
  const limit = touchAll(world)
  const expected = world.model.expireHolds(world.now, limit)
  const ends = await call(world, (ledger) => ledger.expireHolds(world.now, limit))
  return { expected: expected.toSorted(), found: ends.map(({ hold }) => hold.id).toSorted() }
}

/** Of a sweep: it may change any account. Answers its limit. */
function touchAll({ accounts, touched, random }: LedgerWorld): number {
  for (const account of accounts) touched.add(account)
  return 1 + random.below(5)
}

async function expireLots(world: LedgerWorld): Promise<Answers> {
  const limit = touchAll(world)
  // Which of two accounts' lots with the same expiry is taken first is the ledger's choice: by their ids.
  const ids = await lotIds(world)
  const order = (lot: ModelLot): string => ids.get(lot) ?? ''
  const expected = world.model.expireLots(world.now, limit, order)
  const posted = await call(world, (ledger) => ledger.expireLots(world.now, limit))
  return { expected, found: posted.length }
}

async function lotIds(world: LedgerWorld): Promise<ReadonlyMap<ModelLot, string>> {
  const rows = await world.client.read(
    `SELECT account_id, seq, id FROM keyhook_lots WHERE ${world.client.dialect.among('account_id', '$1')}`,
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

async function setThreshold(world: LedgerWorld): Promise<Answers> {
  const account_id = anyAccount(world)
  const micros = world.random.oneIn(4) ? null : world.random.below(60)
  const { now } = world
  const given = { account_id, currency: 'USD', micros, now }
  return {
    expected: world.model.setLowBalance(account_id, micros, now),
    found: await call(world, (ledger) => ledger.setLowBalance(given)),
  }
}
