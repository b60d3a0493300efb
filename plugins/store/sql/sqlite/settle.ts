import { isCounted } from '../../../../lib/delivery/health.ts'
import type { SettledAttempt } from '../../../../lib/engine/ports.ts'
import type { Query } from '../client.ts'
import type { Row } from '../rows.ts'
import { OUTCOME, toValues } from '../settle.ts'
import type { Tables } from '../tables.ts'

/** Columns of the view of outcomes. */
const COLUMNS = Object.keys(OUTCOME)

/** Records a group of outcomes in one statement, whose triggers have the guards and compute health. */
export async function settleGroup(
  query: Query,
  t: Tables,
  attempts: readonly SettledAttempt[],
): Promise<readonly Row[]> {
  await query(insertStatement(t), [JSON.stringify(attempts.map(toValues))])
  const reported = attempts.filter(isReported)
  if (reported.length === 0) return []
  // Committed already: an error of this read must not cause a retry. The next failure reads the same
  // counters.
  return query(
    `SELECT DISTINCT w.* FROM json_each($1) reported
       JOIN ${t.attempts} a ON a.delivery_id = reported.value ->> 0 AND a.number = reported.value ->> 1
         AND a.started_at = reported.value ->> 2
       JOIN ${t.webhooks} w ON w.id = reported.value ->> 3
     WHERE w.status = 'active'`,
    [
      JSON.stringify(
        reported.map(({ delivery_id, attempt: { number, started_at }, webhook_id }) => [
          delivery_id,
          number,
          started_at,
          webhook_id,
        ]),
      ),
    ],
  ).catch((): Row[] => [])
}

function isReported({ verdict, attempt: { trigger } }: SettledAttempt): boolean {
  return verdict === 'gone' || isCounted({ verdict, trigger })
}

/** jsonb_each, since of json_each every column would parse its row anew: a third of the time. */
function insertStatement(t: Tables): string {
  const values = COLUMNS.map((_, index) => `value ->> ${index}`).join(', ')
  return `INSERT INTO ${t.settling} (${COLUMNS.join(', ')}) SELECT ${values} FROM jsonb_each($1)`
}
