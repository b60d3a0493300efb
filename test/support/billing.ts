import { grantCredit } from '../../daemon/billing/credit.ts'
import type { Prices } from '../../daemon/billing/prices.ts'
import { readPrices } from '../../daemon/billing/prices.ts'
import type { World } from './world.ts'

/** Prices per unit of each operation. */
export type UnitPrices = Readonly<Record<string, number>>

const METERS: Readonly<Record<string, string>> = {
  'apps.create': 'apps',
  'edits.create': 'edits',
  'files.upload': 'bytes',
}

/** One version of prices, or several, each from an instant on. */
export function pricesOf(...versions: readonly (UnitPrices & { readonly from?: never })[]): Prices {
  return readPrices(
    JSON.stringify({
      versions: versions.map((units, at) => ({
        version: `v${at + 1}`,
        effective_at: new Date(at).toISOString(),
        plans: { pro: { price_micros: 25_000_000, monthly_credit_micros: 25_000_000 } },
        topup: { min_micros: 5_000_000, max_micros: 1_000_000_000 },
        operations: Object.fromEntries(
          Object.entries(units).map(([operation, price_micros]) => [
            operation,
            { meter: METERS[operation] ?? 'units', price_micros, per: 1 },
          ]),
        ),
      })),
    }),
  )
}

/** What an operator does, and sees, of the account's wallet. */
export function walletOf({ platform, account }: Pick<World, 'platform' | 'account'>) {
  const { store, clock } = platform
  return {
    async grant(amount: number, expires_at: number | null = null): Promise<string> {
      const given = { account_id: account.id, amount, expires_at, note: null, now: clock.now() }
      const by = { type: 'operator', id: null } as const
      const posted = await store.write((tx) => grantCredit(platform, tx, 'USD', { ...given, by }))
      return posted.transaction_id
    },
    async wallet(): Promise<{ readonly balance: number; readonly held: number }> {
      const { balance = 0, held = 0 } = (await store.ledger.wallet(account.id, clock.now())) ?? {}
      return { balance, held }
    },
    async verified(): Promise<readonly object[]> {
      return (await store.ledger.verify(null)).differences
    },
  }
}

/** Requests that change what an account pays or is told: its owner's, never a key's. */
export const OWNER_CHANGES = [
  ['POST', 'topup', { amount: '10.00' }],
  ['POST', 'subscribe', { plan: 'pro' }],
  ['POST', 'payment-method', {}],
  ['POST', 'portal', {}],
  ['DELETE', 'subscription', undefined],
  ['PATCH', 'wallet', { low_balance_micros: 1 }],
] as const
