import type { Query } from '../client.ts'
import type { Tables } from '../tables.ts'

/** Which backend of the server a session is: the number alone is used again. */
export interface Backend {
  readonly pid: string
  readonly since: string
}

/** What tells of a commit, named after the prefix of the tables. */
export function channelOf(t: Tables): string {
  return `${t.meta}_committed`
}

/** The number of an advisory lock of these tables, as SQL. */
export function lockOf(t: Tables, purpose: 'serving' | 'writing'): string {
  return `hashtextextended(current_schema() || ' ${t.meta} ${purpose}', 0)`
}

/** Takes the lock for as long as the session lives, and listens. Undefined when another has it. */
export async function enter(query: Query, t: Tables): Promise<Backend | undefined> {
  const [entered] = await query<Backend & { taken: string }>(
    `SELECT pg_try_advisory_lock(${lockOf(t, 'serving')}) AS taken, pid, backend_start AS since
     FROM pg_stat_activity WHERE pid = pg_backend_pid()`,
  )
  if (entered?.taken !== 't') return undefined
  await query(`LISTEN ${channelOf(t)}`)
  return entered
}

export async function leave(query: Query, t: Tables): Promise<void> {
  await query(`UNLISTEN ${channelOf(t)}`)
  await query(`SELECT pg_advisory_unlock(${lockOf(t, 'serving')})`)
}

/** Ends a session whose client is gone, should the server not have noticed yet. */
export async function endBackend(query: Query, { pid, since }: Backend): Promise<void> {
  await query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE pid = $1 AND backend_start = $2::timestamptz`,
    [pid, since],
  )
}

/** Leaves the mark of whoever serves. */
export async function sign(query: Query, t: Tables, mark: string): Promise<void> {
  await query(
    `INSERT INTO ${t.meta} (name, value) VALUES ('served_by', $1)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    [mark],
  )
}

/** Whether nobody signed since. */
export async function bears(query: Query, t: Tables, mark: string): Promise<boolean> {
  const rows = await query(`SELECT 1 FROM ${t.meta} WHERE name = 'served_by' AND value = $1`, [
    mark,
  ])
  return rows.length > 0
}
