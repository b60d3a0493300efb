import { uuid7Floor } from '../../../lib/internal/uuid7.ts'
import type { Instant } from '../../../lib/time.ts'
import type { PurgeKind } from '../contract.ts'
import type { SqlClient } from './client.ts'
import { NEVER } from './key-ends.ts'
import type { Tables } from './tables.ts'
import { ORIGINS } from './webhooks.ts'

/** Which rows of a table expire, and how they are found. */
export interface Purge {
  /** As the database knows it. */
  readonly table: string
  /** Its primary key. */
  readonly key: string
  /** Which of its rows are old; $1 is the instant, or the least id of that instant. */
  readonly old: string
  readonly by: 'instant' | 'id'
  /** Where the index of what is old leads another way than the key. */
  readonly order?: string
  /** Rows lie in the order of their commits, about that of the instants in this column. */
  readonly inOrderOf?: string
  /** Rows with an instant that the newest row has not reached go with what was committed after them. */
  readonly evenAhead?: boolean
  /** A condition that rows meet besides. */
  readonly only?: string
  /** What goes before a row, which never changes again, by the column that names it. */
  readonly along?: { readonly table: string; readonly by: string }
}

/** A webhook stays bound to these keys, and through them to the keys above. */
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

/** Deletes in small commits of their own, so that publishing waits for one chunk at most. */
export function purge(
  client: SqlClient,
  purged: Purge,
  before: Instant,
  limit: number,
): Promise<number> {
  const { table, key, by, along } = purged
  const bind = [by === 'id' ? uuid7Floor(before) : before, limit]
  if (along !== undefined) {
    // One unit: nothing else changes meanwhile, and no row is left without what belongs to it.
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

/** Where rows lie in order only the first are looked at. */
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
 * A condition on the first rows: a clock that was ahead gave the row its instant, and what was committed
 * after it is old. It is looked for among the first rows and, where all of those are such, behind them.
 */
function aheadOfOld({ table, key, old, inOrderOf: at }: Purge, first: string): string {
  const newest = `(SELECT ${at} FROM ${table} ORDER BY ${key} DESC LIMIT 1)`
  const known = `SELECT ${key}, ${at} FROM ${table} WHERE ${at} <= ${newest}
    ORDER BY ${key} LIMIT 1`
  return `${at} > ${newest} AND ${key} < (SELECT max(${key}) FROM (
    SELECT * FROM (${first}) head UNION ALL SELECT * FROM (${known}) known) seen WHERE ${old})`
}
