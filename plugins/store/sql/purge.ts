import { uuid7Floor } from '../../../lib/internal/uuid7.ts'
import type { Instant } from '../../../lib/time.ts'
import type { PurgeKind } from '../contract.ts'
import type { SqlClient } from './client.ts'
import type { Tables } from './tables.ts'

interface Purge {
  readonly table: keyof Tables
  /** Its primary key. */
  readonly key: string
  /** Which of its rows are old; $1 is the instant, or the least id of that instant. */
  readonly old: string
  readonly by: 'instant' | 'id'
  /** Where the index of what is old leads another way than the key. */
  readonly order?: string
  /** Rows lie in the order of their commits, about that of the instants in this column. */
  readonly inOrderOf?: string
}

const PURGES: Readonly<Record<PurgeKind, Purge>> = {
  attempts: { table: 'attempts', key: 'delivery_id, number', old: 'delivery_id < $1', by: 'id' },
  deliveries: { table: 'deliveries', key: 'id', old: 'id < $1', by: 'id' },
  events: {
    table: 'events',
    key: 'position',
    old: 'created_at < $1',
    by: 'instant',
    inOrderOf: 'created_at',
  },
  idempotency: { table: 'idempotency', key: 'scope, key', old: 'expires_at < $1', by: 'instant' },
  sessions: { table: 'sessions', key: 'hash', old: 'expires_at < $1', by: 'instant' },
  key_secrets: { table: 'key_secrets', key: 'hash', old: 'not_after < $1', by: 'instant' },
  webhook_secrets: { table: 'webhook_secrets', key: 'id', old: 'not_after < $1', by: 'instant' },
  audit: { table: 'audit', key: 'id', old: 'at < $1', by: 'instant' },
  access_lines: {
    table: 'access_lines',
    key: 'position',
    old: 'at < $1',
    by: 'instant',
    inOrderOf: 'at',
  },
  checks: { table: 'app_checks', key: 'at, app_id', old: 'at < $1', by: 'instant' },
  problems: {
    table: 'problems',
    key: 'id',
    old: 'last_seen < $1',
    by: 'instant',
    order: 'last_seen',
  },
  observers: { table: 'observers', key: 'source', old: 'at < $1', by: 'instant' },
}

/** Deletes in small commits of their own, so that publishing waits for one chunk at most. */
export function purge(
  client: SqlClient,
  t: Tables,
  kind: PurgeKind,
  before: Instant,
  limit: number,
): Promise<number> {
  const { table, key, by } = PURGES[kind]
  const bind = [by === 'id' ? uuid7Floor(before) : before, limit]
  return client.exclusive('purge', async (statement) => {
    const rows = await statement(
      `DELETE FROM ${t[table]} WHERE (${key}) IN (${oldest(t, PURGES[kind])} ${client.dialect.passOver}) RETURNING 1`,
      bind,
    )
    return rows.length
  })
}

/** Where rows lie in order only the first are looked at. */
function oldest(t: Tables, { table, key, old, order = key, inOrderOf }: Purge): string {
  if (inOrderOf !== undefined) {
    return `SELECT ${key} FROM
      (SELECT ${key}, ${inOrderOf} FROM ${t[table]} ORDER BY ${key} LIMIT $2) first WHERE ${old}`
  }
  return `SELECT ${key} FROM ${t[table]} WHERE ${old} ORDER BY ${order} LIMIT $2`
}
