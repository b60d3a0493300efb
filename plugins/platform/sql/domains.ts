import type { ChangeSink } from '../../store/contract/changes.ts'
import type { DomainReads, DomainWrites } from '../contract/domains.ts'
import type { Dialect, Query } from '../../store/sql/client.ts'
import type { ModelRows } from '../model/sequelize.ts'
import { DOMAINS } from '../models/domains.ts'
import type { Row } from '../../store/sql/rows.ts'
import { assignments, cutPage, integer } from '../../store/sql/rows.ts'
import type { PlatformTables } from './tables.ts'

/** Nobody holds it, or for longer than anybody does. */
function isFree(now: string, furthest: string): string {
  return `(lease_until IS NULL OR lease_until <= ${now} OR lease_until > ${furthest})`
}

/** Domains that could be looked at, by when that is due; $1 is now, $2 and $3 are the furthest of looks and leases. */
const DUE = ['next_check_at <= $1', 'next_check_at > $2'].map(
  (due) => `WHERE ${due} AND ${isFree('$1', '$3')}`,
)

export function domainReads(query: Query, t: PlatformTables): DomainReads {
  return {
    async get(appId, id) {
      const [row] = await query(`SELECT * FROM ${t.domains} WHERE id = $1 AND app_id = $2`, [
        id,
        appId,
      ])
      return row && DOMAINS.toRecord(row)
    },
    async list({ app_id, limit, after }) {
      const rows = await query(
        `SELECT * FROM ${t.domains} WHERE app_id = $1 AND (CAST($2 AS TEXT) IS NULL OR id < $2)
         ORDER BY id DESC LIMIT $3`,
        [app_id, after, limit + 1],
      )
      return cutPage(rows.map(DOMAINS.toRecord), limit)
    },
    async count(appId) {
      const [row] = await query(`SELECT count(*) AS count FROM ${t.domains} WHERE app_id = $1`, [
        appId,
      ])
      return integer(row?.['count'])
    },
    async domainByHostname(hostname) {
      const [row] = await query(
        `SELECT * FROM ${t.domains} WHERE hostname = $1 AND status = 'verified'
           AND EXISTS (SELECT 1 FROM ${t.apps} app
             WHERE app.id = ${t.domains}.app_id AND app.archived_at IS NULL)`,
        [hostname],
      )
      return row && DOMAINS.toRecord(row)
    },
    async isClaimable({ now, furthest_check, furthest_lease }) {
      const exist = DUE.map((due) => `EXISTS (SELECT 1 FROM ${t.domains} ${due})`)
      const bind = [now, furthest_check, furthest_lease]
      return (await query(`SELECT 1 WHERE ${exist.join(' OR ')}`, bind)).length > 0
    },
  }
}

export function domainWrites(
  query: Query,
  t: PlatformTables,
  dialect: Dialect,
  changes: ChangeSink,
  rows: ModelRows,
): DomainWrites {
  /** Notes that what a host leads to has changed. */
  function noted({ app_id }: Row): void {
    changes.push({ kind: 'site', id: String(app_id) })
  }

  return {
    ...domainReads(query, t),
    async insert(domain) {
      const values = DOMAINS.toRow(domain)
      const { columns } = DOMAINS
      const places = columns.map((_, at) => `$${at + 1}`)
      const hostname = places[columns.indexOf('hostname')] ?? ''
      const [row] = await query(
        `INSERT INTO ${t.domains} (${columns.join(', ')}) SELECT ${places.join(', ')}
         WHERE NOT EXISTS (SELECT 1 FROM ${t.domains} other
           WHERE other.hostname = ${hostname} AND other.status = 'verified')
         ON CONFLICT DO NOTHING RETURNING app_id, status`,
        columns.map((column) => values[column]),
      )
      if (row?.['status'] === 'verified') noted(row)
      return row !== undefined
    },
    async setPrimary(appId, id, primary) {
      const changed = primary
        ? await query(
            `UPDATE ${t.domains} SET is_primary = CASE WHEN id = $2 THEN 1 ELSE 0 END
             WHERE app_id = $1 AND (id = $2 OR is_primary = 1)
               AND EXISTS (SELECT 1 FROM ${t.domains} own
                 WHERE own.id = $2 AND own.app_id = $1 AND own.status = 'verified')
             RETURNING 1`,
            [appId, id],
          ).then(({ length }) => length)
        : await rows.update(DOMAINS, { app_id: appId, id }, DOMAINS.toRow({ primary: false }))
      if (changed > 0) noted({ app_id: appId })
      return changed > 0
    },
    async remove(appId, id) {
      const [row] = await query(
        `DELETE FROM ${t.domains} WHERE id = $1 AND app_id = $2 RETURNING app_id, status`,
        [id, appId],
      )
      if (row?.['status'] === 'verified') noted(row)
      return row !== undefined
    },
    async claimDue({ claim, now, lease_until, furthest_check, furthest_lease }) {
      const first = DUE.map(
        (due) => `(SELECT id FROM ${t.domains} ${due}
           ORDER BY next_check_at, id LIMIT 1 ${dialect.skipLocked})`,
      )
      const [row] = await query(
        `UPDATE ${t.domains} SET claim = $4, lease_until = $5
         WHERE id = COALESCE(${first.join(', ')}) RETURNING *`,
        [now, furthest_check, furthest_lease, claim, lease_until],
      )
      return row && DOMAINS.toRecord(row)
    },
    async claimOne(appId, id, { claim, now, lease_until, furthest_lease, since }) {
      const [row] = await query(
        `UPDATE ${t.domains} SET claim = $3, lease_until = $4
         WHERE id = $1 AND app_id = $2 AND ${isFree('$5', '$6')}
           AND (checked_at IS NULL OR checked_at <= $7 OR checked_at > $8)
         RETURNING *`,
        [id, appId, claim, lease_until, now, furthest_lease, since, now + (now - since)],
      )
      return row && DOMAINS.toRecord(row)
    },
    async settle({ id, status }, claim, standing) {
      const { sql, bind } = assignments(DOMAINS.toRow(standing), 4)
      const held = `id = $1 AND claim = $2 AND status = $3`
      const isVerified = standing.status === 'verified'
      // Its own row does not stand in its way.
      const free = `NOT EXISTS (SELECT 1 FROM ${t.domains} other WHERE other.id <> $1
        AND other.hostname = ${t.domains}.hostname AND other.status = 'verified')`
      const [row] = await dialect.onConflict(
        query,
        `UPDATE ${t.domains} SET ${sql}, claim = NULL, lease_until = NULL
           ${isVerified ? '' : ', is_primary = 0'}
         WHERE ${held} ${isVerified ? `AND ${free}` : ''} RETURNING app_id`,
        [id, claim, status, ...bind],
      )
      if (row !== undefined) {
        if (isVerified !== (status === 'verified')) noted(row)
        return 'settled'
      }
      const still = await query(`SELECT 1 FROM ${t.domains} WHERE ${held}`, [id, claim, status])
      return still.length > 0 ? 'taken' : 'lost'
    },
  }
}

/** Deletes every domain of an app. */
export async function purgeDomains(query: Query, t: PlatformTables, appId: string): Promise<void> {
  await query(`DELETE FROM ${t.domains} WHERE app_id = $1`, [appId])
}
