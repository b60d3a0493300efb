import { kernelError } from '../../../lib/errors.ts'
import type { LowBalance, Posted } from '../contract/ledger.ts'
import type { Field } from '../../store/sql/columns.ts'
import { batchOf } from '../model/batches.ts'
import { LEDGER_ENTRIES, LEDGER_TRANSACTIONS, LOTS } from '../models/ledger.ts'
import type { ReadScope } from '../sql/scope.ts'
import type { PlatformModel } from '../sql/tables.ts'
import type { ChangedLot, Journal, Transaction, Wallet } from './journal.ts'
import { availableOf, balanceOf } from './journal.ts'
import { LEDGER_ACCOUNTS } from './kinds.ts'

/**
 * Adds the transactions of a journal with their entries, and changes the lots and the wallet by them: the only
 * writer of these four tables. Each row that is changed must be as it was read.
 */
export async function post(sql: ReadScope, journal: Journal): Promise<LowBalance | null> {
  const { transactions, entries, read, wallet, at } = journal
  if (transactions.length === 0) return null
  await insertAll(sql, LEDGER_TRANSACTIONS, transactions)
  await changeLots(sql, journal.lots)
  await insertAll(sql, LEDGER_ENTRIES, entries)
  const low = lowOf(wallet)
  const low_since = low && (read.low_since ?? at)
  await changeWallet(sql, read, { ...wallet, low_since })
  return read.low_since === null ? low : null
}

/** Whether a transaction has this key. Asked under the lock of its account: no other posts it meanwhile. */
export async function isPosted({ query, t }: ReadScope, key: string): Promise<boolean> {
  const found = await query(`SELECT 1 FROM ${t.ledger_transactions} WHERE key = $1`, [key])
  return found.length > 0
}

/** What is posted of one of a journal's transactions. */
export function postedOf(
  { wallet }: Journal,
  { account_id, id }: Transaction,
  amount: number,
  low: LowBalance | null,
): Posted {
  const balances = { balance: balanceOf(wallet), available: availableOf(wallet) }
  return { account_id, transaction_id: id, amount, ...balances, low }
}

/** The threshold of a wallet that its available balance is below. */
export function lowOf(wallet: Wallet): LowBalance | null {
  const available = availableOf(wallet)
  const { low_balance } = wallet
  return low_balance !== null && available < low_balance ? { available, low_balance } : null
}

export async function insertAll<T>(
  { query, t, dialect }: ReadScope,
  { table, record }: Pick<PlatformModel, 'table'> & { readonly record: Field<T> },
  records: readonly T[],
): Promise<void> {
  if (records.length === 0) return
  const { columns, rows, value } = batchOf(dialect, record)
  await query(`INSERT INTO ${t[table]} (${columns}) ${rows}`, [value(records)])
}

/** @throws KeyhookError `unavailable` when other rows were changed than those that were read */
export function requireCount(found: readonly unknown[], expected: number, what: string): void {
  if (found.length === expected) return
  const internal = `${found.length} of ${expected} ${what} were as they had been read`
  throw kernelError('unavailable', { internal })
}

const LOT_COLUMNS = ['remaining', 'held', 'spent', 'expired', 'clawed', 'expires_at'] as const

async function changeLots(sql: ReadScope, lots: readonly ChangedLot[]): Promise<void> {
  const { query, t, dialect } = sql
  const created = lots.flatMap(({ read, lot }) => (read === undefined ? [lot] : []))
  await insertAll(sql, LOTS, created)
  const changed = lots.flatMap(({ read, lot }) =>
    read !== undefined && LOT_COLUMNS.some((column) => lot[column] !== read[column])
      ? [[lot.id, ...[lot, read].flatMap((one) => LOT_COLUMNS.map((column) => one[column]))]]
      : [],
  )
  if (changed.length === 0) return
  const typed = [...LOT_COLUMNS, ...LOT_COLUMNS.map((column) => `was_${column}`)].map(
    (name, index) => `CAST(one.value ->> ${index + 1} AS BIGINT) AS ${name}`,
  )
  const found = await query(
    `WITH changed AS (
       SELECT one.value ->> 0 AS id, ${typed.join(', ')} FROM ${dialect.each('$1', 'one')})
     UPDATE ${t.lots} SET ${LOT_COLUMNS.map((column) => `${column} = changed.${column}`).join(', ')}
     FROM changed WHERE ${t.lots}.id = changed.id AND ${LOT_COLUMNS.map(
       (column) => `${t.lots}.${column} = changed.was_${column}`,
     ).join(' AND ')} RETURNING 1`,
    [JSON.stringify(changed)],
  )
  requireCount(found, changed.length, 'lots')
}

const WALLET_COLUMNS = [...LEDGER_ACCOUNTS, 'low_since', 'transactions', 'updated_at'] as const

async function changeWallet({ query, t }: ReadScope, read: Wallet, wallet: Wallet): Promise<void> {
  const set = WALLET_COLUMNS.map((column, index) => `${column} = CAST($${index + 3} AS BIGINT)`)
  const found = await query(
    `UPDATE ${t.wallets} SET ${set.join(', ')}
     WHERE account_id = $1 AND transactions = CAST($2 AS BIGINT) RETURNING 1`,
    [read.account_id, read.transactions, ...WALLET_COLUMNS.map((column) => wallet[column])],
  )
  requireCount(found, 1, 'wallets')
}
