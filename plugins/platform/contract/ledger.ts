import type { Instant } from '../../../lib/time.ts'
import type { CreditKind, LedgerAccount, TransactionKind } from '../ledger/kinds.ts'
import type { RecordOf } from '../model/define.ts'
import type {
  HOLDS,
  HeldPrice,
  KEY_SPENDING,
  LEDGER_TRANSACTIONS,
  LedgerActor,
  PRICE_VERSIONS,
} from '../models/ledger.ts'
import type { Page, PageQuery } from '../../store/contract/page.ts'

export type { HeldPrice, LedgerActor } from '../models/ledger.ts'
export type { CreditKind, HoldState, LedgerAccount, TransactionKind } from '../ledger/kinds.ts'
export { CREDIT_KINDS, LEDGER_ACCOUNTS, MAX_MICROS, TRANSACTION_KINDS } from '../ledger/kinds.ts'

/** Money in millionths of the currency's unit: an integer of at most `MAX_MICROS` on either side of zero. */
export type Micros = number

/** Work that is charged. Its id is unique within its account only: embedders choose ids of their own. */
export interface LedgerWork {
  readonly account_id: string
  readonly operation_id: string
}

export type HoldRecord = RecordOf<typeof HOLDS>

/** The balances of an account at an instant. Credit that is due to expire is left out of them. */
export interface WalletRecord {
  readonly account_id: string
  readonly currency: string
  /** `paid`, `granted` and `held` together. */
  readonly balance: Micros
  readonly paid: Micros
  readonly granted: Micros
  readonly held: Micros
  /** The debt of the account, as a positive amount. */
  readonly debt: Micros
  /** What can be held: 0 while there is a debt. */
  readonly available: Micros
  readonly low_balance: Micros | null
  /** When a transaction left `available` below `low_balance`; null while none did. */
  readonly low_since: Instant | null
  readonly created_at: Instant
  readonly updated_at: Instant
}

/** Credit that came at once. */
export interface CreditRecord {
  /** That of its transaction. */
  readonly id: string
  readonly account_id: string
  readonly kind: CreditKind | 'reinstatement'
  readonly amount: Micros
  /** Can still be spent. */
  readonly remaining: Micros
  readonly held: Micros
  readonly spent: Micros
  readonly expired: Micros
  /** Taken back by a clawback or a revocation. */
  readonly clawed: Micros
  /** Null when it does not expire. */
  readonly expires_at: Instant | null
  readonly note: string | null
  readonly revoked_at: Instant | null
  readonly created_at: Instant
}

/** A transaction, with its entries summed per ledger account. */
export type LedgerTransaction = RecordOf<typeof LEDGER_TRANSACTIONS> & {
  readonly entries: readonly { readonly account: LedgerAccount; readonly amount: Micros }[]
}

export interface TransactionListQuery extends PageQuery {
  readonly account_id: string
  /** The `seq` of the last transaction of the page before, as text. */
  readonly after: string | null
  readonly kind: TransactionKind | null
  readonly app_id: string | null
  readonly key_id: string | null
  /** At or after it. */
  readonly from: Instant | null
  /** Before it. */
  readonly to: Instant | null
}

export const USAGE_GROUPS = ['day', 'app', 'key', 'meter', 'operation'] as const

export type UsageGroup = (typeof USAGE_GROUPS)[number]

export interface UsageQuery extends PageQuery {
  readonly account_id: string
  readonly by: UsageGroup
  /** Days of UTC, both included: `2026-01-31`. */
  readonly from: string
  readonly to: string
  /** The `group` of the last row of the page before. */
  readonly after: string | null
}

/** What was charged, of one group. */
export interface UsageRow {
  /** A day, id or name; empty for work without an app or key. */
  readonly group: string
  readonly count: number
  /** In units of its meter; null where rows of several meters may meet. */
  readonly quantity: number | null
  readonly charged: Micros
}

export type UsageTotals = Pick<UsageRow, 'count' | 'charged'>

/** What a key with a monthly budget, and the keys below it, hold and have spent in a month. */
export type KeySpending = RecordOf<typeof KEY_SPENDING>

export type PriceVersion = RecordOf<typeof PRICE_VERSIONS>

/** Checks of `verify`; each compares two things that must be equal, in one statement. */
export const LEDGER_CHECKS = [
  /** The entries of each transaction, and of each of its lots, sum to zero. */
  'transaction_sum',
  /** The columns of each wallet are the sums of its entries. */
  'wallet_balance',
  /** The columns of each lot are the sums of its entries. */
  'lot_balance',
  /** What is held of each lot is what open holds took of it, and each hold took its amount. */
  'hold_lots',
  /** Each ended hold has one transaction that ended it, of its amount; an open one has none. */
  'hold_end',
  /** Transactions are numbered without a gap, their instants do not decrease, and their changes add up. */
  'transaction_order',
  /** A reversal is of the kind that reverses, and of no more than it reverses. */
  'reversal',
  /** What a budget holds and has spent is what holds took from it, and no more than the budget. */
  'key_spending',
  /** What was charged by day is what was captured. */
  'usage_days',
  /** What was charged for a meter of an app and day is what its transactions charged, and they are counted. */
  'hosting_charges',
  /** Refunds and disputes of each payment took their share of its credit, and nothing else. */
  'charges',
] as const

