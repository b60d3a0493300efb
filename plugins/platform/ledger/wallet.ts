import type { Instant } from '../../../lib/time.ts'
import type { Query } from '../../store/sql/client.ts'
import { integer } from '../../store/sql/rows.ts'
import type { LedgerReads, LedgerWrites, LowBalance, WalletRecord } from '../contract/ledger.ts'
import { WALLETS } from '../models/ledger.ts'
import type { PlatformTables } from '../sql/tables.ts'
import type { ReadScope } from '../sql/scope.ts'
import { requireInteger } from './amounts.ts'
import type { Journal } from './journal.ts'
import { createJournal } from './journal.ts'
import { NEVER } from './kinds.ts'
import { expireLot, readDueLots } from './lots.ts'
import { lowOf, post } from './post.ts'

/**
 * Locks the wallet of an account until the unit of work ends, and begins a journal with the expiry of its
 * credit that is due. Statements after it see what others have committed. Undefined when there is no wallet.
 */
export async function lockWallet(
  sql: ReadScope,
  accountId: string,
  now: Instant,
): Promise<Journal | undefined> {
  const { query, t } = sql
  // A change takes the lock on both databases. On SQLite a transaction that begins by reading cannot write
  // once another has written.
  const [row] = await query(
    `UPDATE ${t.wallets} SET transactions = transactions WHERE account_id = $1 RETURNING *`,
    [accountId],
  )
  if (row === undefined) return undefined
  const journal = createJournal(WALLETS.toRecord(row), now)
  for (const lot of await readDueLots(sql, accountId, now)) expireLot(journal, journal.lotOf(lot))
  return journal
}

/** As `lockWallet`, for an account that may have no wallet yet. */
export async function openWallet(
  sql: ReadScope,
  accountId: string,
  currency: string,
  now: Instant,
): Promise<Journal> {
  const locked = await lockWallet(sql, accountId, now)
  if (locked === undefined) await createWallet(sql, accountId, currency, now)
  const journal = locked ?? (await lockWallet(sql, accountId, now))
  if (journal?.wallet.currency !== currency) {
    throw new TypeError(`the wallet of ${accountId} is not in ${currency}`)
  }
  return journal
}

async function createWallet(
  { query, t }: ReadScope,
  accountId: string,
  currency: string,
  now: Instant,
): Promise<void> {
  await query(
    `INSERT INTO ${t.wallets} (account_id, currency, created_at, updated_at)
     VALUES ($1, $2, $3, $3) ON CONFLICT (account_id) DO NOTHING`,
    [accountId, currency, now],
  )
}

export async function setLowBalance(
  sql: ReadScope,
  { account_id, currency, micros, now }: Parameters<LedgerWrites['setLowBalance']>[0],
): Promise<LowBalance | null> {
  const { query, t } = sql
  if (micros !== null) requireInteger(micros, 0, 'the threshold of a balance')
  const journal = await openWallet(sql, account_id, currency, now)
  await post(sql, journal)
  const { at, wallet, read } = journal
  const low = lowOf({ ...wallet, low_balance: micros })
  await query(
    `UPDATE ${t.wallets} SET low_balance = CAST($2 AS BIGINT), low_since = CAST($3 AS BIGINT),
       updated_at = CAST($4 AS BIGINT) WHERE account_id = $1`,
    [account_id, micros, low && (read.low_since ?? at), at],
  )
  return read.low_since === null ? low : null
}

export async function readWallet(
  query: Query,
  t: PlatformTables,
  accountId: string,
  now: Instant,
): Promise<WalletRecord | undefined> {
  const due = (source: string): string =>
    `(SELECT COALESCE(SUM(remaining), 0) FROM ${t.lots} lot WHERE lot.account_id = wallet.account_id
       AND remaining > 0 AND expires_at <= $2 AND source = '${source}') AS due_${source}`
  const [row] = await query(
    `SELECT wallet.*, ${due('paid')}, ${due('granted')} FROM ${t.wallets} wallet
     WHERE account_id = $1`,
    [accountId, now],
  )
  if (row === undefined) return undefined
  const { account_id, currency, held, ...wallet } = WALLETS.toRecord(row)
  const paid = wallet.paid - integer(row['due_paid'])
  const granted = wallet.granted - integer(row['due_granted'])
  const debt = 0 - wallet.debt
  return {
    account_id,
    currency,
    balance: paid + granted + held,
    paid,
    granted,
    held,
    debt,
    available: debt > 0 ? 0 : paid + granted,
    low_balance: wallet.low_balance,
    low_since: wallet.low_since,
    created_at: wallet.created_at,
    updated_at: wallet.updated_at,
  }
}

export async function readExpiring(
  query: Query,
  t: PlatformTables,
  accountId: string,
  now: Instant,
  limit: number,
): ReturnType<LedgerReads['expiring']> {
  const rows = await query(
    `SELECT expires_at, SUM(remaining) AS amount FROM ${t.lots}
     WHERE account_id = $1 AND remaining > 0 AND expires_at > $2 AND expires_at < ${NEVER}
     GROUP BY expires_at ORDER BY expires_at LIMIT $3`,
    [accountId, now, limit],
  )
  return rows.map((row) => ({
    amount: integer(row['amount']),
    expires_at: integer(row['expires_at']),
  }))
}
