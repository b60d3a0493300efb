import { z } from 'zod'
import type { Engine } from '../../lib/engine/engine.ts'
import type { Instant } from '../../lib/time.ts'
import { toIso } from '../../lib/time.ts'
import { CREDIT_KINDS } from '../../plugins/platform/contract/ledger.ts'
import type { CreditKind, LowBalance, Posted } from '../../plugins/platform/contract/ledger.ts'
import type { PlatformTx } from '../../plugins/platform/contract.ts'
import { defineEvents } from '../events/types.ts'
import { instant } from '../operations/instants.ts'

/** Scope that reads amounts. */
const SCOPE = 'billing:read'

const micros = z.int()
const currency = z.string()
const plan = z.enum(['free', 'pro'])

/** Events with amounts: a webhook for all types does not receive them. */
export const billingEvents = defineEvents([
  {
    type: 'billing.credited',
    scope: SCOPE,
    description: 'Credit was added to the account.',
    schema: z.strictObject({
      transaction_id: z.string().meta({ description: 'Its line in the ledger.' }),
      kind: z.enum(CREDIT_KINDS),
      amount_micros: micros,
      currency,
      balance_micros: micros.meta({ description: 'Credit, with what is held of it.' }),
      available_micros: micros.meta({ description: 'What can be spent now.' }),
      expires_at: instant.nullable().meta({ description: 'Null for never.' }),
    }),
    sample: {
      transaction_id: '01930a62-ac96-774b-bcce-b302099a8057',
      kind: 'grant',
      amount_micros: 25_000_000,
      currency: 'USD',
      balance_micros: 35_000_000,
      available_micros: 34_900_000,
      expires_at: null,
    },
  },
  {
    type: 'billing.balance_low',
    scope: SCOPE,
    description:
      'The available balance fell below the threshold of the account. Published once, until the balance reaches the threshold again.',
    schema: z.strictObject({ available_micros: micros, low_balance_micros: micros, currency }),
    sample: { available_micros: 4_900_000, low_balance_micros: 5_000_000, currency: 'USD' },
  },
  {
    type: 'billing.subscription_changed',
    scope: SCOPE,
    description: 'The subscription of the account changed, or the plan that it pays for.',
    schema: z.strictObject({
      plan,
      previous_plan: plan,
      status: z
        .enum(['incomplete', 'active', 'past_due', 'canceled'])
        .nullable()
        .meta({ description: 'Of the subscription that decides the plan; null without one.' }),
      current_period_end: instant.nullable().meta({ description: 'Until when it is paid for.' }),
      cancel_at: instant.nullable().meta({ description: 'When it ends; null while it goes on.' }),
      past_due_until: instant
        .nullable()
        .meta({ description: 'When Pro ends unless the open invoice is paid; null: none is due.' }),
    }),
    sample: {
      plan: 'pro',
      previous_plan: 'free',
      status: 'active',
      current_period_end: '2026-12-24T09:00:00.000Z',
      cancel_at: null,
      past_due_until: null,
    },
  },
])

type Publishing = Pick<Engine, 'publishIn' | 'newEvent'>

/** Publishes that the balance is low, in the unit that made it so. */
export async function publishLow(
  engine: Publishing,
  tx: PlatformTx,
  account_id: string,
  currency: string,
  low: LowBalance | null,
  now: Instant,
): Promise<void> {
  if (low === null) return
  const data = { available_micros: low.available, low_balance_micros: low.low_balance, currency }
  const type = 'billing.balance_low'
  const event = billingEvents.newEvent(engine, account_id, type, data, now, null)
  await engine.publishIn(tx, [event])
}

/** Publishes credit in the unit that posted it, and that the balance is low all the same. */
export async function publishCredited(
  engine: Publishing,
  tx: PlatformTx,
  posted: Posted,
  credit: {
    readonly kind: CreditKind
    readonly currency: string
    readonly expires_at: Instant | null
    readonly now: Instant
  },
): Promise<void> {
  const { account_id, transaction_id, amount, balance, available, low } = posted
  const { kind, currency, expires_at, now } = credit
  const data = {
    transaction_id,
    kind,
    amount_micros: amount,
    currency,
    balance_micros: balance,
    available_micros: available,
    expires_at: expires_at === null ? null : toIso(expires_at),
  }
  const type = 'billing.credited'
  const event = billingEvents.newEvent(engine, account_id, type, data, now, null)
  await engine.publishIn(tx, [event])
  // Other credit may have expired meanwhile.
  await publishLow(engine, tx, account_id, currency, low, now)
}
