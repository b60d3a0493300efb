import type { Settlement } from '../../../../lib/engine/ports.ts'
import type { Query } from '../client.ts'
import type { Row } from '../rows.ts'
import { toSettlingRows } from '../settle.ts'
import type { Tables } from '../tables.ts'

/** Columns of the settling view, in the order in which rows are bound. */
const COLUMNS = [
  'kind',
  'delivery_id',
  'claim',
  'number',
  'cause',
  'started_at',
  'duration',
  'status_code',
  'error',
  'response',
  'status',
  'attempts',
  'automatic',
  'next_cause',
  'next_at',
  'done_at',
  'webhook_id',
  'succeeded',
  'failures',
  'first_failure_at',
  'last_success_at',
  'last_delivery_at',
] as const

type SettlingRow = Partial<Record<(typeof COLUMNS)[number], unknown>>

/** A whole group of outcomes as one statement: its triggers hold the guards. */
export async function settleGroup(
  query: Query,
  t: Tables,
  settlement: Settlement,
): Promise<readonly Row[]> {
  const { attempts, tallies } = toSettlingRows(settlement)
  const rows: readonly SettlingRow[] = [
    ...attempts.map((row) => ({ kind: 'attempt', ...row })),
    ...tallies.map((row) => ({ kind: 'health', ...row })),
  ]
  const values = rows.map((row) => COLUMNS.map((column) => row[column] ?? null))
  await query(insertStatement(t), [JSON.stringify(values)])
  const failed = settlement.tallies.filter(({ failures, gone }) => failures > 0 || gone)
  if (failed.length === 0) return []
  // Committed already: were this read to fail the settlement, its tallies would be added again. The
  // next failure reads the same counters.
  return query(
    `SELECT w.* FROM json_each($1) failed JOIN ${t.webhooks} w ON w.id = failed.value
     WHERE w.status = 'active'`,
    [JSON.stringify(failed.map(({ webhook_id }) => webhook_id))],
  ).catch((): Row[] => [])
}

/** jsonb_each, since of json_each every column would parse its row anew: a third of the time. */
function insertStatement(t: Tables): string {
  const values = COLUMNS.map((_, index) => `value ->> ${index}`).join(', ')
  return `INSERT INTO ${t.settling} (${COLUMNS.join(', ')}) SELECT ${values} FROM jsonb_each($1)`
}
