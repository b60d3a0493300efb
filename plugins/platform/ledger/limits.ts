import type { Instant } from '../../../lib/time.ts'
import type { KeyBudget, SpendingLimits, WalletRecord } from '../contract/ledger.ts'
import type { ReadScope } from '../sql/scope.ts'
import { monthOf, nextMonth } from './amounts.ts'
import { readSpending } from './budgets.ts'

/**
 * Everything that limits what can be spent: the balance first, then each budget in the order given.
 *
 * @param balance undefined where there is no wallet: nothing is available
 */
export async function readLimits(
  { query, t, dialect }: ReadScope,
  balance: Pick<WalletRecord, 'available' | 'debt'> | undefined,
  budgets: readonly KeyBudget[],
  now: Instant,
): Promise<SpendingLimits> {
  const { available = 0, debt = 0 } = balance ?? {}
  const ids = budgets.map(({ key_id }) => key_id)
  const spending = ids.length === 0 ? [] : await readSpending(query, t, dialect, ids, monthOf(now))
  const used = new Map(spending.map(({ key_id, held, spent }) => [key_id, held + spent]))
  const source = debt > 0 ? 'account' : 'wallet'
  return [
    { source, key_id: null, available, resets_at: null },
    ...budgets.map(({ key_id, monthly_micros }) => ({
      source: 'key' as const,
      key_id,
      available: Math.max(0, monthly_micros - (used.get(key_id) ?? 0)),
      resets_at: nextMonth(now),
    })),
  ]
}
