import type { Query } from '../../store/sql/client.ts'
import { integer } from '../../store/sql/rows.ts'
import type { LedgerDifference } from '../contract/ledger.ts'
import type { PlatformTables } from '../sql/tables.ts'
import { shareOf } from './amounts.ts'

/**
 * Compares what clawbacks took for each payment with the share that its refunds and disputes have. Shares are
 * computed here: SQLite cannot multiply two amounts exactly.
 */
export async function verifyCharges(
  query: Query,
  t: PlatformTables,
  accountId: string | null,
): Promise<readonly LedgerDifference[]> {
  const rows = await query(
    `SELECT charge.account_id, charge.processor, charge.id, charge.paid, charge.total, lot.granted,
       COALESCE(item.active, 0) AS active, COALESCE(back.taken, 0) AS taken
     FROM ${t.charges} charge
     LEFT JOIN ${t.lots} lot ON lot.id = charge.credit_id AND lot.account_id = charge.account_id
     LEFT JOIN (SELECT processor, charge_id, SUM(amount) AS active FROM ${t.charge_items}
         WHERE active = 1 GROUP BY processor, charge_id) item
       ON item.processor = charge.processor AND item.charge_id = charge.id
     LEFT JOIN (SELECT made.account_id, made.ref_id, SUM(entry.amount) AS taken
         FROM ${t.ledger_transactions} made JOIN ${t.ledger_entries} entry
           ON entry.transaction_id = made.id AND entry.ledger IN ('processor', 'issued')
         WHERE made.ref_type = 'charge' GROUP BY made.account_id, made.ref_id) back
       ON back.account_id = charge.account_id
         AND back.ref_id = charge.processor || ':' || charge.id
     WHERE (CAST($1 AS TEXT) IS NULL OR charge.account_id = $1)
       AND (lot.id IS NULL OR item.active > 0 OR back.taken <> 0)
     ORDER BY charge.account_id, charge.processor, charge.id`,
    [accountId],
  )
  return rows.flatMap((row): LedgerDifference[] => {
    const account_id = String(row['account_id'])
    const id = `${String(row['processor'])} ${String(row['id'])}`
    const about = { check: 'charges', account_id, id } as const
    if (row['granted'] === null) return [{ ...about, what: 'credit', expected: 1, found: 0 }]
    const active = Math.min(integer(row['active']), integer(row['paid']))
    const expected = shareOf(integer(row['granted']), active, integer(row['total']))
    const found = integer(row['taken'])
    return expected === found ? [] : [{ ...about, what: 'taken', expected, found }]
  })
}
