import { z } from 'zod'
import { decimal, givenAmount, withAmount } from '../../billing/money.ts'
import {
  LEDGER_ACCOUNTS,
  LEDGER_CHECKS,
  MAX_MICROS,
  TRANSACTION_KINDS,
} from '../../../plugins/platform/contract/ledger.ts'
import { anyText, givenInstant, instant, pageOf, plainText } from '../wire.ts'

const micros = z.int()
const plan = z.enum(['free', 'pro'])
const mode = z
  .string()
  .meta({ description: 'none, internal, or the name of the payment processor.', example: 'none' })
const currency = z.string().nullable().meta({ description: 'Null where nothing is charged.' })

export const subscriptionRecord = z
  .strictObject({
    id: z.string(),
    status: z.enum(['incomplete', 'active', 'past_due', 'canceled']),
    current_period_end: instant.nullable().meta({
      description: 'Until when it is paid for: it renews then, unless it ends.',
    }),
    cancel_at: instant.nullable().meta({ description: 'When it ends; null while it goes on.' }),
    past_due_until: instant
      .nullable()
      .meta({ description: 'When Pro ends unless the open invoice is paid; null: none is due.' }),
  })
  .meta({ id: 'Subscription' })

export const wallet = z
  .strictObject({
    account_id: z.string(),
    mode,
    currency,
    plan,
    balance_micros: micros.meta({ description: 'Credit, with what is held of it.' }),
    balance: decimal,
    held_micros: micros.meta({ description: 'Held for work in progress.' }),
    available_micros: micros
      .nullable()
      .meta({ description: 'What can be spent now; null where nothing is charged.' }),
    available: decimal.nullable(),
    paid_micros: micros.meta({ description: 'Credit that was bought.' }),
    granted_micros: micros.meta({ description: 'Credit that was granted.' }),
    debt_micros: micros.meta({
      description: 'Debt after a refund or dispute. The next credit pays it; nothing can be spent.',
    }),
    low_balance_micros: micros
      .nullable()
      .meta({ description: 'Threshold of billing.balance_low; null for none.' }),
    is_low: z.boolean(),
    expiring: z
      .array(z.strictObject({ amount_micros: micros, expires_at: instant }))
      .max(10)
      .meta({ description: 'Credit that expires, soonest first.' }),
    monthly_credit: z
      .strictObject({ amount_micros: micros, amount: decimal, next_at: instant })
      .nullable()
      .meta({
        description: 'Credit of the next month, granted when its invoice is paid; null for none.',
      }),
    subscription: subscriptionRecord.nullable().meta({
      description: 'The subscription that decides the plan; null where none was bought.',
    }),
    updated_at: instant.nullable(),
  })
  .meta({ id: 'Wallet' })

export const walletChanges = z.strictObject({
  low_balance_micros: z
    .int()
    .min(0)
    .max(MAX_MICROS)
    .nullable()
    .meta({ description: 'Threshold of billing.balance_low; null for none.' }),
})

export const ledgerLine = z
  .strictObject({
    id: z.string(),
    kind: z.enum(TRANSACTION_KINDS),
    created_at: instant,
    description: z.string(),
    amount_micros: micros.meta({ description: 'Change of the balance.' }),
    amount: decimal,
    held_micros: micros.meta({ description: 'Change of what is held.' }),
    debt_micros: micros.meta({ description: 'Change of the debt.' }),
    balance_after_micros: micros,
    available_after_micros: micros,
    operation: z.string().nullable(),
    meter: z.string().nullable(),
    quantity: z.int().nullable(),
    app_id: z.string().nullable(),
    key_id: z.string().nullable(),
    price_version: z.string().nullable(),
    ref: z
      .strictObject({ type: z.string(), id: z.string() })
      .nullable()
      .meta({ description: 'What it concerns, such as a hold or an invoice.' }),
    reverses: z.string().nullable().meta({ description: 'The transaction that it reverses.' }),
    entries: z
      .array(z.strictObject({ account: z.enum(LEDGER_ACCOUNTS), amount_micros: micros }))
      .meta({ description: 'Its double entry: the amounts sum to zero.' }),
  })
  .meta({ id: 'LedgerLine' })

export const ledgerPage = pageOf(ledgerLine)

