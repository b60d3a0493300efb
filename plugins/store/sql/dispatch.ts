import type {
  Claim,
  ClaimedDelivery,
  EngineStore,
  FailedWebhook,
  HeldClaim,
  LaneHead,
  Settlement,
} from '../../../lib/engine/ports.ts'
import type { Instant } from '../../../lib/time.ts'
import type { Query, SqlClient } from './client.ts'
import { toDelivery } from './deliveries.ts'
import type { Row } from './rows.ts'
import { integer, integerOrNull } from './rows.ts'
import { settleStatement, toSettlingRows } from './settle.ts'
import type { Tables } from './tables.ts'
import { statusIn } from './webhooks.ts'

type DispatchStore = Pick<EngineStore, 'recover' | 'lanes' | 'claim' | 'release' | 'settle'>

/** The due side of the store: every statement carries its own guard and is its own commit. */
export function dispatchStore(client: SqlClient, t: Tables): DispatchStore {
  return {
    recover: (now) => client.exclusive((statement) => recover(statement, t, now)),
    lanes: (webhookIds) => lanes(client.read, t, webhookIds),
    async claim(claim) {
      const rows = await client.exclusive((statement) => claimRows(statement, t, claim))
      return withBodies(client.read, t, rows)
    },
    release: (claims, now) => client.exclusive((statement) => release(statement, t, claims, now)),
    settle: (settlement) => client.exclusive((statement) => settle(statement, t, settlement)),
  }
}

async function recover(statement: Query, t: Tables, now: Instant): Promise<number> {
  const rows = await statement(
    `UPDATE ${t.deliveries} SET status = 'pending', next_at = $1, claim = NULL
     WHERE done_at IS NULL AND ${statusIn('lease_ended')} RETURNING id`,
    [now],
  )
  return rows.length
}

/** Hops from lane to lane over the index of due work, so that its cost is the lanes, not the rows. */
async function lanes(
  query: Query,
  t: Tables,
  webhookIds: readonly string[] | undefined,
): Promise<readonly LaneHead[]> {
  const due = `${t.deliveries} d WHERE d.done_at IS NULL`
  const source =
    webhookIds === undefined
      ? `WITH RECURSIVE lane (webhook_id) AS (
           SELECT MIN(webhook_id) FROM ${due}
           UNION ALL
           SELECT (SELECT MIN(d.webhook_id) FROM ${due} AND d.webhook_id > lane.webhook_id)
           FROM lane WHERE lane.webhook_id IS NOT NULL)`
      : `WITH lane (webhook_id) AS (SELECT value FROM json_each($1))`
  const rows = await query(
    `${source} SELECT webhook_id,
       (SELECT d.account_id FROM ${due} AND d.webhook_id = lane.webhook_id LIMIT 1) AS account_id,
       (SELECT MIN(d.next_at) FROM ${due} AND d.webhook_id = lane.webhook_id AND d.retry = 0)
         AS first_due,
       (SELECT MIN(d.next_at) FROM ${due} AND d.webhook_id = lane.webhook_id AND d.retry = 1)
         AS retry_due
     FROM lane WHERE webhook_id IS NOT NULL`,
    webhookIds === undefined ? [] : [JSON.stringify(webhookIds)],
  )
  return rows
    .filter((row) => row['account_id'] !== null)
    .map((row) => ({
      webhook_id: String(row['webhook_id']),
      account_id: String(row['account_id']),
      first_due: integerOrNull(row['first_due']),
      retry_due: integerOrNull(row['retry_due']),
    }))
}

