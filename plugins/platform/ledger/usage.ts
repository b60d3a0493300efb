import type { Query } from '../../store/sql/client.ts'
import { cutPage } from '../../store/sql/pages.ts'
import { integer } from '../../store/sql/rows.ts'
import type {
  LedgerReads,
  Micros,
  UsageGroup,
  UsageQuery,
  UsageTotals,
} from '../contract/ledger.ts'
import type { PlatformTables } from '../sql/tables.ts'
import type { ReadScope } from '../sql/scope.ts'
import type { Transaction } from './journal.ts'

/** Adds a charge to the usage of its day. */
export async function recordUsage(
  { query, t }: ReadScope,
  day: string,
  { account_id, operation, meter, quantity, app_id, key_id }: Transaction,
  charged: Micros,
): Promise<void> {
  const days = t.usage_days
  await query(
    `INSERT INTO ${days} (account_id, day, operation, meter, app_id, key_id, count, quantity, charged)
     VALUES ($1, $2, $3, $4, $5, $6, 1, CAST($7 AS BIGINT), CAST($8 AS BIGINT))
     ON CONFLICT (account_id, day, operation, meter, app_id, key_id) DO UPDATE SET
       count = ${days}.count + 1, quantity = ${days}.quantity + excluded.quantity,
       charged = ${days}.charged + excluded.charged`,
    [account_id, day, operation, meter, app_id ?? '', key_id ?? '', quantity, charged],
  )
}

const COLUMNS: Readonly<Record<UsageGroup, string>> = {
  day: 'day',
  app: 'app_id',
  key: 'key_id',
  meter: 'meter',
  operation: 'operation',
}

/** Groups whose rows are all of one meter. */
const MEASURED: ReadonlySet<UsageGroup> = new Set(['meter', 'operation'])

export async function readUsage(
  query: Query,
  t: PlatformTables,
  { account_id, by, from, to, after, limit }: UsageQuery,
): ReturnType<LedgerReads['usage']> {
  const column = COLUMNS[by]
  const found = await query(
    `SELECT ${column} AS found, SUM(count) AS count, SUM(quantity) AS quantity,
       SUM(charged) AS charged
     FROM ${t.usage_days} WHERE account_id = $1 AND day >= $2 AND day <= $3
       AND (CAST($4 AS TEXT) IS NULL OR ${column} > $4)
     GROUP BY ${column} ORDER BY ${column} LIMIT $5`,
    [account_id, from, to, after, limit + 1],
  )
  const { rows, more } = cutPage(found, limit)
  return {
    more,
    rows: rows.map((row) => ({
      group: String(row['found']),
      count: integer(row['count']),
      quantity: MEASURED.has(by) ? integer(row['quantity']) : null,
      charged: integer(row['charged']),
    })),
  }
}

export async function readUsageTotals(
  query: Query,
  t: PlatformTables,
  { account_id, from, to }: Pick<UsageQuery, 'account_id' | 'from' | 'to'>,
): Promise<UsageTotals> {
  const [row] = await query(
    `SELECT COALESCE(SUM(count), 0) AS count, COALESCE(SUM(charged), 0) AS charged
     FROM ${t.usage_days} WHERE account_id = $1 AND day >= $2 AND day <= $3`,
    [account_id, from, to],
  )
  return { count: integer(row?.['count']), charged: integer(row?.['charged']) }
}
