import { kernelError } from '../../../lib/errors.ts'
import type { KeyRecord } from '../../../lib/key/record.ts'
import { httpError } from '../../operations/errors.ts'
import type { Platform } from '../../platform.ts'

/** The least monthly budget of a chain of keys; null when none of them has one. */
export function budgetOf(chain: readonly KeyRecord[]): number | null {
  const budgets = chain.flatMap(({ monthly_budget_micros: budget }) => budget ?? [])
  return budgets.length === 0 ? null : Math.min(...budgets)
}

/**
 * Refuses a budget beyond that of the minter, and any where nothing is metered. A key without a budget is
 * allowed: what it spends counts for the keys above it all the same.
 *
 * @throws KeyhookError `billing_not_configured`, `scope_not_delegable`
 */
export function requireBudget(
  { platform }: { readonly platform: Pick<Platform, 'billing'> },
  { monthly_budget_micros: most }: { readonly monthly_budget_micros: number | null },
  requested: number | undefined,
): void {
  if (requested === undefined) return
  if (!platform.billing.metered) throw httpError('billing_not_configured')
  if (most === null || requested <= most) return
  throw kernelError('scope_not_delegable', {
    message: 'A key cannot give more than its own monthly budget.',
    details: {
      uncovered_scopes: [],
      uncovered_apps: [],
      expires_at_beyond: false,
      monthly_budget_beyond: true,
      monthly_budget_micros: most,
    },
  })
}
