import type { Creator } from '../../lib/key/record.ts'
import type { Instant } from '../../lib/time.ts'
import type { KeyBudget, LedgerReads, Micros } from '../../plugins/platform/contract/ledger.ts'
import type { KeyReads } from '../../plugins/store/contract/keys.ts'
import type { LimitSource } from './errors.ts'

/** One limit of spending, and what is left of it. */
export interface SpendingLimit {
  readonly source: LimitSource
  /** The key whose budget it is. */
  readonly key_id: string | null
  readonly available: Micros
}

/** The budgets that a caller draws on. */
export async function budgetsOf(
  keys: Pick<KeyReads, 'chain'>,
  accountId: string,
  by: Creator,
): Promise<readonly KeyBudget[]> {
  if (by.type !== 'key' || by.id === null) return []
  const chain = await keys.chain(accountId, by.id)
  return chain.flatMap(({ id: key_id, monthly_budget_micros: monthly_micros }) =>
    monthly_micros === null ? [] : [{ key_id, monthly_micros }],
  )
}

/** Everything that limits what a caller can spend: the balance first, then each budget. */
export async function limitsOf(
  ledger: Pick<LedgerReads, 'wallet' | 'keySpending'>,
  accountId: string,
  budgets: readonly KeyBudget[],
  now: Instant,
): Promise<readonly [SpendingLimit, ...SpendingLimit[]]> {
  const wallet = await ledger.wallet(accountId, now)
  const keyIds = budgets.map(({ key_id }) => key_id)
  const spending = keyIds.length === 0 ? [] : await ledger.keySpending(keyIds, now)
  const used = new Map(spending.map(({ key_id, held, spent }) => [key_id, held + spent]))
  const source = (wallet?.debt ?? 0) > 0 ? 'account' : 'wallet'
  return [
    { source, key_id: null, available: wallet?.available ?? 0 },
    ...budgets.map(({ key_id, monthly_micros }) => ({
      source: 'key' as const,
      key_id,
      available: monthly_micros - (used.get(key_id) ?? 0),
    })),
  ]
}

/** The limit with the least available; of equal ones the first. */
export function tightest(limits: readonly [SpendingLimit, ...SpendingLimit[]]): SpendingLimit {
  return limits.reduce((least, one) => (one.available < least.available ? one : least))
}

/** When the budgets of a month begin again: the first instant of the next month of UTC. */
export function endOfMonth(now: Instant): Instant {
  const date = new Date(now)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
}
