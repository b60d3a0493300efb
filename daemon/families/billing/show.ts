import type { z } from 'zod'
import type { Instant } from '../../../lib/time.ts'
import { toIso } from '../../../lib/time.ts'
import type {
  CreditRecord,
  LedgerReads,
  LedgerTransaction,
} from '../../../plugins/platform/contract/ledger.ts'
import type { SubscriptionRecord } from '../../../plugins/platform/contract/payments.ts'
import type { PlanReads } from '../../billing/billing.ts'
import { describe } from '../../billing/describe.ts'
import { printMicros } from '../../billing/money.ts'
import { decidingSubscription, pastDueUntil, renewsAt } from '../../billing/plan.ts'
import type { Prices } from '../../billing/prices.ts'
import type { Platform } from '../../platform.ts'
import { isoOrNull } from '../wire.ts'
import type { creditRecord, ledgerLine, subscriptionRecord, wallet } from './schema.ts'

/** Expiries that a wallet lists. */
const EXPIRING = 10

interface WalletReads extends PlanReads {
  readonly ledger: Pick<LedgerReads, 'wallet' | 'expiring'>
}

export function toWireSubscription(
  subscription: SubscriptionRecord,
): z.input<typeof subscriptionRecord> {
  const { id, status, current_period_end, cancel_at } = subscription
  return {
    id,
    status,
    current_period_end: isoOrNull(current_period_end),
    cancel_at: isoOrNull(cancel_at),
    past_due_until: isoOrNull(pastDueUntil(subscription)),
  }
}

/** The credit that the next paid month brings. */
function monthlyCredit(
  subscription: SubscriptionRecord | undefined,
  prices: Prices,
  now: Instant,
): z.input<typeof wallet>['monthly_credit'] {
  const next = subscription === undefined ? null : renewsAt(subscription, now)
  const amount = next === null ? 0 : prices.at(next).plans.pro.monthly_credit_micros
  if (next === null || amount === 0) return null
  return { amount_micros: amount, amount: printMicros(amount), next_at: toIso(next) }
}

/** The wallet of an account; one without credit so far has nothing. */
export async function showWallet(
  { billing }: Pick<Platform, 'billing'>,
  reads: WalletReads,
  account_id: string,
  now: Instant,
): Promise<z.input<typeof wallet>> {
  const { ledger } = reads
  const { mode, metered, currency, prices, processing } = billing
  const found = metered ? await ledger.wallet(account_id, now) : undefined
  const expiring = metered ? await ledger.expiring(account_id, now, EXPIRING) : []
  const { balance = 0, held = 0, available = 0, paid = 0, granted = 0, debt = 0 } = found ?? {}
  const low = found?.low_balance ?? null
  const subscriptions =
    processing === undefined ? [] : await reads.payments.subscriptions(account_id)
  const subscription = decidingSubscription(subscriptions, now)
  return {
    account_id,
    mode,
    currency,
    plan: await billing.planOf(reads, account_id, now),
    balance_micros: balance,
    balance: printMicros(balance),
    held_micros: held,
    available_micros: metered ? available : null,
    available: metered ? printMicros(available) : null,
    paid_micros: paid,
    granted_micros: granted,
    debt_micros: debt,
    low_balance_micros: low,
    is_low: low !== null && available < low,
    expiring: expiring.map(({ amount, expires_at }) => ({
      amount_micros: amount,
      expires_at: toIso(expires_at),
    })),
    monthly_credit: monthlyCredit(subscription, prices, now),
    subscription: subscription === undefined ? null : toWireSubscription(subscription),
    updated_at: isoOrNull(found?.updated_at ?? null),
  }
}

export function toWireLine(line: LedgerTransaction): z.input<typeof ledgerLine> {
  const { ref_type, ref_id } = line
  return {
    id: line.id,
    kind: line.kind,
    created_at: toIso(line.at),
    description: describe(line),
    amount_micros: line.amount,
    amount: printMicros(line.amount),
    held_micros: line.held,
    // The ledger account of a debt is negative.
    debt_micros: 0 - line.debt,
    balance_after_micros: line.balance_after,
    available_after_micros: line.available_after,
    operation: line.operation,
    meter: line.meter,
    quantity: line.quantity,
    app_id: line.app_id,
    key_id: line.key_id,
    price_version: line.price_version,
    ref: ref_type === null || ref_id === null ? null : { type: ref_type, id: ref_id },
    reverses: line.reverses,
    entries: line.entries.map(({ account, amount }) => ({ account, amount_micros: amount })),
  }
}

export function toWireCredit(credit: CreditRecord): z.input<typeof creditRecord> {
  return {
    id: credit.id,
    amount_micros: credit.amount,
    amount: printMicros(credit.amount),
    remaining_micros: credit.remaining,
    held_micros: credit.held,
    spent_micros: credit.spent,
    expired_micros: credit.expired,
    revoked_micros: credit.clawed,
    expires_at: isoOrNull(credit.expires_at),
    note: credit.note,
    revoked_at: isoOrNull(credit.revoked_at),
    created_at: toIso(credit.created_at),
  }
}
