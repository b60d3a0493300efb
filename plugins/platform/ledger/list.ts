import type { Dialect, Query } from '../../store/sql/client.ts'
import { integer, integerOrNull, textOrNull } from '../../store/sql/rows.ts'
import { MOST_LOOKED_AT } from '../../store/contract/page.ts'
import type {
  CreditRecord,
  LedgerAccount,
  LedgerReads,
  LedgerTransaction,
  TransactionListQuery,
} from '../contract/ledger.ts'
import type { Condition } from '../../store/sql/conditions.ts'
import { having } from '../model/pages.ts'
import { recordsOf } from '../model/records.ts'
import { LEDGER_TRANSACTIONS, LOTS } from '../models/ledger.ts'
import type { PlatformTables } from '../sql/tables.ts'
import type { Transaction } from './journal.ts'
import { NEVER } from './kinds.ts'

export async function listTransactions(
  query: Query,
  t: PlatformTables,
  dialect: Dialect,
  { account_id, after, limit, from, to, kind, app_id, key_id }: TransactionListQuery,
): ReturnType<LedgerReads['transactions']> {
  const { rows, ...more } = await recordsOf(query, t, LEDGER_TRANSACTIONS).page({
    of: { account_id },
    key: ['seq'],
    within: [
      ...(from === null ? [] : [since(t, account_id, from, '>=')]),
      ...(to === null ? [] : [since(t, account_id, to, '<')]),
    ],
    filters: having(LEDGER_TRANSACTIONS, { kind, app_id, key_id }),
    most: MOST_LOOKED_AT,
    after,
    limit,
  })
  return { ...more, rows: await withEntries(query, t, dialect, rows) }
}

/** Instants do not decrease within an account, so that an instant is a place in its order. */
function since(t: PlatformTables, accountId: string, at: number, how: '>=' | '<'): Condition {
  return {
    sql: `seq ${how} COALESCE((SELECT first.seq FROM ${t.ledger_transactions} first
      WHERE first.account_id = $1 AND first.at >= $2 ORDER BY first.at, first.seq LIMIT 1), ${NEVER})`,
    bind: [accountId, at],
  }
}

export async function getTransaction(
  query: Query,
  t: PlatformTables,
  dialect: Dialect,
  account_id: string,
  id: string,
): Promise<LedgerTransaction | undefined> {
  const found = await recordsOf(query, t, LEDGER_TRANSACTIONS).get({ id, account_id })
  const [transaction] = await withEntries(query, t, dialect, found === undefined ? [] : [found])
  return transaction
}

async function withEntries(
  query: Query,
  t: PlatformTables,
  dialect: Dialect,
  transactions: readonly Transaction[],
): Promise<readonly LedgerTransaction[]> {
  if (transactions.length === 0) return []
  const rows = await query(
    `SELECT transaction_id, ledger, SUM(amount) AS amount FROM ${t.ledger_entries}
     WHERE ${dialect.among('transaction_id', '$1')}
     GROUP BY transaction_id, ledger HAVING SUM(amount) <> 0
     ORDER BY transaction_id, MIN(number)`,
    [JSON.stringify(transactions.map(({ id }) => id))],
  )
  const entries = new Map<string, LedgerTransaction['entries'][number][]>()
  for (const row of rows) {
    const own = entries.get(String(row['transaction_id'])) ?? []
    own.push({ account: row['ledger'] as LedgerAccount, amount: integer(row['amount']) })
    entries.set(String(row['transaction_id']), own)
  }
  return transactions.map((transaction) => ({
    ...transaction,
    entries: entries.get(transaction.id) ?? [],
  }))
}

export async function getCredit(
  query: Query,
  t: PlatformTables,
  accountId: string,
  id: string,
): Promise<CreditRecord | undefined> {
  const [row] = await query(
    `SELECT lot.*, brought.kind, brought.note, revoked.at AS revoked_at FROM ${t.lots} lot
     JOIN ${t.ledger_transactions} brought ON brought.id = lot.id
     LEFT JOIN ${t.ledger_transactions} revoked ON revoked.reverses = lot.id
     WHERE lot.id = $1 AND lot.account_id = $2`,
    [id, accountId],
  )
  if (row === undefined) return undefined
  const lot = LOTS.toRecord(row)
  const { remaining, held, spent, expired, clawed, created_at } = lot
  return {
    id,
    account_id: accountId,
    kind: row['kind'] as CreditRecord['kind'],
    amount: lot.granted,
    remaining,
    held,
    spent,
    expired,
    clawed,
    expires_at: lot.expires_at === NEVER ? null : lot.expires_at,
    note: textOrNull(row['note']),
    revoked_at: integerOrNull(row['revoked_at']),
    created_at,
  }
}