export type LedgerCheck = (typeof LEDGER_CHECKS)[number]

export interface LedgerDifference {
  readonly check: LedgerCheck
  readonly account_id: string
  /** The id of the transaction, credit or hold, or what names the row otherwise. */
  readonly id: string
  /** The column, or what is counted. */
  readonly what: string
  readonly expected: number
  readonly found: number
}

export interface LedgerVerification {
  readonly accounts: number
  readonly transactions: number
  readonly entries: number
  readonly lots: number
  readonly holds: number
  /** At most 50 of each check. */
  readonly differences: readonly LedgerDifference[]
  readonly differences_total: number
}

export interface LedgerReads {
  /** Undefined for an account without a wallet: it has nothing. */
  wallet(accountId: string, now: Instant): Promise<WalletRecord | undefined>
  /** Credit of an account that expires, soonest first, summed per instant. */
  expiring(
    accountId: string,
    now: Instant,
    limit: number,
  ): Promise<readonly { readonly amount: Micros; readonly expires_at: Instant }[]>
  getCredit(accountId: string, id: string): Promise<CreditRecord | undefined>
  /** The last hold of work; undefined when there was none. */
  getHold(work: LedgerWork): Promise<HoldRecord | undefined>
  /** Works in progress that are held for, of all accounts. */
  countOpenHolds(): Promise<number>
  /** Newest first. */
  transactions(query: TransactionListQuery): Promise<Page<LedgerTransaction>>
  transaction(accountId: string, id: string): Promise<LedgerTransaction | undefined>
  /** Ordered by group. */
  usage(query: UsageQuery): Promise<Page<UsageRow>>
  usageTotals(query: Pick<UsageQuery, 'account_id' | 'from' | 'to'>): Promise<UsageTotals>
  /** What these keys hold and have spent in the month of an instant; keys that did neither are left out. */
  keySpending(keyIds: readonly string[], now: Instant): Promise<readonly KeySpending[]>
  /** What limits the spending of a caller with these budgets, as `hold` judges it. */
  limits(accountId: string, budgets: readonly KeyBudget[], now: Instant): Promise<SpendingLimits>
  priceVersions(): Promise<readonly PriceVersion[]>
  /** Folds all entries, of one account or of all, and compares them with what is stored. */
  verify(accountId: string | null): Promise<LedgerVerification>
}

/** Credit to be added. */
export interface Credit {
  readonly account_id: string
  readonly currency: string
  readonly kind: CreditKind
  /**
   * What brought it: the checkout, the invoice as `<processor>:<invoice id>`, or the id of the grant. A second
   * credit of the same kind and origin changes nothing.
   */
  readonly origin_id: string
  /** Positive. */
  readonly amount: Micros
  /** The part of it that the processor brought: all of a top-up, none of a grant. */
  readonly from_processor: Micros
  /** After `now`; null for never. */
  readonly expires_at: Instant | null
  readonly note: string | null
  readonly actor: LedgerActor
  readonly now: Instant
}

/** The available balance fell below its threshold. */
export interface LowBalance {
  readonly available: Micros
  readonly low_balance: Micros
}

/** What a call added to the ledger of one account. */
export interface Posted {
  readonly account_id: string
  /** Of the transaction that the call is for: debts that it paid and credit that expired have their own. */
  readonly transaction_id: string
  readonly amount: Micros
  readonly balance: Micros
  readonly available: Micros
  /** Set by the call that crossed the threshold. */
  readonly low: LowBalance | null
}

/** The most that a key and the keys below it may spend in a month. */
export interface KeyBudget {
  readonly key_id: string
  readonly monthly_micros: Micros
}

export interface NewHold {
  readonly id: string
  readonly operation_id: string
  readonly account_id: string
  readonly operation: string
  readonly meter: string
  readonly quantity: number
  readonly app_id: string | null
  readonly key_id: string | null
  /** Positive: what costs nothing is not held. */
  readonly amount: Micros
  readonly price_version: string
  readonly price: HeldPrice
  readonly deadline_at: Instant
  readonly actor: LedgerActor
  readonly now: Instant
}

/** One limit of what can be spent, and what is left of it. */
export interface SpendingLimit {
  /** Whose limit it is: the balance (`wallet`), a debt (`account`), or the budget of a key. */
  readonly source: 'wallet' | 'account' | 'key'
  /** Set where the source is a key. */
  readonly key_id: string | null
  readonly available: Micros
  /** When the budget of the key begins again. */
  readonly resets_at: Instant | null
}

/** The balance first, then each budget. */
export type SpendingLimits = readonly [SpendingLimit, ...SpendingLimit[]]

/** The limit with the least available; of equal ones the first. */
export function tightest(limits: SpendingLimits): SpendingLimit {
  return limits.reduce((least, one) => (one.available < least.available ? one : least))
}

