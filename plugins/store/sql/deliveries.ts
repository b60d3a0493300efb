import type { Attempt, AttemptErrorCode, AttemptTrigger } from '../../../lib/delivery/state.ts'
import type { DeliveryRecord } from '../../../lib/engine/ports.ts'
import { uuid7Floor } from '../../../lib/internal/uuid7.ts'
import { HOUR } from '../../../lib/time.ts'
import type {
  DeliveryReads,
  DeliveryWrites,
  DeliveryListQuery,
  FailedStep,
  InspectedDelivery,
} from '../contract/deliveries.ts'
import { FAILED_STATUSES, MOST_ATTEMPTS } from '../contract/deliveries.ts'
import { MOST_LOOKED_AT } from '../contract/page.ts'
import type { Dialect, Query } from './client.ts'
import type { Group } from './columns.ts'
import { big, group, id, int, named, orNull, text } from './columns.ts'
import { allOf, asked, askedList, equal } from './conditions.ts'
import { lastIdExamined, readFilteredPage, readSizedPage } from './pages.ts'
import type { Row } from './rows.ts'
import { BEHIND_ALL, insertion, integer, integerOrNull, textOrNull } from './rows.ts'
import type { Tables } from './tables.ts'
import { statusIn } from './webhooks.ts'

export const DELIVERY: Group<DeliveryRecord> = group({
  id: id(),
  account_id: id(),
  webhook_id: id(),
  event_id: id(),
  event_type: text(),
  app_id: orNull(id()),
  status: text<DeliveryRecord['status']>(),
  attempts: int(),
  automatic: int(),
  // `trigger` is a keyword of SQL.
  trigger: named('cause', text<AttemptTrigger>()),
  next_at: orNull(big()),
  end_reason: orNull(text<NonNullable<DeliveryRecord['end_reason']>>()),
  created_at: big(),
  done_at: orNull(big()),
  claim: orNull(text()),
})

/** Counts unfinished deliveries, over the index of due work. */
export async function countUnfinished(query: Query, t: Tables, most: number): Promise<number> {
  const [row] = await query(
    `SELECT count(*) AS count FROM
       (SELECT next_at FROM ${t.deliveries} WHERE done_at IS NULL LIMIT $1) AS unfinished`,
    [most],
  )
  return integer(row?.['count'])
}

export function deliveryReads(query: Query, t: Tables, dialect: Dialect): DeliveryReads {
  async function withAttempts(rows: readonly Row[]): Promise<InspectedDelivery[]> {
    if (rows.length === 0) return []
    const attempts = await query(
      `SELECT * FROM ${t.attempts} WHERE ${dialect.among('delivery_id', '$1')} ORDER BY number`,
      [JSON.stringify(rows.map((row) => row['id']))],
    )
    return rows.map((row) => ({
      delivery: DELIVERY.read(row),
      attempts: attempts
        .filter((attempt) => attempt['delivery_id'] === row['id'])
        .map((attempt) => toAttempt(attempt)),
    }))
  }

  return {
    async get(accountId, webhookId, id) {
      const rows = await query(
        `SELECT * FROM ${t.deliveries} WHERE id = $1 AND webhook_id = $2 AND account_id = $3`,
        [id, webhookId, accountId],
      )
      const [inspected] = await withAttempts(rows)
      return inspected
    },
    async list(page, most = MOST_LOOKED_AT) {
      const { account_id, webhook_id, status, event_type, event_id, apps, limit, bytes } = page
      const list = { table: t.deliveries, key: ['id'], order: 'desc' } as const
      const indexed = [
        {
          sql: `webhook_id = $1 AND id < $2 ${isFailed(status) ? `AND ${FAILED}` : ''}`,
          bind: [webhook_id, page.after ?? BEHIND_ALL],
        },
      ]
      const filters = [
        asked('text', status, 'status = $1'),
        asked('text', event_type, 'event_type = $1'),
        asked('text', event_id, 'event_id = $1'),
        askedList(apps, dialect.among('app_id', '$1')),
      ]
      const size = `(SELECT COALESCE(sum(octet_length(response)), 0) FROM ${t.attempts}
        WHERE delivery_id = ${t.deliveries}.id)`
      return readFilteredPage(query, { ...list, indexed, filters, most }, async (found) => {
        const where = allOf([found, equal({ account_id })])
        const { rows, more } = await readSizedPage(query, { ...list, size, where, limit, bytes })
        return { rows: await withAttempts(rows), more }
      })
    },
    async countFailed(failed, most = MOST_LOOKED_AT) {
      const { where, bind, last } = await failedStep(query, t, dialect, failed, most)
      const [row] = await query(
        `SELECT count(*) AS count FROM ${t.deliveries} WHERE ${where}`,
        bind,
      )
      return { count: integer(row?.['count']), next: last ?? null }
    },
    async hasUnfinishedBeyond(webhookId, { types, apps }) {
      const rows = await query(
        `SELECT id FROM ${t.deliveries} WHERE webhook_id = $1 AND done_at IS NULL AND (
           (CAST($2 AS TEXT) IS NOT NULL AND NOT (${dialect.among('event_type', '$2')}))
           OR (CAST($3 AS TEXT) IS NOT NULL
             AND NOT (${dialect.among("COALESCE(app_id, '')", '$3')})))
         LIMIT 1`,
        [webhookId, types && JSON.stringify(types), apps && JSON.stringify(apps)],
      )
      return rows.length > 0
    },
    async ofEvents(webhookId, events, after, most = MOST_LOOKED_AT) {
      const made = events.map(({ created_at }) => created_at)
      const from = `webhook_id = $1 AND id ${after === null ? '>=' : '>'} $2`
      const start = [webhookId, after ?? uuid7Floor(Math.min(...made))]
      const end = uuid7Floor(Math.max(...made) + HOUR)
      const within = { sql: `${from} AND id < $3`, bind: [...start, end] }
      const last = await lastIdExamined(query, t.deliveries, within, most)
      const rows = await query(
        `SELECT * FROM ${t.deliveries}
         WHERE ${from} AND id ${last === undefined ? '<' : '<='} $3
           AND ${dialect.among('event_id', '$4')} ORDER BY id`,
        [...start, last ?? end, JSON.stringify(events.map(({ id }) => id))],
      )
      return { deliveries: rows.map(DELIVERY.read), next: last ?? null }
    },
  }
}

