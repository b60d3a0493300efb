import type {
  Claim,
  ClaimedDelivery,
  DeliveryRecord,
  EngineStore,
  FailedWebhook,
  DeliveryClaim,
  QueueHead,
} from '../../../lib/engine/ports.ts'
import type { Instant } from '../../../lib/time.ts'
import type { Dialect, Query, SqlClient } from './client.ts'
import type { Row } from './rows.ts'
import { integer, integerOrNull } from './rows.ts'
import type { Tables } from './tables.ts'
import { WHEN_DISABLED, statusIn } from './webhooks.ts'

type DispatchStore = Pick<
  EngineStore,
  'recover' | 'queueHeads' | 'claim' | 'release' | 'disclaim' | 'settle'
>

/** Statements of the dispatcher: each has its own guard and its own commit. */
export function dispatchStore(client: SqlClient, t: Tables): DispatchStore {
  const { dialect, read, exclusive, claimant } = client
  const { groups } = dialect
  return {
    recover: (now) =>
      exclusive('claim', (statement) => recover(statement, t, dialect, now, claimant)),
    queueHeads: (webhookIds) => queueHeads(read, t, dialect, webhookIds),
    // A claimed row stays in the index of due work, due when its lease expires: then it is claimed again.
    async claim(ask) {
      const claimed = await exclusive('claim', async (statement) => {
        const claim = ask()
        if (claim.renews) await renew(statement, t, claimant, claim.lease_until)
        return groups.claim(statement, t, claim)
      })
      return withBodies(read, t, dialect, claimed)
    },
    release: (claims, now) =>
      exclusive('claim', (statement) => release(statement, t, dialect, claims, now)),
    disclaim: (claim, now) =>
      exclusive('claim', async (statement) => {
        const taken = await takenBy(statement, t, dialect, claim)
        if (taken.length > 0) await release(statement, t, dialect, taken, now)
      }),
    async settle(attempts) {
      const rows = await exclusive('settle', (statement) => groups.settle(statement, t, attempts))
      return rows.map(toFailedWebhook)
    },
  }
}

async function recover(
  statement: Query,
  t: Tables,
  dialect: Dialect,
  now: Instant,
  claimant: string,
): Promise<number> {
  const rows = await statement(
    `UPDATE ${t.deliveries} SET status = 'pending', next_at = $1, claim = NULL
     WHERE done_at IS NULL AND ${statusIn('lease_ended')} AND ${dialect.abandoned(t, '$2')}
     RETURNING id`,
    [now, claimant],
  )
  return rows.length
}

async function renew(
  statement: Query,
  t: Tables,
  claimant: string,
  leaseUntil: Instant,
): Promise<void> {
  await statement(
    `UPDATE ${t.deliveries} SET next_at = $1
     WHERE done_at IS NULL AND ${statusIn('lease_ended')} AND claim LIKE $2`,
    [leaseUntil, `${claimant}.%`],
  )
}

/**
 * Skips from webhook to webhook over the index of due work, so that the cost depends on the number of
 * webhooks, not of rows. The account of a webhook is that of its first row in the order of the index:
 * without that order a planner reads the table, where due rows come after all finished ones.
 */
