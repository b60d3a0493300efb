import type {
  AuditRecord,
  IdempotencyRecord,
  RequestReads,
  RequestWrites,
} from '../contract/requests.ts'
import { MOST_LOOKED_AT } from '../contract/page.ts'
import type { Query } from './client.ts'
import { asked } from './conditions.ts'
import { cutPage, readFilteredPage } from './pages.ts'
import type { Group } from './columns.ts'
import { big, group, id, json, orNull, text } from './columns.ts'
import type { Row } from './rows.ts'
import { BEHIND_ALL, insertion, integer } from './rows.ts'
import type { Tables } from './tables.ts'

const AUDIT: Group<AuditRecord> = group({
  id: id(),
  account_id: id(),
  at: big(),
  actor_type: text(),
  actor_id: orNull(text()),
  action: text(),
  target_type: text(),
  target_id: text(),
  app_id: orNull(text()),
  request_id: text(),
  ip: orNull(text()),
  protocol: orNull(text()),
  client: orNull(text()),
  origins: orNull(json<NonNullable<AuditRecord['origins']>>()),
})

export function requestReads(query: Query, t: Tables): RequestReads {
  return {
    audit({ account_id, action, actor_id, target_id, limit, after }, most = MOST_LOOKED_AT) {
      const indexed = [
        { sql: 'account_id = $1 AND id < $2', bind: [account_id, after ?? BEHIND_ALL] },
      ]
      const filters = [
        asked('text', action, 'action = $1'),
        asked('text', actor_id, 'actor_id = $1'),
        asked('text', target_id, 'target_id = $1'),
      ]
      const list = { table: t.audit, key: ['id'], order: 'desc', indexed, filters, most } as const
      return readFilteredPage(query, list, async ({ sql, bind }) => {
        const rows = await query(
          `SELECT * FROM ${t.audit} WHERE ${sql} ORDER BY id DESC LIMIT $${bind.length + 1}`,
          [...bind, limit + 1],
        )
        return cutPage(rows.map(AUDIT.read), limit)
      })
    },
    async idempotency(scope, key, now) {
      const [row] = await query(
        `SELECT * FROM ${t.idempotency} WHERE scope = $1 AND key = $2 AND expires_at > $3`,
        [scope, key, now],
      )
      return row && toRecord(row)
    },
  }
}

export function requestWrites(query: Query, t: Tables): RequestWrites {
  return {
    ...requestReads(query, t),
    async claimIdempotency({ scope, key, fingerprint, answer, created_at, expires_at }) {
      const rows = await query(
        `INSERT INTO ${t.idempotency} (scope, key, fingerprint, status, body, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (scope, key) DO UPDATE SET fingerprint = excluded.fingerprint,
           status = excluded.status, body = excluded.body, created_at = excluded.created_at,
           expires_at = excluded.expires_at
         WHERE ${t.idempotency}.expires_at <= excluded.created_at RETURNING key`,
        [
          scope,
          key,
          fingerprint,
          answer?.status ?? null,
          answer?.body ?? null,
          created_at,
          expires_at,
        ],
      )
      return rows.length > 0
    },
    async answerIdempotency({ scope, key, fingerprint, answer, expires_at }) {
      await query(
        `UPDATE ${t.idempotency} SET fingerprint = $3, status = $4, body = $5, expires_at = $6
         WHERE scope = $1 AND key = $2 AND status IS NULL`,
        [scope, key, fingerprint, answer.status, answer.body, expires_at],
      )
    },
    async renewIdempotency({ scope, key, created_at, expires_at }) {
      await query(
        `UPDATE ${t.idempotency} SET expires_at = $4
         WHERE scope = $1 AND key = $2 AND created_at = $3 AND status IS NULL`,
        [scope, key, created_at, expires_at],
      )
    },
    async dropIdempotency({ scope, key, created_at }) {
      await query(
        `DELETE FROM ${t.idempotency}
         WHERE scope = $1 AND key = $2 AND created_at = $3 AND status IS NULL`,
        [scope, key, created_at],
      )
    },
    async insertAudit(record) {
      const { sql, bind } = insertion(AUDIT.write(record))
      await query(`INSERT INTO ${t.audit} ${sql}`, bind)
    },
  }
}

function toRecord(row: Row): IdempotencyRecord {
  return {
    scope: String(row['scope']),
    key: String(row['key']),
    fingerprint: String(row['fingerprint']),
    answer:
      row['status'] === null ? null : { status: integer(row['status']), body: String(row['body']) },
    created_at: integer(row['created_at']),
    expires_at: integer(row['expires_at']),
  }
}
