/** The largest amount: every amount is an integer of micros that a number holds exactly. */
export const MAX_MICROS = Number.MAX_SAFE_INTEGER

/** The expiry of a lot that never expires. */
export const NEVER = Number.MAX_SAFE_INTEGER

/**
 * Ledger accounts, one set per tenant. The entries of a transaction sum to zero within it.
 *
 * | account | balance |
 * |---|---|
 * | `paid`, `granted` | credit that can be spent: bought, or granted |
 * | `held` | set aside for work in progress |
 * | `debt` | negative: what no credit could pay; there is none while other credit is left |
 * | `revenue` | captured |
 * | `processor` | negative: credit that the payment processor brought |
 * | `issued` | negative: credit that was granted without payment |
 * | `expired` | credit that expired before it was spent |
 */
export const LEDGER_ACCOUNTS = [
  'paid',
  'granted',
  'held',
  'debt',
  'revenue',
  'processor',
  'issued',
  'expired',
] as const

export type LedgerAccount = (typeof LEDGER_ACCOUNTS)[number]

export const CREDIT_KINDS = ['topup', 'monthly_credit', 'grant'] as const

export type CreditKind = (typeof CREDIT_KINDS)[number]

export const TRANSACTION_KINDS = [
  ...CREDIT_KINDS,
  'debt_payment',
  'hold',
  'capture',
  'release',
  'usage',
  'expiry',
  'clawback',
  'reinstatement',
  'revoke',
] as const

export type TransactionKind = (typeof TRANSACTION_KINDS)[number]

export const HOLD_STATES = ['open', 'captured', 'released', 'expired'] as const

export type HoldState = (typeof HOLD_STATES)[number]

/** Which of two lots with the same expiry is spent first. */
export const RANKS = { granted: 0, paid: 1 } as const

export type LotSource = keyof typeof RANKS
