import { big, id, int, json, text, group, named, orNull, small } from '../../store/sql/columns.ts'
import type { Creator } from '../../../lib/key/record.ts'
import { defineModel } from '../model/define.ts'
import type { METERS } from './observations.ts'
import type { HoldState, LedgerAccount, LotSource, TransactionKind } from '../ledger/kinds.ts'

/** Who caused a transaction. */
export interface LedgerActor {
  readonly type: Creator['type'] | 'processor' | 'system'
  /** The id of the key or user, the name of the processor; null for the operator and the system. */
  readonly id: string | null
}

/** A price as it was when a hold was made: the unit price, per how many units, and the least amount. */
export interface HeldPrice {
  readonly price_micros: number
  readonly per: number
  readonly minimum_micros: number
}

/** The balances of one tenant. The row is also the lock of its ledger. */
export const WALLETS = defineModel('wallets', {
  account_id: id(),
  currency: text(),
  paid: big(),
  granted: big(),
  held: big(),
  debt: big(),
  revenue: big(),
  processor: big(),
  issued: big(),
  expired: big(),
  /** Null for no threshold. */
  low_balance: orNull(big()),
  /** Since when the available balance is below the threshold. */
  low_since: orNull(big()),
  /** The `seq` of the last transaction. */
  transactions: big(),
  created_at: big(),
  /** Never decreases. */
  updated_at: big(),
})

export const LEDGER_TRANSACTIONS = defineModel('ledger_transactions', {
  id: id(),
  account_id: id(),
  /** 1, 2, … within the account, without a gap. */
  seq: big(),
  /** Never before that of the transaction before it. */
  at: big(),
  kind: text<TransactionKind>(),
  /** Unique: what it was posted for is posted once. */
  key: id(),
  /** The transaction that this one reverses. */
  reverses: orNull(id()),
  /** What it concerns: `hold`, `checkout`, `invoice`, `charge`, `grant` or `lot`. */
  ref_type: orNull(text()),
  ref_id: orNull(id()),
  operation: orNull(text()),
  /** Of a capture and of usage: what was measured, and how much of it. */
  meter: orNull(text()),
  quantity: orNull(big()),
  app_id: orNull(id()),
  key_id: orNull(id()),
  price_version: orNull(text()),
  /** Change of the balance: `paid`, `granted` and `held` together. */
  amount: big(),
  /** Change of `held`. */
  held: big(),
  /** Change of `debt`. */
  debt: big(),
  balance_after: big(),
  available_after: big(),
  note: orNull(text()),
  actor: group({
    type: named('actor_type', text<LedgerActor['type']>()),
    id: named('actor_id', orNull(text())),
  }),
})

export const LEDGER_ENTRIES = defineModel('ledger_entries', {
  transaction_id: id(),
  number: int(),
  account_id: id(),
  ledger: text<LedgerAccount>(),
  lot_id: orNull(id()),
  amount: big(),
})

/** Credit that came at once, and what became of it. */
export const LOTS = defineModel('lots', {
  /** That of the transaction that created it. */
  id: id(),
  account_id: id(),
  /** That of the transaction that created it. */
  seq: big(),
  source: text<LotSource>(),
  rank: small(),
  granted: big(),
  remaining: big(),
  held: big(),
  spent: big(),
  expired: big(),
  clawed: big(),
  /** The part of `granted` that the processor brought. */
  from_processor: big(),
  /** `NEVER` for one that does not expire. */
  expires_at: big(),
  created_at: big(),
})

export const HOLDS = defineModel('holds', {
  id: id(),
  /** Unique within its account; work whose hold was released may be held again. */
  operation_id: id(),
  account_id: id(),
  /** That of the transaction that made it. */
  seq: big(),
  operation: text(),
  meter: text(),
  quantity: big(),
  app_id: orNull(id()),
  key_id: orNull(id()),
  /** The keys whose budgets it was taken from, each in an array of its own. */
  budget_keys: json<readonly (readonly [string])[]>(),
  /** Of UTC, as 202611: the month of those budgets. */
  month: int(),
  price_version: text(),
  price: json<HeldPrice>(),
  amount: big(),
  /** Null unless it was captured. */
  captured: orNull(big()),
  state: text<HoldState>(),
  deadline_at: big(),
  created_at: big(),
  ended_at: orNull(big()),
})

export const HOLD_LOTS = defineModel('hold_lots', {
  hold_id: id(),
  number: int(),
  lot_id: id(),
  amount: big(),
})

/** Price versions that were in use. */
export const PRICE_VERSIONS = defineModel('price_versions', {
  version: id(),
  sha256: text(),
  body: text(),
  first_seen: big(),
})

/** What was charged, by day. Neither an app nor a key is the empty text. */
export const USAGE_DAYS = defineModel('usage_days', {
  account_id: id(),
  /** Of UTC: `2026-01-31`. */
  day: id(),
  operation: id(),
  meter: id(),
  app_id: id(),
  key_id: id(),
  count: big(),
  quantity: big(),
  charged: big(),
})

/** What a key with a monthly budget, and the keys below it, hold and have spent in a month. */
export const KEY_SPENDING = defineModel('key_spending', {
  account_id: id(),
  key_id: id(),
  /** Of UTC, as 202611. */
  month: int(),
  budget: big(),
  held: big(),
  spent: big(),
})

/** What was charged for a meter of an app and day. It is kept when the app is deleted, as the ledger is. */
export const HOSTING_CHARGES = defineModel('hosting_charges', {
  app_id: id(),
  /** Of UTC: `2026-01-31`. */
  day: id(),
  meter: id<(typeof METERS)[number]>(),
  account_id: id(),
  /** What was counted when it was charged last. */
  quantity: big(),
  charged: big(),
  /** Transactions: more than one where something was counted later. */
  parts: int(),
  price_version: text(),
  price: json<HeldPrice & { readonly meter: string }>(),
})
