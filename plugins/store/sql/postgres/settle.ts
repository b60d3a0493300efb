import type { SettledAttempt } from '../../../../lib/engine/ports.ts'
import type { Query } from '../client.ts'
import type { Row } from '../rows.ts'
import { fieldsOf } from './fields.ts'
import { OUTCOME, isCountedFailure, isWorthWriting, toValues } from '../settle.ts'
import type { Tables } from '../tables.ts'
import { statusIn } from '../webhooks.ts'

/** With the position in the group, since rows have no order on this database. */
const COLUMNS = [
  ...Object.entries(OUTCOME).map(([name, type]) => `${name} ${type}`),
  'turn integer',
]

/** Records a group of outcomes in one statement, and computes health as `afterAttempt` does, in order. */
export async function settleGroup(
  query: Query,
  t: Tables,
  attempts: readonly SettledAttempt[],
): Promise<readonly Row[]> {
  const rows = attempts.map((settled, turn) => [...toValues(settled), turn])
  return query(settleStatement(t), [JSON.stringify(rows)])
}

/**
 * Locks the rows of webhooks first and in one order. Disabling or deleting a webhook also locks its row
 * before those of its deliveries; different orders would deadlock.
 */
function settleStatement(t: Tables): string {
  // A delivery that would be retried is exhausted when its webhook was disabled: a failure locks its row.
  const unlessDisabled = (column: string, instead: string): string =>
    `CASE WHEN ${IS_DISABLED} THEN ${instead} ELSE o.${column} END`
  return `WITH outcome AS MATERIALIZED (
      ${fieldsOf('$1', COLUMNS)}
    ), locked AS MATERIALIZED (
      SELECT w.id, w.status FROM ${t.webhooks} w JOIN (
          SELECT webhook_id, bool_or(verdict <> 'succeeded') AS failed,
            max(started_at + duration) AS at
          FROM outcome GROUP BY webhook_id) AS latest ON latest.webhook_id = w.id
      WHERE ${isWorthWriting('latest.failed', 'latest.at')} ORDER BY w.id FOR NO KEY UPDATE OF w
    ), settled AS (
      UPDATE ${t.deliveries} d SET status = ${unlessDisabled('status', "'exhausted'")},
        attempts = o.number, automatic = o.automatic, cause = o.next_cause,
        retry = CASE WHEN o.next_cause = 'retry' THEN 1 ELSE 0 END,
        next_at = ${unlessDisabled('next_at', 'NULL')},
        done_at = ${unlessDisabled('done_at', 'o.started_at + o.duration')}, claim = NULL,
        end_reason = CASE WHEN ${IS_DISABLED} THEN 'webhook_disabled' END
      FROM outcome o
      WHERE d.id = o.delivery_id AND d.claim = o.claim AND d.${statusIn('attempted')}
        AND (SELECT count(*) FROM locked) >= 0
      RETURNING o.*
    ), recorded AS (
      INSERT INTO ${t.attempts} (delivery_id, number, cause, started_at, duration, status_code,
        error, response)
      SELECT delivery_id, number, cause, started_at, duration, status_code, error, response
      FROM settled
    ), result AS (
      SELECT *, started_at + duration AS at, max(turn) FILTER (WHERE verdict = 'succeeded')
        OVER (PARTITION BY webhook_id) AS success
      FROM settled
    ), sum AS (
      SELECT webhook_id, max(success) IS NOT NULL AS succeeded, max(at) AS at,
        max(at) FILTER (WHERE verdict = 'succeeded') AS success_at,
        count(*) FILTER (WHERE ${FAILED}) AS failures, min(at) FILTER (WHERE ${FAILED}) AS failure_at,
        bool_or(${COUNTS} OR verdict = 'gone') AS is_reported
      FROM result GROUP BY webhook_id
    ), healed AS (
      UPDATE ${t.webhooks} w SET
        consecutive_failures = sum.failures +
          CASE WHEN sum.succeeded THEN 0 ELSE w.consecutive_failures END,
        first_failure_at = COALESCE(
          CASE WHEN sum.succeeded THEN NULL ELSE w.first_failure_at END, sum.failure_at),
        failing_at = CASE WHEN sum.succeeded THEN NULL ELSE w.failing_at END,
        last_success_at = COALESCE(sum.success_at, w.last_success_at), last_delivery_at = sum.at
      FROM sum, locked WHERE w.id = sum.webhook_id AND w.id = locked.id
      RETURNING w.*, sum.is_reported
    ) SELECT * FROM healed WHERE status = 'active' AND is_reported`
}

const IS_DISABLED = `o.status = 'pending' AND EXISTS (SELECT 1 FROM locked w
  WHERE w.id = d.webhook_id AND w.status = 'disabled')`
const COUNTS = isCountedFailure('verdict', 'cause')
/** Failures after the last success among them. */
const FAILED = `${COUNTS} AND turn > COALESCE(success, -1)`