/** The condition of the partial index of failed deliveries, exactly as it is declared. */
const FAILED = `status IN (${FAILED_STATUSES.map((status) => `'${status}'`).join(', ')})`

function isFailed(status: DeliveryListQuery['status']): boolean {
  return status !== null && FAILED_STATUSES.includes(status)
}

/** The rows that one step through failed deliveries looks at, and the last one when more are left. */
async function failedStep(
  query: Query,
  t: Tables,
  dialect: Dialect,
  { webhook_id, account_id, since, until, apps, types, after }: FailedStep,
  most: number,
) {
  const from = `webhook_id = $1 AND ${FAILED} AND id ${after === null ? '>=' : '>'} $2`
  const start = [webhook_id, after ?? uuid7Floor(since)]
  const end = uuid7Floor(until)
  const within = { sql: `${from} AND id < $3`, bind: [...start, end] }
  const last = await lastIdExamined(query, t.deliveries, within, most)
  return {
    last,
    where: `${from} AND id ${last === undefined ? '<' : '<='} $3 AND account_id = $4
      AND attempts < ${MOST_ATTEMPTS}
      AND (CAST($5 AS TEXT) IS NULL OR ${dialect.among('app_id', '$5')})
      AND (CAST($6 AS TEXT) IS NULL OR ${dialect.among('event_type', '$6')})`,
    bind: [
      ...start,
      last ?? end,
      account_id,
      apps && JSON.stringify(apps),
      types && JSON.stringify(types),
    ],
  }
}

export function deliveryWrites(query: Query, t: Tables, dialect: Dialect): DeliveryWrites {
  return {
    ...deliveryReads(query, t, dialect),
    async requestRetry(id, now) {
      const rows = await query(
        `UPDATE ${t.deliveries}
         SET status = 'pending', cause = 'manual', retry = 0, next_at = $2, done_at = NULL,
           end_reason = NULL
         WHERE id = $1 AND attempts < ${MOST_ATTEMPTS} AND ${statusIn('retry_requested')}
         RETURNING id`,
        [id, now],
      )
      return rows.length > 0
    },
    async requestRetries({ limit, ...failed }, now, most = MOST_LOOKED_AT) {
      const { where, bind, last } = await failedStep(query, t, dialect, failed, most)
      const rows = await query<{ id: string }>(
        `UPDATE ${t.deliveries}
         SET status = 'pending', cause = 'replay', retry = 1, next_at = $7, done_at = NULL,
           end_reason = NULL
         WHERE id IN (SELECT id FROM ${t.deliveries}
           WHERE ${where} ORDER BY id LIMIT $8)
         RETURNING id`,
        [...bind, now, limit],
      )
      const ids = rows.map(({ id }) => id).sort()
      return { ids, next: ids[limit - 1] ?? last ?? null }
    },
    async insertReplayed(deliveries) {
      let inserted = 0
      for (const delivery of deliveries) {
        const { sql, bind } = insertion({ ...DELIVERY.write(delivery), retry: 1 })
        const rows = await query(
          `INSERT INTO ${t.deliveries} ${sql} ON CONFLICT (id) DO NOTHING RETURNING id`,
          bind,
        )
        inserted += rows.length
      }
      return inserted
    },
  }
}

function toAttempt(row: Row): Attempt {
  const [error = null, error_reason] = textOrNull(row['error'])?.split('.') ?? []
  return {
    number: integer(row['number']),
    trigger: row['cause'] as AttemptTrigger,
    started_at: integer(row['started_at']),
    duration: integer(row['duration']),
    status_code: integerOrNull(row['status_code']),
    error: error as AttemptErrorCode | null,
    ...(error_reason !== undefined && { error_reason }),
    response: textOrNull(row['response']),
  }
}
