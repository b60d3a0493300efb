import type { Attempt, AttemptErrorCode, AttemptTrigger } from '../../../lib/delivery/state.ts'
import type { DeliveryRecord } from '../../../lib/engine/ports.ts'
import type { DeliveryReads, DeliveryWrites, InspectedDelivery } from '../contract/deliveries.ts'
import type { Dialect, Query } from './client.ts'
import type { Row } from './rows.ts'
import { cutPage, integer, integerOrNull, textOrNull } from './rows.ts'
import type { Tables } from './tables.ts'
import { statusIn } from './webhooks.ts'

export function deliveryReads(query: Query, t: Tables, dialect: Dialect): DeliveryReads {
  async function withAttempts(rows: readonly Row[]): Promise<InspectedDelivery[]> {
    if (rows.length === 0) return []
    const attempts = await query(
      `SELECT * FROM ${t.attempts} WHERE ${dialect.among('delivery_id', '$1')} ORDER BY number`,
      [JSON.stringify(rows.map((row) => row['id']))],
    )
    return rows.map((row) => ({
      delivery: toDelivery(row),
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
    async list({ account_id, webhook_id, status, event_type, event_id, apps, limit, after }) {
      const rows = await query(
        `SELECT * FROM ${t.deliveries}
         WHERE webhook_id = $1 AND account_id = $2 AND ($3 IS NULL OR id < $3)
           AND ($4 IS NULL OR status = $4) AND ($5 IS NULL OR event_type = $5)
           AND ($6 IS NULL OR event_id = $6)
           AND ($7 IS NULL OR ${dialect.among('app_id', '$7')})
         ORDER BY id DESC LIMIT $8`,
        [
          webhook_id,
          account_id,
          after,
          status,
          event_type,
          event_id,
          apps && JSON.stringify(apps),
          limit + 1,
        ],
      )
      const page = cutPage(rows, limit)
      return { rows: await withAttempts(page.rows), more: page.more }
    },
  }
}

export function deliveryWrites(query: Query, t: Tables, dialect: Dialect): DeliveryWrites {
  return {
    ...deliveryReads(query, t, dialect),
    async requestRetry(id, now) {
      const rows = await query(
        `UPDATE ${t.deliveries}
         SET status = 'pending', cause = 'manual', retry = 0, next_at = $2, done_at = NULL
         WHERE id = $1 AND ${statusIn('retry_requested')} RETURNING id`,
        [id, now],
      )
      return rows.length > 0
    },
  }
}

export function toDelivery(row: Row): DeliveryRecord {
  return {
    id: String(row['id']),
    account_id: String(row['account_id']),
    webhook_id: String(row['webhook_id']),
    event_id: String(row['event_id']),
    event_type: String(row['event_type']),
    app_id: textOrNull(row['app_id']),
    status: row['status'] as DeliveryRecord['status'],
    attempts: integer(row['attempts']),
    automatic: integer(row['automatic']),
    trigger: row['cause'] as AttemptTrigger,
    next_at: integerOrNull(row['next_at']),
    created_at: integer(row['created_at']),
    done_at: integerOrNull(row['done_at']),
    claim: textOrNull(row['claim']),
  }
}

function toAttempt(row: Row): Attempt {
  return {
    number: integer(row['number']),
    trigger: row['cause'] as AttemptTrigger,
    started_at: integer(row['started_at']),
    duration: integer(row['duration']),
    status_code: integerOrNull(row['status_code']),
    error: row['error'] as AttemptErrorCode | null,
    response: textOrNull(row['response']),
  }
}
