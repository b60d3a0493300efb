import { uuid7Floor } from '../../../lib/internal/uuid7.ts'
import type { Instant } from '../../../lib/time.ts'
import type { PurgeKind } from '../contract.ts'
import type { SqlClient } from './client.ts'
import { NEVER } from './key-ends.ts'
import type { Tables } from './tables.ts'
import { ORIGINS } from './webhooks.ts'

/** The rows of a table that expire, and how to find them. */
export interface Purge {
  /** Full name, with the prefix. */
  readonly table: string
  /** Its primary key. */
  readonly key: string
  /** A condition: the row is old. $1 is the instant, or the smallest id of that instant. */
  readonly old: string
  readonly by: 'instant' | 'id'
  /** Order of the index of old rows, when it differs from the key. */
  readonly order?: string
  /** Column whose instants are approximately in the order of commits, which is the order of rows. */
  readonly inOrderOf?: string
  /** A row with an instant after that of the newest row is deleted with the rows committed after it. */
  readonly evenAhead?: boolean
  /** An additional condition. */
  readonly only?: string
  /** Dependent rows, deleted before the row, by the column that references it. They no longer change. */
  readonly along?: { readonly table: string; readonly by: string }
}

/** Columns of the keys that a webhook is bound to, and through them to their ancestors. */
const KEYS_OF_WEBHOOKS = [...ORIGINS, 'set_by_id']

export const purgesOf = (t: Tables): Readonly<Record<PurgeKind, Purge>> => ({
  attempts: { table: t.attempts, key: 'delivery_id, number', old: 'delivery_id < $1', by: 'id' },
  deliveries: { table: t.deliveries, key: 'id', old: 'id < $1', by: 'id' },
  events: {
    table: t.events,
    key: 'position',
    old: 'created_at < $1',
    by: 'instant',
    inOrderOf: 'created_at',
  },
  idempotency: { table: t.idempotency, key: 'scope, key', old: 'expires_at < $1', by: 'instant' },
  sessions: { table: t.sessions, key: 'hash', old: 'expires_at < $1', by: 'instant' },
  key_secrets: {
    table: t.key_secrets,
    key: 'hash',
    old: 'created_at < $1 AND not_after < $1',
    by: 'instant',
    order: 'created_at, hash',
    // A value that ended at once has the instant 0; until then its error is `key_rotated`.
    only: `COALESCE((SELECT n.created_at FROM ${t.key_secrets} n
      WHERE n.key_id = ${t.key_secrets}.key_id AND n.version = ${t.key_secrets}.version + 1), 0) < $1`,
  },
  keys: {
    table: t.keys,
    key: 'id',
    old: `ends_at < $1 AND ends_at < ${NEVER}`,
    by: 'instant',
    order: 'ends_at, id',
    only: `COALESCE(revoked_at, 0) < $1
      AND NOT EXISTS (SELECT 1 FROM ${t.keys} below WHERE below.parent_id = ${t.keys}.id)
      AND NOT EXISTS (SELECT 1 FROM ${t.webhooks} w WHERE w.account_id = ${t.keys}.account_id
        AND ${t.keys}.id IN (${KEYS_OF_WEBHOOKS.map((column) => `w.${column}`).join(', ')}))`,
    along: { table: t.key_secrets, by: 'key_id' },
  },
  webhook_secrets: { table: t.webhook_secrets, key: 'id', old: 'not_after < $1', by: 'instant' },
  audit: { table: t.audit, key: 'id', old: 'at < $1', by: 'instant' },
})

/** Deletes in small separate commits, so that publishing waits for at most one. */
export function purge(
  client: SqlClient,
  purged: Purge,
  before: Instant,
  limit: number,
): Promise<number> {
  const { table, key, by, along } = purged
  const bind = [by === 'id' ? uuid7Floor(before) : before, limit]
  if (along !== undefined) {
    // One unit: nothing else changes meanwhile, and no dependent row remains.
    return client.transaction(async (query) => {
      const chosen = await query(oldest(purged), bind)
      const ids = [JSON.stringify(chosen.map((row) => row[key]))]
      const { among } = client.dialect
      await query(`DELETE FROM ${along.table} WHERE ${among(along.by, '$1')}`, ids)
      await query(`DELETE FROM ${table} WHERE ${among(key, '$1')}`, ids)
      return chosen.length
    })
  }
  return client.exclusive('purge', async (statement) => {
    const rows = await statement(
      `DELETE FROM ${table} WHERE (${key}) IN (${oldest(purged)} ${client.dialect.skipLocked}) RETURNING 1`,
      bind,
    )
    return rows.length
  })
}

/** Limits the search to the first rows, when rows are in order. */
function oldest(purged: Purge): string {
  const { table, key, old, order = key, inOrderOf, evenAhead = false, only } = purged
  if (inOrderOf !== undefined) {
    const first = `SELECT ${key}, ${inOrderOf} FROM ${table} ORDER BY ${key} LIMIT $2`
    const ahead = evenAhead ? `OR (${aheadOfOld(purged, first)})` : ''
    return `SELECT ${key} FROM (${first}) first WHERE ${old} ${ahead}`
  }
  const besides = only === undefined ? '' : `AND ${only}`
  return `SELECT ${key} FROM ${table} WHERE ${old} ${besides} ORDER BY ${order} LIMIT $2`
}

/**
 * A condition on the first rows: a clock that was ahead set the instant of the row, and a row committed
 * after it is old. Searches the first rows and, when all of those are such, the rows after them.
 */
function aheadOfOld({ table, key, old, inOrderOf: at }: Purge, first: string): string {
  const newest = `(SELECT ${at} FROM ${table} ORDER BY ${key} DESC LIMIT 1)`
  const known = `SELECT ${key}, ${at} FROM ${table} WHERE ${at} <= ${newest}
    ORDER BY ${key} LIMIT 1`
  return `${at} > ${newest} AND ${key} < (SELECT max(${key}) FROM (
    SELECT * FROM (${first}) head UNION ALL SELECT * FROM (${known}) known) seen WHERE ${old})`
}
