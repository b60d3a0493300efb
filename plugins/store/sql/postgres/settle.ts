import type { Settlement } from '../../../../lib/engine/ports.ts'
import type { Query } from '../client.ts'
import type { Row } from '../rows.ts'
import { toSettlingRows } from '../settle.ts'
import type { Tables } from '../tables.ts'
import { statusIn } from '../webhooks.ts'

/** A whole group of outcomes as one statement; health is folded as `applyTally` does. */
export async function settleGroup(
  query: Query,
  t: Tables,
  settlement: Settlement,
): Promise<readonly Row[]> {
  const { attempts, tallies } = toSettlingRows(settlement)
  const failed = settlement.tallies.filter(({ failures, gone }) => failures > 0 || gone)
  return query(settleStatement(t), [
    JSON.stringify(attempts),
    JSON.stringify(tallies),
    JSON.stringify(failed.map(({ webhook_id }) => webhook_id)),
  ])
}

function settleStatement(t: Tables): string {
  // What would be tried again is skipped when its webhook was disabled meanwhile.
  const unlessDisabled = (column: string, instead: string): string =>
    `CASE WHEN o.status = 'pending' AND EXISTS (SELECT 1 FROM ${t.webhooks} w
       WHERE w.id = d.webhook_id AND w.status = 'disabled')
     THEN ${instead} ELSE o.${column} END`
  return `WITH settled AS (
      UPDATE ${t.deliveries} d SET status = ${unlessDisabled('status', "'skipped'")},
        attempts = o.attempts, automatic = o.automatic, cause = o.next_cause,
        retry = CASE WHEN o.next_cause = 'retry' THEN 1 ELSE 0 END,
        next_at = ${unlessDisabled('next_at', 'NULL')},
        done_at = ${unlessDisabled('done_at', 'o.started_at + o.duration')}, claim = NULL
      FROM jsonb_to_recordset($1::jsonb) AS o (delivery_id text, claim text, number integer,
        cause text, started_at bigint, duration integer, status_code integer, error text,
        response text, status text, attempts integer, automatic integer, next_cause text,
        next_at bigint, done_at bigint)
      WHERE d.id = o.delivery_id AND d.claim = o.claim AND d.${statusIn('attempted')}
      RETURNING o.*
    ), recorded AS (
      INSERT INTO ${t.attempts} (delivery_id, number, cause, started_at, duration, status_code,
        error, response)
      SELECT delivery_id, number, cause, started_at, duration, status_code, error, response
      FROM settled
    ), healed AS (
      UPDATE ${t.webhooks} w SET
        consecutive_failures = sum.failures +
          CASE WHEN sum.succeeded = 1 THEN 0 ELSE w.consecutive_failures END,
        first_failure_at = COALESCE(
          CASE WHEN sum.succeeded = 1 THEN NULL ELSE w.first_failure_at END, sum.first_failure_at),
        failing_at = CASE WHEN sum.succeeded = 1 THEN NULL ELSE w.failing_at END,
        last_success_at = COALESCE(sum.last_success_at, w.last_success_at),
        last_delivery_at = sum.last_delivery_at
      FROM jsonb_to_recordset($2::jsonb) AS sum (webhook_id text, succeeded integer,
        failures integer, first_failure_at bigint, last_success_at bigint, last_delivery_at bigint)
      WHERE w.id = sum.webhook_id
      RETURNING w.*
    ) SELECT * FROM healed
      WHERE status = 'active' AND id IN (SELECT jsonb_array_elements_text($3::jsonb))`
}
