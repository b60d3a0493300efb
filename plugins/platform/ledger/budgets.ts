import type { Dialect, Query } from '../../store/sql/client.ts'
import type { HoldRecord, KeyBudget, KeySpending, Micros } from '../contract/ledger.ts'
import { recordsOf } from '../model/records.ts'
import { KEY_SPENDING } from '../models/ledger.ts'
import type { PlatformTables } from '../sql/tables.ts'
import type { ReadScope } from '../sql/scope.ts'
import { requireCount } from './post.ts'

export function readSpending(
  query: Query,
  t: PlatformTables,
  dialect: Dialect,
  keyIds: readonly string[],
  month: number,
): Promise<readonly KeySpending[]> {
  return recordsOf(query, t, KEY_SPENDING).select(
    `${dialect.among('key_id', '$1')} AND month = $2 ORDER BY key_id`,
    [JSON.stringify(keyIds), month],
  )
}

/** Adds to what budgets hold; each must have that much left. */
export async function reserveBudgets(
  { query, t, dialect }: ReadScope,
  accountId: string,
  budgets: readonly KeyBudget[],
  month: number,
  amount: Micros,
): Promise<void> {
  if (budgets.length === 0) return
  const spending = t.key_spending
  const found = await query(
    `INSERT INTO ${spending} (account_id, key_id, month, budget, held, spent)
     SELECT CAST($2 AS TEXT), one.value ->> 0, CAST($3 AS INTEGER),
       CAST(one.value ->> 1 AS BIGINT), CAST($4 AS BIGINT), 0
     FROM ${dialect.each('$1', 'one')} WHERE CAST(one.value ->> 1 AS BIGINT) >= CAST($4 AS BIGINT)
     ON CONFLICT (key_id, month) DO UPDATE SET held = ${spending}.held + excluded.held,
       budget = excluded.budget
     WHERE ${spending}.account_id = excluded.account_id
       AND ${spending}.held + ${spending}.spent + excluded.held <= excluded.budget
     RETURNING 1`,
    [
      JSON.stringify(budgets.map(({ key_id, monthly_micros }) => [key_id, monthly_micros])),
      accountId,
      month,
      amount,
    ],
  )
  requireCount(found, budgets.length, 'budgets')
}

/** Changes what budgets hold to what they have spent, in the month of the hold. */
export async function settleBudgets(
  { query, t, dialect }: ReadScope,
  { budget_keys, month, amount }: HoldRecord,
  captured: Micros,
): Promise<void> {
  if (budget_keys.length === 0) return
  const found = await query(
    `UPDATE ${t.key_spending} SET held = held - CAST($3 AS BIGINT),
       spent = spent + CAST($4 AS BIGINT)
     WHERE ${dialect.among('key_id', '$1')} AND month = $2 AND held >= CAST($3 AS BIGINT)
     RETURNING 1`,
    [JSON.stringify(budget_keys.flat()), month, amount, captured],
  )
  requireCount(found, budget_keys.length, 'budgets')
}