export const verification = z
  .strictObject({
    accounts: z.int(),
    transactions: z.int(),
    entries: z.int(),
    lots: z.int(),
    holds: z.int(),
    differences: z
      .array(
        z.strictObject({
          check: z.enum(LEDGER_CHECKS),
          account_id: z.string(),
          id: z.string(),
          what: z.string(),
          expected: z.number(),
          found: z.number(),
        }),
      )
      .meta({ description: 'At most 50 of each check.' }),
    differences_total: z.int(),
  })
  .meta({ id: 'LedgerVerification' })

export const creditCreation = withAmount(
  z.strictObject({
    ...givenAmount,
    expires_at: givenInstant.nullable().optional().meta({ description: 'Default: never.' }),
    note: anyText(200).optional().meta({ description: 'Shown in the ledger.' }),
  }),
)

export const creditParams = z.strictObject({ credit_id: plainText })

export const creditRecord = z
  .strictObject({
    id: z.string().meta({ description: 'Also the id of its transaction in the ledger.' }),
    amount_micros: micros,
    amount: decimal,
    remaining_micros: micros.meta({ description: 'Can still be spent.' }),
    held_micros: micros,
    spent_micros: micros,
    expired_micros: micros,
    revoked_micros: micros,
    expires_at: instant.nullable(),
    note: z.string().nullable(),
    revoked_at: instant.nullable(),
    created_at: instant,
  })
  .meta({ id: 'Credit' })

export const limit = z
  .strictObject({
    name: z.string().meta({ description: 'Name of the limit, such as requests.reads.' }),
    limit: z.int().nullable().meta({ description: 'Null for no limit.' }),
    used: z.int().nullable().meta({ description: 'Null where it is not counted.' }),
    remaining: z.int().nullable(),
    window: z.enum(['minute', 'month']).nullable(),
    resets_at: instant.nullable(),
    source: z
      .enum(['plan', 'config', 'account', 'key', 'prices', 'service'])
      .meta({ description: 'What sets the limit.' }),
    source_id: z.string().nullable().meta({ description: 'The key, where a key sets it.' }),
  })
  .meta({ id: 'Limit' })

export const limitList = z.strictObject({ plan, data: z.array(limit) })

/** Validators of other languages take `\d` for digits of any script. */
const DAY = new RegExp(z.regexes.date.source.replaceAll(String.raw`\d`, '[0-9]'))

const day = z.string().regex(DAY, 'Must be a day, such as 2026-01-31.')

export const usageQuery = {
  from: day.optional().meta({ description: 'First day, UTC. Default: the first of this month.' }),
  to: day.optional().meta({ description: 'Last day, UTC. Default: today.' }),
  group_by: z
    .enum(['day', 'app', 'key', 'meter', 'operation'])
    .default('day')
    .meta({ description: 'What each record sums up. Default day.' }),
} as const

export const usageGroup = z
  .strictObject({
    group: z.strictObject({
      day: z.string().optional(),
      app_id: z.string().nullable().optional(),
      key_id: z.string().nullable().optional(),
      meter: z.string().optional(),
      operation: z.string().optional(),
    }),
    count: z.int().meta({ description: 'Charged operations.' }),
    quantity: z
      .int()
      .nullable()
      .meta({ description: 'In units of the meter; null where there may be several meters.' }),
    charged_micros: micros,
    charged: decimal,
  })
  .meta({ id: 'UsageGroup' })

export const usagePage = pageOf(usageGroup).extend({
  as_of: instant,
  currency,
  totals: z.strictObject({ count: z.int(), charged_micros: micros, charged: decimal }),
})

export const pricing = z
  .strictObject({
    mode,
    currency,
    version: z.string(),
    effective_at: instant,
    plans: z.array(
      z.strictObject({
        id: plan,
        price_micros: micros,
        interval: z.literal('month').nullable(),
        monthly_credit_micros: micros,
        credit_expires_days: z.int().nullable(),
      }),
    ),
    topup: z.strictObject({ min_micros: micros, max_micros: micros }),
    operations: z.array(
      z.strictObject({
        operation: z.string(),
        meter: z.string(),
        price_micros: micros,
        per: z.int().meta({ description: 'Units that the price is for.' }),
        minimum_micros: micros,
        billable: z.boolean(),
      }),
    ),
    versions: z.array(z.strictObject({ version: z.string(), effective_at: instant })),
  })
  .meta({ id: 'Pricing' })