/** The limit that refuses an amount: the tightest, unless it suffices. */
export function refusing(limits: SpendingLimits, required: Micros): SpendingLimit | undefined {
  const least = tightest(limits)
  return least.available < required ? least : undefined
}

export type HoldOutcome =
  | { readonly held: true; readonly required: Micros; readonly low: LowBalance | null }
  | (SpendingLimit & {
      readonly held: false
      readonly required: Micros
      /** The debt of the account, as a positive amount. */
      readonly debt: Micros
      /** Where credit expired that was due. */
      readonly low: LowBalance | null
    })

/** How a hold ended, by this call or by an earlier one. */
export interface HoldEnd {
  readonly hold: HoldRecord
  /** Whether this call ended it. */
  readonly ended: boolean
  /** 0 unless it was captured. */
  readonly captured: Micros
  readonly low: LowBalance | null
}

/** What is captured of a hold. */
export interface Charged {
  /** Not negative; at most the amount of the hold is captured. */
  readonly amount: Micros
  /** What was used, in units of the meter. */
  readonly quantity: number
}

/** Use that was not held: what the balance does not cover becomes a debt. */
export interface UsageCharge {
  readonly account_id: string
  readonly currency: string
  /** A second charge of the same key changes nothing. */
  readonly key: string
  readonly operation: string
  readonly meter: string
  readonly quantity: number
  readonly app_id: string | null
  /** Positive. */
  readonly amount: Micros
  readonly price_version: string
  /** Told with it, such as the day of the use. */
  readonly note?: string
  readonly now: Instant
}

/** A payment that brought credit, with everything that took it back, as it is now. */
export interface ChargeState {
  readonly account_id: string
  readonly processor: string
  readonly charge_id: string
  /** The credit that it paid for. */
  readonly credit_id: string
  /** What was paid by this charge, in micros. */
  readonly paid: Micros
  /** What all charges paid for the credit, in micros. */
  readonly total: Micros
  /** Refunds and disputes; those that are not active take nothing, or no longer do. */
  readonly items: readonly { readonly amount: Micros; readonly active: boolean }[]
}

/**
 * Transactions of accounts. Each call locks the wallet of its account first, so that calls of one account
 * follow one another, also in transactions of an embedder. Credit that has expired is posted as expired before
 * anything else, at its instant or later: it can never be spent.
 */
export interface LedgerWrites extends LedgerReads {
  /**
   * Adds credit; a debt is paid from it first. Undefined, changing nothing, when its origin was credited
   * before: of concurrent callers one adds it.
   *
   * @throws RangeError when the balance would exceed `MAX_MICROS`
   */
  credit(credit: Credit): Promise<Posted | undefined>
  /**
   * Holds the amounts of works of one account: all of them or none. Works that are held or captured are
   * skipped before anything is compared with the balance. Of concurrent callers those that come later see
   * what is left.
   */
  hold(holds: readonly NewHold[], budgets: readonly KeyBudget[]): Promise<HoldOutcome>
  /**
   * Captures what is asked of a hold and returns the rest. Undefined: it was never held. Of concurrent callers
   * one ends a hold; the others get how it ended.
   */
  capture(
    work: LedgerWork,
    chargeOf: (hold: HoldRecord) => Charged,
    now: Instant,
  ): Promise<HoldEnd | undefined>
  /** Returns all of a hold. Undefined: it was never held. What was captured stays so. */
  release(work: LedgerWork, now: Instant): Promise<HoldEnd | undefined>
  /** Moves the deadline of an open hold further ahead, never back. False when there is none. */
  extend(work: LedgerWork, deadline: Instant): Promise<boolean>
  /** Charges use that was not held. Undefined, changing nothing, when its key was posted before. */
  charge(usage: UsageCharge): Promise<Posted | undefined>
  /** Posts the expiry of credit, of the accounts of the first `limit` lots that are due. */
  expireLots(now: Instant, limit: number): Promise<readonly Posted[]>
  /** Releases the first `limit` open holds whose deadlines have passed. */
  expireHolds(now: Instant, limit: number): Promise<readonly HoldEnd[]>
  /**
   * Takes back the share of a credit that refunds and disputes took of its payment, or returns what they no
   * longer take. Absolute: called again with the same state it posts nothing. Undefined: there is no such
   * credit of the account.
   */
  reconcile(charge: ChargeState, now: Instant): Promise<readonly Posted[] | undefined>
  /**
   * Takes back what is left of a grant; what is held of it expires when it is released. `revoked`, changing
   * nothing, when it was revoked before; undefined when the account has no such grant.
   */
  revoke(
    accountId: string,
    creditId: string,
    actor: LedgerActor,
    now: Instant,
  ): Promise<Posted | 'revoked' | undefined>
  /** Answers whether the balance is below the threshold from now on, where it was not before. */
  setLowBalance(given: {
    readonly account_id: string
    readonly currency: string
    /** Null for no threshold. */
    readonly micros: Micros | null
    readonly now: Instant
  }): Promise<LowBalance | null>
  /** Keeps a price version. False, changing nothing, when another body is kept under its name. */
  keepPriceVersion(version: PriceVersion): Promise<boolean>
}
