import type {
  HoldOutcome,
  HoldRecord,
  KeyBudget,
  LedgerWork,
  Micros,
  NewHold,
} from '../contract/ledger.ts'
import { refusing } from '../contract/ledger.ts'
import type { Query } from '../../store/sql/client.ts'
import { recordsOf } from '../model/records.ts'
import { HOLDS, HOLD_LOTS } from '../models/ledger.ts'
import type { PlatformTables } from '../sql/tables.ts'
import type { ReadScope } from '../sql/scope.ts'
import { monthOf, requireInteger } from './amounts.ts'
import { reserveBudgets } from './budgets.ts'
import type { Journal } from './journal.ts'
import { availableOf } from './journal.ts'
import { MAX_MICROS } from './kinds.ts'
import { readLimits } from './limits.ts'
import type { Piece } from './lots.ts'
import { divide, readSpendableLots } from './lots.ts'
import { insertAll, post } from './post.ts'
import { lockWallet } from './wallet.ts'

export async function hold(
  sql: ReadScope,
  holds: readonly NewHold[],
  budgets: readonly KeyBudget[],
): Promise<HoldOutcome> {
  const [first] = holds
  if (first === undefined) return { held: true, required: 0, low: null }
  for (const one of holds) requireHold(one, first)
  // Before anything else: of two units with the same operation the later one then finds the hold of the other.
  const journal = await lockWallet(sql, first.account_id, first.now)
  const wanted = journal === undefined ? distinct(holds) : await leaveOut(sql, holds)
  const required = sumOf(wanted)
  const refusal = await refusalOf(sql, journal, first, required, budgets)
  if (journal === undefined) return refusal ?? { held: true, required, low: null }
  if (refusal !== undefined) return { ...refusal, low: await post(sql, journal) }

  const lots = await readSpendableLots(sql, journal, required)
  const made = wanted.map((one) => addHold(journal, one, budgets, divide(lots, one.amount)))
  const low = await post(sql, journal)
  await insertAll(
    sql,
    HOLDS,
    made.map(({ record }) => record),
  )
  await insertAll(
    sql,
    HOLD_LOTS,
    made.flatMap(({ record, pieces }) =>
      pieces.map(({ lot, amount }, index) => ({
        hold_id: record.id,
        number: index + 1,
        lot_id: lot.id,
        amount,
      })),
    ),
  )
  if (required > 0) {
    const month = monthOf(first.now)
    await reserveBudgets(sql, first.account_id, budgets, month, required)
  }
  return { held: true, required, low }
}

function requireHold({ account_id, now, amount, quantity }: NewHold, first: NewHold): void {
  requireInteger(amount, 1, 'the amount of a hold')
  requireInteger(quantity, 0, 'the quantity of a hold')
  if (account_id !== first.account_id || now !== first.now) {
    throw new TypeError('works are held for one account and at one instant')
  }
}

const sumOf = (holds: readonly NewHold[]): Micros =>
  Math.min(
    holds.reduce((sum, { amount }) => sum + amount, 0),
    MAX_MICROS,
  )

/** Each operation once. */
function distinct(holds: readonly NewHold[]): readonly NewHold[] {
  const first = new Map(
    holds.map(({ operation_id }, at) => [operation_id, at] as const).toReversed(),
  )
  return holds.filter(({ operation_id }, at) => first.get(operation_id) === at)
}

/** Leaves out the works that are held or captured. */
async function leaveOut(
  { query, t, dialect }: ReadScope,
  holds: readonly NewHold[],
): Promise<readonly NewHold[]> {
  const ids = holds.map(({ operation_id }) => operation_id)
  const rows = await query(
    `SELECT operation_id FROM ${t.holds} WHERE account_id = $1
       AND ${dialect.among('operation_id', '$2')} AND state IN ('open', 'captured')`,
    [holds[0]?.account_id, JSON.stringify(ids)],
  )
  const taken = new Set(rows.map((row) => String(row['operation_id'])))
  return distinct(holds).filter(({ operation_id }) => !taken.has(operation_id))
}

type Refusal = Extract<HoldOutcome, { readonly held: false }>

async function refusalOf(
  sql: ReadScope,
  journal: Journal | undefined,
  { now }: NewHold,
  required: Micros,
  budgets: readonly KeyBudget[],
): Promise<Refusal | undefined> {
  if (required === 0) return undefined
  const wallet = journal?.wallet
  const debt = wallet === undefined ? 0 : 0 - wallet.debt
  const balance = wallet && { available: availableOf(wallet), debt }
  const limit = refusing(await readLimits(sql, balance, budgets, now), required)
  return limit && { held: false, ...limit, required, debt, low: null }
}

function addHold(
  journal: Journal,
  { actor, now, ...work }: NewHold,
  budgets: readonly KeyBudget[],
  pieces: readonly Piece[],
): { readonly record: HoldRecord; readonly pieces: readonly Piece[] } {
  const { id, operation, app_id, key_id, price_version } = work
  const { seq, at } = journal.add(
    {
      kind: 'hold',
      key: `hold:${id}`,
      actor,
      ref_type: 'hold',
      ref_id: id,
      operation,
      app_id,
      key_id,
      price_version,
    },
    pieces.flatMap(({ lot, amount }) => [
      { ledger: lot.source, lot, amount: -amount },
      { ledger: 'held' as const, lot, amount },
    ]),
  )
  const record: HoldRecord = {
    ...work,
    seq,
    budget_keys: budgets.map((budget) => [budget.key_id]),
    month: monthOf(now),
    captured: null,
    state: 'open',
    created_at: at,
    ended_at: null,
  }
  return { record, pieces }
}

/** The last hold of work. */
export function readHold(
  query: Query,
  t: PlatformTables,
  { account_id, operation_id }: LedgerWork,
): Promise<HoldRecord | undefined> {
  return recordsOf(query, t, HOLDS).first(
    'account_id = $1 AND operation_id = $2 ORDER BY seq DESC LIMIT 1',
    [account_id, operation_id],
  )
}