async function queueHeads(
  query: Query,
  t: Tables,
  dialect: Dialect,
  webhookIds: readonly string[] | undefined,
): Promise<readonly QueueHead[]> {
  const due = `${t.deliveries} d WHERE d.done_at IS NULL`
  const source =
    webhookIds === undefined
      ? `WITH RECURSIVE queue (webhook_id) AS (
           SELECT MIN(webhook_id) FROM ${due}
           UNION ALL
           SELECT (SELECT MIN(d.webhook_id) FROM ${due} AND d.webhook_id > queue.webhook_id)
           FROM queue WHERE queue.webhook_id IS NOT NULL)`
      : `WITH queue (webhook_id) AS (SELECT named.value ->> 0 FROM ${dialect.each('$1', 'named')})`
  const rows = await query(
    `${source} SELECT webhook_id,
       (SELECT d.account_id FROM ${due} AND d.webhook_id = queue.webhook_id
         ORDER BY d.retry, d.next_at, d.id LIMIT 1) AS account_id,
       (SELECT MIN(d.next_at) FROM ${due} AND d.webhook_id = queue.webhook_id AND d.retry = 0)
         AS first_due,
       (SELECT MIN(d.next_at) FROM ${due} AND d.webhook_id = queue.webhook_id AND d.retry = 1)
         AS retry_due
     FROM queue WHERE webhook_id IS NOT NULL`,
    webhookIds === undefined ? [] : [JSON.stringify(webhookIds.map((id) => [id]))],
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

/** Adds the bodies to claimed deliveries and sorts them by id, which is the order of creation. */
async function withBodies(
  query: Query,
  t: Tables,
  dialect: Dialect,
  claimed: readonly DeliveryRecord[],
): Promise<readonly ClaimedDelivery[]> {
  if (claimed.length === 0) return []
  const deliveries = claimed.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const rows = await query<{
    turn: unknown
    body: Uint8Array
    traceparent: string | null
  }>(
    `SELECT asked.value ->> 2 AS turn, e.body, e.traceparent FROM ${dialect.each('$1', 'asked')}
     JOIN ${t.events} e ON e.account_id = asked.value ->> 0 AND e.id = asked.value ->> 1`,
    [
      JSON.stringify(
        deliveries.map(({ account_id, event_id }, turn) => [account_id, event_id, turn]),
      ),
    ],
  )
  const bodies = new Map(rows.map((row) => [Number(row.turn), row]))
  return deliveries.flatMap((delivery, turn): ClaimedDelivery[] => {
    const found = bodies.get(turn)
    if (found === undefined) return []
    const { body, traceparent } = found
    return [traceparent === null ? { delivery, body } : { delivery, body, traceparent }]
  })
}

async function release(
  statement: Query,
  t: Tables,
  dialect: Dialect,
  claims: readonly DeliveryClaim[],
  now: Instant,
): Promise<void> {
  const status = `(SELECT w.status FROM ${t.webhooks} w WHERE w.id = ${t.deliveries}.webhook_id)`
  const isActive = `COALESCE(${status}, 'deleted') = 'active'`
  await statement(
    `UPDATE ${t.deliveries} SET claim = NULL,
       status = CASE COALESCE(${status}, 'deleted')
         WHEN 'active' THEN 'pending' WHEN 'disabled' THEN ${WHEN_DISABLED.status}
         ELSE 'canceled' END,
       end_reason = CASE ${status} WHEN 'disabled' THEN ${WHEN_DISABLED.end_reason} END,
       next_at = CASE WHEN ${isActive} THEN CAST($2 AS BIGINT) END,
       done_at = CASE WHEN ${isActive} THEN NULL ELSE CAST($2 AS BIGINT) END
     FROM ${dialect.each('$1', 'held')}
     WHERE ${t.deliveries}.id = held.value ->> 0 AND claim = held.value ->> 1
       AND ${statusIn('lease_ended')}`,
    [JSON.stringify(claims.map(({ delivery_id, claim }) => [delivery_id, claim])), now],
  )
}

/** The deliveries of a claim, which are due when its lease expires. */
async function takenBy(
  query: Query,
  t: Tables,
  dialect: Dialect,
  { queues, lease_until, token }: Claim,
): Promise<readonly DeliveryClaim[]> {
  const rows = await query<{ id: string }>(
    `SELECT id FROM ${t.deliveries}
     WHERE ${dialect.among('webhook_id', '$1')} AND retry IN (0, 1) AND next_at = $2
       AND done_at IS NULL AND claim = $3`,
    [JSON.stringify(queues.map(({ webhook_id }) => webhook_id)), lease_until, token],
  )
  return rows.map(({ id }) => ({ delivery_id: id, claim: token }))
}

function toFailedWebhook(row: Row): FailedWebhook {
  return {
    webhook_id: String(row['id']),
    account_id: String(row['account_id']),
    consecutive_failures: integer(row['consecutive_failures']),
    first_failure_at: integerOrNull(row['first_failure_at']),
    failing_at: integerOrNull(row['failing_at']),
  }
}
