import { equal } from '../../store/sql/conditions.ts'
import { insertion } from '../../store/sql/rows.ts'
import type { PortalSessionReads, PortalSessionWrites } from '../contract/portal-sessions.ts'
import { recordsOf } from '../model/records.ts'
import { PORTAL_SESSIONS } from '../models/portal-sessions.ts'
import type { ReadScope, WriteScope } from './scope.ts'

export function portalSessionReads({ query, t }: ReadScope): PortalSessionReads {
  const sessions = recordsOf(query, t, PORTAL_SESSIONS)
  return { get: (hash) => sessions.first('hash = $1 AND opened_at IS NOT NULL', [hash]) }
}

export function portalSessionWrites(scope: WriteScope): PortalSessionWrites {
  const { query, t } = scope
  return {
    ...portalSessionReads(scope),
    async insert(link) {
      const { sql, bind } = insertion(PORTAL_SESSIONS.toRow(link))
      await query(`INSERT INTO ${t.portal_sessions} ${sql}`, bind)
    },
    async open(linkHash, { hash, expires_at }, now) {
      const [row] = await query(
        `UPDATE ${t.portal_sessions} SET hash = $2, expires_at = $3, opened_at = $4
         WHERE hash = $1 AND opened_at IS NULL AND expires_at > $4 RETURNING *`,
        [linkHash, hash, expires_at, now],
      )
      return row && PORTAL_SESSIONS.toRecord(row)
    },
    async end(which) {
      const { sql, bind } = equal(which)
      const rows = await query(`DELETE FROM ${t.portal_sessions} WHERE ${sql} RETURNING 1`, bind)
      return rows.length
    },
  }
}
