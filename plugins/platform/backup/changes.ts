import type { Instant } from '../../../lib/time.ts'
import type { Tables } from '../../store/sql/tables.ts'

/** Changes that a restore makes to its copy, before any daemon opens it. */
export interface RestoredChanges {
  /** Rows by name, of which the pause of sending is one. */
  readonly meta: Readonly<Record<string, string>>
  /** Revokes every key and ends every session. */
  readonly revokeAll: boolean
  readonly now: Instant
}

/** A statement of either database; values are bound by position ($1, $2, …). */
export interface Statement {
  readonly sql: string
  readonly bind: readonly (string | number)[]
}

export function pauseStatements(
  core: Pick<Tables, 'meta'>,
  { meta }: Pick<RestoredChanges, 'meta'>,
): readonly Statement[] {
  return Object.entries(meta).map(([name, value]) => ({
    sql: `INSERT INTO ${core.meta} (name, value) VALUES ($1, $2)
      ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    bind: [name, value],
  }))
}

/** The last one returns the keys that it revoked. */
export function revokeStatements(
  core: Pick<Tables, 'sessions' | 'keys'>,
  { revokeAll, now }: Omit<RestoredChanges, 'meta'>,
): readonly Statement[] {
  if (!revokeAll) return []
  return [
    { sql: `DELETE FROM ${core.sessions}`, bind: [] },
    {
      sql: `UPDATE ${core.keys} SET revoked_at = COALESCE(revoked_at, $1), updated_at = $1,
        ends_at = $1, line_revoked = 1 WHERE line_revoked = 0 AND ends_at > $1 RETURNING id`,
      bind: [now],
    },
  ]
}
