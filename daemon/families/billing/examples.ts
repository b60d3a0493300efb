const ACCOUNT = '01890a5d-ac96-774b-bcce-b302099a8001'

export const exampleSubscription = {
  id: 'sub_1a2b',
  status: 'active',
  current_period_end: '2026-12-24T09:00:00.000Z',
  cancel_at: null,
  past_due_until: null,
} as const

export const exampleWallet = {
  account_id: ACCOUNT,
  mode: 'stripe',
  currency: 'USD',
  plan: 'pro',
  balance_micros: 34_900_000,
  balance: '34.90',
  held_micros: 100_000,
  available_micros: 34_800_000,
  available: '34.80',
  paid_micros: 10_000_000,
  granted_micros: 24_800_000,
  debt_micros: 0,
  low_balance_micros: 5_000_000,
  is_low: false,
  expiring: [],
  monthly_credit: {
    amount_micros: 25_000_000,
    amount: '25.00',
    next_at: exampleSubscription.current_period_end,
  },
  subscription: exampleSubscription,
  updated_at: '2026-11-24T10:00:00.000Z',
} as const

export const exampleLine = {
  id: '01930a5d-ac96-774b-bcce-b302099a8057',
  kind: 'capture',
  created_at: '2026-11-24T10:00:00.000Z',
  description: 'Charged: prompt edit',
  amount_micros: -100_000,
  amount: '-0.10',
  held_micros: -100_000,
  debt_micros: 0,
  balance_after_micros: 34_900_000,
  available_after_micros: 34_900_000,
  operation: 'edits.create',
  meter: 'edits',
  quantity: 1,
  app_id: 'k3v9q2m7x4ta',
  key_id: null,
  price_version: '2026-12',
  ref: { type: 'hold', id: '01930a5c-ac96-774b-bcce-b302099a8057' },
  reverses: null,
  entries: [
    { account: 'held', amount_micros: -100_000 },
    { account: 'revenue', amount_micros: 100_000 },
  ],
} as const

export const exampleCredit = {
  id: '01930a62-ac96-774b-bcce-b302099a8057',
  amount_micros: 25_000_000,
  amount: '25.00',
  remaining_micros: 25_000_000,
  held_micros: 0,
  spent_micros: 0,
  expired_micros: 0,
  revoked_micros: 0,
  expires_at: '2027-01-01T00:00:00.000Z',
  note: 'trial',
  revoked_at: null,
  created_at: '2026-11-24T10:00:00.000Z',
} as const

export const exampleLimits = {
  plan: 'pro',
  data: [
    {
      name: 'keys.live',
      limit: 100,
      used: 3,
      remaining: 97,
      window: null,
      resets_at: null,
      source: 'config',
      source_id: null,
    },
    {
      name: 'budget.monthly',
      limit: 1_000_000,
      used: 960_000,
      remaining: 40_000,
      window: 'month',
      resets_at: '2026-12-01T00:00:00.000Z',
      source: 'key',
      source_id: '01890a5d-ac96-774b-bcce-b302099a8057',
    },
  ],
} as const

export const exampleUsage = {
  as_of: '2026-11-24T10:00:00.000Z',
  currency: 'USD',
  totals: { count: 12, charged_micros: 1_200_000, charged: '1.20' },
  data: [
    {
      group: { operation: 'edits.create' },
      count: 12,
      quantity: 12,
      charged_micros: 1_200_000,
      charged: '1.20',
    },
  ],
  has_more: false,
  next_cursor: null,
} as const

export const examplePricing = {
  mode: 'internal',
  currency: 'USD',
  version: '2026-12',
  effective_at: '2026-12-01T00:00:00.000Z',
  plans: [
    {
      id: 'free',
      price_micros: 0,
      interval: null,
      monthly_credit_micros: 0,
      credit_expires_days: null,
    },
    {
      id: 'pro',
      price_micros: 25_000_000,
      interval: 'month',
      monthly_credit_micros: 25_000_000,
      credit_expires_days: null,
    },
  ],
  topup: { min_micros: 5_000_000, max_micros: 1_000_000_000 },
  operations: [
    {
      operation: 'edits.create',
      meter: 'edits',
      price_micros: 100_000,
      per: 1,
      minimum_micros: 0,
      billable: true,
    },
  ],
  versions: [{ version: '2026-12', effective_at: '2026-12-01T00:00:00.000Z' }],
} as const

export const exampleVerification = {
  accounts: 1,
  transactions: 5,
  entries: 12,
  lots: 2,
  holds: 1,
  differences: [],
  differences_total: 0,
} as const
