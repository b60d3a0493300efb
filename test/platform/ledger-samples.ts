import assert from 'node:assert/strict'
import type {
  ChargeState,
  Credit,
  HoldOutcome,
  KeyBudget,
  LedgerWrites,
  NewHold,
  Posted,
  WalletRecord,
} from '../../plugins/platform/contract/ledger.ts'
import { DAY } from '../../lib/time.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import { ACCOUNT, BORN } from '../../plugins/store/conformance/samples.ts'

/** When the samples are made: the middle of November. */
export const NOW = BORN
/** The first instant of December. */
export const DECEMBER = Date.UTC(2023, 11, 1)

export const OPERATOR = { type: 'operator', id: null } as const

/** A grant that does not expire. */
export function sampleCredit(origin_id: string, changes: Partial<Credit> = {}): Credit {
  return {
    account_id: ACCOUNT,
    currency: 'USD',
    kind: 'grant',
    origin_id,
    amount: 100,
    from_processor: 0,
    expires_at: null,
    note: null,
    actor: OPERATOR,
    now: NOW,
    ...changes,
  }
}

/** A top-up, all of which the processor brought. */
export function sampleTopup(origin_id: string, changes: Partial<Credit> = {}): Credit {
  const actor = { type: 'processor', id: 'stripe' } as const
  const topup = sampleCredit(origin_id, { kind: 'topup', actor, ...changes })
  return { ...topup, from_processor: topup.amount, ...changes }
}

/** A hold of 10 for an edit, for a day. */
export function sampleHold(operation_id: string, changes: Partial<NewHold> = {}): NewHold {
  return {
    id: `hold_${operation_id}`,
    operation_id,
    account_id: ACCOUNT,
    operation: 'edits.create',
    meter: 'edits',
    quantity: 1,
    app_id: 'app_1',
    key_id: null,
    amount: 10,
    price_version: 'v1',
    price: { price_micros: 10, per: 1, minimum_micros: 0 },
    deadline_at: (changes.now ?? NOW) + DAY,
    actor: OPERATOR,
    now: NOW,
    ...changes,
  }
}

/** A charge of 100 that brought all of a credit. */
export function sampleCharge(
  credit_id: string,
  items: ChargeState['items'],
  changes: Partial<ChargeState> = {},
): ChargeState {
  return {
    account_id: ACCOUNT,
    processor: 'stripe',
    charge_id: 'ch_1',
    credit_id,
    paid: 100,
    total: changes.paid ?? 100,
    items,
    ...changes,
  }
}

export const work = (operation_id: string, account_id = ACCOUNT) => ({ account_id, operation_id })

export const on = <T>(
  store: PlatformStore,
  run: (ledger: LedgerWrites) => Promise<T>,
): Promise<T> => store.write((tx) => run(tx.ledger))

export async function creditAll(
  store: PlatformStore,
  ...credits: readonly Credit[]
): Promise<readonly Posted[]> {
  const posted: Posted[] = []
  for (const credit of credits) {
    const one = await on(store, (ledger) => ledger.credit(credit))
    assert.ok(one, 'it was not credited before')
    posted.push(one)
  }
  return posted
}

export const hold = (
  store: PlatformStore,
  holds: readonly NewHold[],
  budgets: readonly KeyBudget[] = [],
): Promise<HoldOutcome> => on(store, (ledger) => ledger.hold(holds, budgets))

/** Captures this amount of a hold; all of it where it is not said. */
export const capture = (
  store: PlatformStore,
  operation_id: string,
  amount?: number,
  now = NOW,
  quantity = 1,
) =>
  on(store, (ledger) =>
    ledger.capture(
      work(operation_id),
      (held) => ({ amount: amount ?? held.amount, quantity }),
      now,
    ),
  )

export const release = (store: PlatformStore, operation_id: string, now = NOW) =>
  on(store, (ledger) => ledger.release(work(operation_id), now))

/** The balances of a wallet, as far as they are not 0. */
export async function balances(
  store: PlatformStore,
  now = NOW,
  account = ACCOUNT,
): Promise<Partial<WalletRecord>> {
  const wallet = await store.ledger.wallet(account, now)
  assert.ok(wallet, 'it has a wallet')
  const { paid, granted, held, debt, available, balance } = wallet
  assert.equal(balance, paid + granted + held)
  const all = Object.entries({ paid, granted, held, debt, available })
  return Object.fromEntries(all.filter(([, amount]) => amount !== 0))
}

/** What is left, held, spent and expired of each credit. */
export async function lotsOf(store: PlatformStore, ...ids: readonly string[]) {
  const credits = await Promise.all(ids.map((id) => store.ledger.getCredit(ACCOUNT, id)))
  return credits.map((credit) => {
    const { remaining = -1, held = -1, spent = -1, expired = -1 } = credit ?? {}
    return [remaining, held, spent, expired]
  })
}

/** Kinds and amounts of all transactions of an account, oldest first. */
export async function history(
  store: PlatformStore,
  account_id = ACCOUNT,
): Promise<readonly string[]> {
  const all = { kind: null, app_id: null, key_id: null, from: null, to: null }
  const page = await store.ledger.transactions({ account_id, after: null, limit: 1000, ...all })
  return page.rows
    .map(({ kind, amount, held, debt }) =>
      [kind, amount, held === 0 ? [] : `held ${held}`, debt === 0 ? [] : `debt ${debt}`]
        .flat()
        .join(' '),
    )
    .toReversed()
}

/** Asserts that every fold of the entries is what is stored. */
export async function assertVerified(store: PlatformStore): Promise<void> {
  assert.deepEqual((await store.ledger.verify(null)).differences, [])
}
