import type { Instant } from '../../../lib/time.ts'
import type { LedgerWork } from '../contract/ledger.ts'
import type { ReadScope } from '../sql/scope.ts'

export async function extend(
  { query, t }: ReadScope,
  { account_id, operation_id }: LedgerWork,
  deadline: Instant,
): Promise<boolean> {
  // As every other verb, it takes the lock of the account before that of a hold.
  await query(`UPDATE ${t.wallets} SET transactions = transactions WHERE account_id = $1`, [
    account_id,
  ])
  const extended = await query(
    `UPDATE ${t.holds} SET deadline_at =
       CASE WHEN deadline_at < $3 THEN CAST($3 AS BIGINT) ELSE deadline_at END
     WHERE account_id = $1 AND operation_id = $2 AND state = 'open' RETURNING 1`,
    [account_id, operation_id, deadline],
  )
  return extended.length > 0
}
