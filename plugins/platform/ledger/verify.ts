import type { Dialect, Query } from '../../store/sql/client.ts'
import type { Row } from '../../store/sql/rows.ts'
import { integer } from '../../store/sql/rows.ts'
import type { LedgerCheck, LedgerDifference, LedgerVerification } from '../contract/ledger.ts'
import { LEDGER_CHECKS } from '../contract/ledger.ts'
import type { PlatformTables } from '../sql/tables.ts'
import { CHECKS } from './checks.ts'
import { verifyCharges } from './verify-charges.ts'

/** Differences of one check that are named. */
const MOST_NAMED = 50

/** Each check is one statement, so that it compares rows of one moment while others write. */
export async function verify(
  query: Query,
  t: PlatformTables,
  dialect: Dialect,
  accountId: string | null,
): Promise<LedgerVerification> {
  const differences: LedgerDifference[] = []
  let total = 0
  for (const check of LEDGER_CHECKS) {
    if (check === 'charges') continue
    const rows = await query(compare(t, dialect, check), [accountId])
    differences.push(...rows.map((row) => toDifference(check, row)))
    total += integer(rows[0]?.['total'] ?? 0)
  }
  const charges = await verifyCharges(query, t, accountId)
  return {
    ...(await count(query, t, accountId)),
    differences: [...differences, ...charges.slice(0, MOST_NAMED)],
    differences_total: total + charges.length,
  }
}

function compare(t: PlatformTables, dialect: Dialect, check: keyof typeof CHECKS): string {
  const { stored, folded } = CHECKS[check](t, dialect)
  const of = (selects: readonly string[], columns: string): readonly string[] =>
    selects.map(
      (select, index) => `SELECT account_id, id, what, ${columns}
        FROM (${named(select)}) side_${index}`,
    )
  const sides = [...of(stored, 'amount AS found, 0 AS expected'), ...of(folded, '0, amount')]
  return `SELECT account_id, id, what, SUM(found) AS found, SUM(expected) AS expected,
      COUNT(*) OVER () AS total
    FROM (${sides.join(' UNION ALL ')}) side
    WHERE CAST($1 AS TEXT) IS NULL OR account_id = $1
    GROUP BY account_id, id, what HAVING SUM(found) <> SUM(expected)
    ORDER BY account_id, id, what LIMIT ${MOST_NAMED}`
}

/** Names the four columns of a select. */
function named(select: string): string {
  return `SELECT NULL AS account_id, NULL AS id, NULL AS what, NULL AS amount WHERE FALSE
    UNION ALL ${select}`
}

function toDifference(check: LedgerCheck, row: Row): LedgerDifference {
  return {
    check,
    account_id: String(row['account_id']),
    id: String(row['id']),
    what: String(row['what']),
    expected: integer(row['expected']),
    found: integer(row['found']),
  }
}

async function count(
  query: Query,
  t: PlatformTables,
  accountId: string | null,
): Promise<Omit<LedgerVerification, 'differences' | 'differences_total'>> {
  const of = (table: string): string =>
    `(SELECT count(*) FROM ${table} WHERE CAST($1 AS TEXT) IS NULL OR account_id = $1)`
  const [row] = await query(
    `SELECT ${of(t.wallets)} AS accounts, ${of(t.ledger_transactions)} AS transactions,
       ${of(t.ledger_entries)} AS entries, ${of(t.lots)} AS lots, ${of(t.holds)} AS holds`,
    [accountId],
  )
  return {
    accounts: integer(row?.['accounts']),
    transactions: integer(row?.['transactions']),
    entries: integer(row?.['entries']),
    lots: integer(row?.['lots']),
    holds: integer(row?.['holds']),
  }
}
