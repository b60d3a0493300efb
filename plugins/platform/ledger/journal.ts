import { createHash } from 'node:crypto'
import { uuid7Of } from '../../../lib/internal/uuid7.ts'
import type { Instant } from '../../../lib/time.ts'
import type { Micros } from '../contract/ledger.ts'
import type { RecordOf } from '../model/define.ts'
import type { LEDGER_ENTRIES, LEDGER_TRANSACTIONS, LOTS, WALLETS } from '../models/ledger.ts'
import type { LedgerAccount } from './kinds.ts'
import { MAX_MICROS, RANKS } from './kinds.ts'

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] }

export type Wallet = RecordOf<typeof WALLETS>
/** A lot of a journal: as it will be once the journal is posted. */
export type Lot = Mutable<RecordOf<typeof LOTS>>
export type Transaction = RecordOf<typeof LEDGER_TRANSACTIONS>
export type Entry = RecordOf<typeof LEDGER_ENTRIES>

/** One entry of a transaction that is added; one of amount 0 is left out. */
export interface Side {
  readonly ledger: LedgerAccount
  readonly lot?: Lot
  readonly amount: Micros
}

/** What a transaction says beside its entries. */
export type About = Pick<Transaction, 'kind' | 'key' | 'actor'> &
  Partial<Pick<Transaction, keyof typeof NOTHING_ABOUT>>

/** A lot that is created, or changed since it was read. */
export interface ChangedLot {
  /** As it was read; undefined for a new one. */
  readonly read: Readonly<Lot> | undefined
  readonly lot: Readonly<Lot>
}

/** Transactions that are to be added to the ledger of one account, whose wallet is locked. */
export interface Journal {
  readonly now: Instant
  /** The instant of its transactions: now, but never before the last one of the account. */
  readonly at: Instant
  /** As it was locked. */
  readonly read: Wallet
  /** As it will be. */
  readonly wallet: Wallet
  readonly transactions: readonly Transaction[]
  readonly entries: readonly Entry[]
  readonly lots: readonly ChangedLot[]
  /** Takes a lot as it was read, or as an earlier transaction of the journal left it. */
  lotOf(read: Readonly<Lot>): Lot
  /** A lot that the next transaction creates; it has the id of that transaction. */
  newLot(lot: Pick<Lot, 'source' | 'from_processor' | 'expires_at'>): Lot
  /**
   * Adds a transaction.
   *
   * @throws RangeError when an amount would exceed `MAX_MICROS`
   */
  add(about: About, sides: readonly Side[]): Transaction
}

/** Spendable, of balances from which all credit that is due to expire was taken. */
export const availableOf = ({ paid, granted, debt }: Wallet): Micros =>
  debt < 0 ? 0 : paid + granted

export const balanceOf = ({ paid, granted, held }: Wallet): Micros => paid + granted + held

export function createJournal(read: Wallet, now: Instant): Journal {
  const at = Math.max(read.updated_at, now)
  const { account_id } = read
  const wallet: Mutable<Wallet> = { ...read, updated_at: at }
  const transactions: Transaction[] = []
  const entries: Entry[] = []
  const lots = new Map<string, { readonly read: Readonly<Lot> | undefined; readonly lot: Lot }>()

  /** The id of a transaction follows from its account and place, so that it needs no source of ids. */
  function idOf(seq: number): string {
    return uuid7Of(at, createHash('sha256').update(`${account_id} ${seq}`).digest())
  }

  return {
    now,
    at,
    read,
    wallet,
    transactions,
    entries,
    get lots() {
      return [...lots.values()]
    },
    lotOf(lot) {
      const known = lots.get(lot.id) ?? { read: lot, lot: { ...lot } }
      lots.set(lot.id, known)
      return known.lot
    },
    newLot({ source, from_processor, expires_at }) {
      const seq = wallet.transactions + 1
      const own = { id: idOf(seq), account_id, seq, created_at: at, rank: RANKS[source] }
      const lot: Lot = { ...EMPTY_LOT, ...own, source, from_processor, expires_at }
      lots.set(lot.id, { read: undefined, lot })
      return lot
    },
    add(about, sides) {
      const seq = wallet.transactions + 1
      const id = idOf(seq)
      const before = { ...wallet }
      wallet.transactions = seq
      const moved = sides.filter(({ amount }) => amount !== 0)
      for (const [index, { ledger, lot, amount }] of moved.entries()) {
        wallet[ledger] = exactly(wallet[ledger] + amount)
        if (lot !== undefined) changeLot(lot, ledger, amount, lot.id === id)
        const number = index + 1
        entries.push({
          transaction_id: id,
          number,
          account_id,
          ledger,
          lot_id: lot?.id ?? null,
          amount,
        })
      }
      const sum = moved.reduce((total, { amount }) => total + BigInt(amount), 0n)
      if (sum !== 0n) throw new Error(`the entries of ${about.key} sum to ${sum}`)
      if (balanceOf(wallet) > MAX_MICROS) throw tooLarge()
      const transaction: Transaction = {
        ...NOTHING_ABOUT,
        ...about,
        id,
        account_id,
        seq,
        at,
        amount: balanceOf(wallet) - balanceOf(before),
        held: wallet.held - before.held,
        debt: wallet.debt - before.debt,
        balance_after: balanceOf(wallet),
        available_after: availableOf(wallet),
      }
      transactions.push(transaction)
      return transaction
    },
  }
}

const EMPTY_LOT = {
  granted: 0,
  remaining: 0,
  held: 0,
  spent: 0,
  expired: 0,
  clawed: 0,
} as const

const NOTHING_ABOUT = {
  reverses: null,
  ref_type: null,
  ref_id: null,
  operation: null,
  meter: null,
  quantity: null,
  app_id: null,
  key_id: null,
  price_version: null,
  note: null,
} as const

/** The column of a lot that an entry of each ledger account changes. */
const COLUMNS = {
  paid: 'remaining',
  granted: 'remaining',
  held: 'held',
  revenue: 'spent',
  debt: 'spent',
  expired: 'expired',
  processor: 'clawed',
  issued: 'clawed',
} as const satisfies Readonly<Record<LedgerAccount, keyof Lot>>

/** What the transaction that creates a lot takes from its source is what the lot was granted. */
function changeLot(lot: Lot, ledger: LedgerAccount, amount: Micros, isNew: boolean): void {
  const column = COLUMNS[ledger]
  if (isNew && column === 'clawed') lot.granted = exactly(lot.granted - amount)
  else lot[column] = exactly(lot[column] + amount)
}

function exactly(amount: number): Micros {
  if (!Number.isSafeInteger(amount)) throw tooLarge()
  return amount
}

function tooLarge(): RangeError {
  return new RangeError(`an amount exceeds ${MAX_MICROS} micros`)
}
