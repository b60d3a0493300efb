import type { Creator } from '../../lib/key/record.ts'
import type { KeyBudget } from '../../plugins/platform/contract/ledger.ts'
import type { KeyReads } from '../../plugins/store/contract/keys.ts'

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
