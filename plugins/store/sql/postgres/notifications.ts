import type { Query } from '../client.ts'
import type { Tables } from '../tables.ts'

/** Notifications between processes. They may be lost, so nothing depends on them but speed. */
export type Notification =
  | { readonly kind: 'committed' }
  | { readonly kind: 'work'; readonly from: string; readonly webhookIds?: readonly string[] }
  | { readonly kind: 'changed' }
  | { readonly kind: 'known'; readonly id: string; readonly seq: number }

/** First word of a notification of work. Processes of earlier versions send and expect it. */
const WORK = 'lanes'

/** The channel of NOTIFY, named after the prefix of the tables. */
export function channelOf(t: Tables): string {
  return `${t.meta}_committed`
}

/** Formats a notification of available work of these webhooks; of any webhook when none is named. */
export function printNotification(from: string, webhookIds: readonly string[]): string {
  return [WORK, from, ...webhookIds].join(' ')
}

/** Parses a notification. An unknown one, such as of a newer version, means that something was committed. */
export function readNotification(payload: string): Notification {
  const [kind, id = '', ...more] = payload.split(' ')
  if (kind === 'changed') return { kind }
  if (kind === 'known') return { kind, id, seq: Number(more[0]) }
  if (kind !== WORK) return { kind: 'committed' }
  return { kind: 'work', from: id, ...(more.length > 0 && { webhookIds: more }) }
}

/** SQL of the key of an advisory lock of these tables. */
export function lockOf(t: Tables, purpose: 'serving' | 'writing'): string {
  return `hashtextextended(current_schema() || ' ${t.meta} ${purpose}', 0)`
}

/**
 * Takes a shared lock. A process of version 0.1 serves a database alone, under an exclusive one.
 *
 * @throws Error while such a process runs
 */
export async function lockAgainstOlder(query: Query, t: Tables): Promise<void> {
  const [taken] = await query<{ taken: string }>(
    `SELECT pg_try_advisory_lock_shared(${lockOf(t, 'serving')}) AS taken`,
  )
  if (taken?.taken === 't') return
  throw new Error('a process of an older version serves this database alone: stop it first')
}

/**
 * Keeps processes from joining until the transaction ends: what it changes, those of an older version
 * would not understand.
 *
 * @throws Error while any process has joined
 */
export async function lockAgainstAll(query: Query, t: Tables): Promise<void> {
  const [taken] = await query<{ taken: string }>(
    `SELECT pg_try_advisory_xact_lock(${lockOf(t, 'serving')}) AS taken`,
  )
  if (taken?.taken === 't') return
  throw new Error(
    'daemons of an older version serve this database, and this version changes how work is kept: stop all of them first, then start this one',
  )
}

/** Processes that hold the lock of serving, of whatever version; nothing waits for this. */
export async function countServing(query: Query, t: Tables): Promise<number> {
  const [row] = await query<{ count: string }>(
    `SELECT count(*) AS count FROM pg_locks
     WHERE locktype = 'advisory' AND granted AND objsubid = 1
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND (classid::bigint << 32) | objid::bigint = ${lockOf(t, 'serving')}`,
  )
  return Number(row?.count)
}