/** A claimed row stays in the index of due work, due when its lease ends: then it is claimed anew. */
async function claimRows(statement: Query, t: Tables, claim: Claim): Promise<readonly Row[]> {
  const due = (lane: number, retry: 0 | 1): string =>
    `SELECT * FROM (SELECT id, retry, next_at FROM ${t.deliveries}
       WHERE webhook_id = $${lane} AND done_at IS NULL AND retry = ${retry} AND next_at <= $1
       ORDER BY next_at, id LIMIT $${lane + 1})`
  const picks = claim.lanes.map((_, index) => {
    const lane = 4 + 2 * index
    return `SELECT id FROM (SELECT * FROM (${due(lane, 0)} UNION ALL ${due(lane, 1)})
      ORDER BY retry, next_at, id LIMIT $${lane + 1})`
  })
  if (picks.length === 0) return []
  return statement(
    `UPDATE ${t.deliveries} SET status = 'delivering', claim = $2, next_at = $3
     WHERE id IN (${picks.join(' UNION ALL ')}) AND ${statusIn('claimed')} RETURNING *`,
    [
      claim.now,
      claim.token,
      claim.lease_until,
      ...claim.lanes.flatMap(({ webhook_id, limit }) => [webhook_id, limit]),
    ],
  )
}

/** RETURNING has no order, so the time-ordered id restores first come, first served. */
async function withBodies(
  query: Query,
  t: Tables,
  rows: readonly Row[],
): Promise<readonly ClaimedDelivery[]> {
  if (rows.length === 0) return []
  const events = await query<{ account_id: string; id: string; body: Uint8Array }>(
    `SELECT e.account_id, e.id, e.body FROM json_each($1) asked
     JOIN ${t.events} e ON e.account_id = asked.value ->> 0 AND e.id = asked.value ->> 1`,
    [JSON.stringify(rows.map((row) => [row['account_id'], row['event_id']]))],
  )
  const bodies = new Map(events.map(({ account_id, id, body }) => [`${account_id}\n${id}`, body]))
  return rows
    .map(toDelivery)
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .flatMap((delivery) => {
      const body = bodies.get(`${delivery.account_id}\n${delivery.event_id}`)
      return body === undefined ? [] : [{ delivery, body }]
    })
}

async function release(
  statement: Query,
  t: Tables,
  claims: readonly HeldClaim[],
  now: Instant,
): Promise<void> {
  const disabled = `EXISTS (SELECT 1 FROM ${t.webhooks} w
    WHERE w.id = ${t.deliveries}.webhook_id AND w.status = 'disabled')`
  await statement(
    `UPDATE ${t.deliveries} SET claim = NULL,
       status = CASE WHEN ${disabled} THEN 'skipped' ELSE 'pending' END,
       next_at = CASE WHEN ${disabled} THEN NULL ELSE $2 END,
       done_at = CASE WHEN ${disabled} THEN $2 END
     FROM json_each($1) held
     WHERE ${t.deliveries}.id = held.value ->> 0 AND claim = held.value ->> 1
       AND ${statusIn('lease_ended')}`,
    [JSON.stringify(claims.map(({ delivery_id, claim }) => [delivery_id, claim])), now],
  )
}

async function settle(
  statement: Query,
  t: Tables,
  settlement: Settlement,
): Promise<readonly FailedWebhook[]> {
  await statement(settleStatement(t), [JSON.stringify(toSettlingRows(settlement))])
  const failed = settlement.tallies.filter(({ failures, gone }) => failures > 0 || gone)
  if (failed.length === 0) return []
  // Committed already: were this read to fail the settlement, its tallies would be added again. The
  // next failure reads the same counters.
  const rows = await statement(
    `SELECT w.* FROM json_each($1) failed JOIN ${t.webhooks} w ON w.id = failed.value
     WHERE w.status = 'active'`,
    [JSON.stringify(failed.map(({ webhook_id }) => webhook_id))],
  ).catch((): Row[] => [])
  return rows.map((row) => ({
    webhook_id: String(row['id']),
    account_id: String(row['account_id']),
    consecutive_failures: integer(row['consecutive_failures']),
    first_failure_at: integerOrNull(row['first_failure_at']),
    failing_at: integerOrNull(row['failing_at']),
  }))
}
