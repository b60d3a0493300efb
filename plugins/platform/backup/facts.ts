import type { Instant } from '../../../lib/time.ts'
import type { Dialect, Query } from '../../store/sql/client.ts'
import { encryptedSecretReads } from '../../store/sql/encrypted-secrets.ts'
import { LIVE_LINE } from '../../store/sql/key-ends.ts'
import { integer } from '../../store/sql/rows.ts'
import type { Tables } from '../../store/sql/tables.ts'
import { encryptedIn } from '../open.ts'
import type { PlatformTables } from '../sql/tables.ts'

/** Tables whose rows are counted, so that a copy can be compared with its original. */
const COUNTED = [
  'accounts',
  'users',
  'keys',
  'webhooks',
  'events',
  'deliveries',
  'attempts',
] as const
const COUNTED_BESIDE = ['apps', 'revisions', 'files', 'deployments'] as const

export type Counted = (typeof COUNTED)[number] | (typeof COUNTED_BESIDE)[number]

/** What a database holds, by which its copies are known. */
export interface DatabaseFacts {
  /** Undefined for one that no daemon has opened. */
  readonly installation: string | undefined
  /** Name of the last migration. */
  readonly schema: string
  readonly counts: Readonly<Record<Counted, number>>
  /** Position of the event log: no committed event is after it. */
  readonly position: string
  /** Ids of the master keys that its secrets are encrypted with. */
  readonly masterKeys: readonly string[]
}

interface Named {
  readonly core: Tables
  readonly platform: PlatformTables
}

/** @param meta name of the row that holds the installation's id */
export async function readFacts(
  query: Query,
  dialect: Dialect,
  { core, platform }: Named,
  meta: string,
  now: Instant,
): Promise<DatabaseFacts> {
  const counts: Partial<Record<Counted, number>> = {}
  for (const name of COUNTED) counts[name] = await countRows(query, core[name])
  for (const name of COUNTED_BESIDE) counts[name] = await countRows(query, platform[name])
  const [row] = await query<{ value: string }>(`SELECT value FROM ${core.meta} WHERE name = $1`, [
    meta,
  ])
  const [schema] = await query<{ name: string }>(
    `SELECT name FROM ${core.migrations} ORDER BY at DESC, name DESC LIMIT 1`,
  )
  const [last] = await query<{ position: string }>(`SELECT ${dialect.feed.last(core)} AS position`)
  const secrets = await encryptedSecretReads(query, core, dialect, encryptedIn(platform)).count(now)
  return {
    installation: row?.value,
    schema: schema?.name ?? '',
    counts: counts as Record<Counted, number>,
    position: String(last?.position ?? ''),
    masterKeys: [...new Set(secrets.map(({ key_id }) => key_id))].sort(),
  }
}

async function countRows(query: Query, table: string): Promise<number> {
  const [row] = await query(`SELECT count(*) AS count FROM ${table}`)
  return integer(row?.['count'])
}

/** A key that verifies, or a revocation. */
export interface KnownKey {
  readonly id: string
  readonly account_id: string
  readonly name: string
}

/** Keys that are valid at an instant, in the order of their ids. */
export function validKeys(query: Query, { keys }: Tables, now: Instant): Promise<KnownKey[]> {
  return query<KnownKey & object>(
    `SELECT id, account_id, name FROM ${keys} WHERE ${LIVE_LINE} ORDER BY id`,
    [now],
  )
}

/** Unfinished deliveries by webhook, those with the most first. */
export interface Waiting {
  readonly webhook_id: string
  readonly url: string
  readonly deliveries: number
  readonly oldest: Instant
}

/** What a daemon would send, and may have been sent already after the copy was made. */
export async function waitingDeliveries(
  query: Query,
  { deliveries, webhooks }: Tables,
): Promise<readonly Waiting[]> {
  const rows = await query(
    `SELECT d.webhook_id, w.url, count(*) AS count, min(d.created_at) AS oldest
     FROM ${deliveries} d JOIN ${webhooks} w ON w.id = d.webhook_id
     WHERE d.done_at IS NULL GROUP BY d.webhook_id, w.url ORDER BY count(*) DESC, d.webhook_id`,
  )
  return rows.map((row) => ({
    webhook_id: String(row['webhook_id']),
    url: String(row['url']),
    deliveries: integer(row['count']),
    oldest: integer(row['oldest']),
  }))
}
