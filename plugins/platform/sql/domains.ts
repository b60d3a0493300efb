import type { DomainReads, DomainRecord, DomainWrites } from '../contract/domains.ts'
import { removeJobs } from '../jobs/complete.ts'
import { whileHeld } from '../jobs/held.ts'
import { recordsOf } from '../model/records.ts'
import { DOMAINS } from '../models/domains.ts'
import type { Row } from '../../store/sql/rows.ts'
import { assignments } from '../../store/sql/rows.ts'
import type { ReadScope, WriteScope } from './scope.ts'

export function domainReads({ query, t }: ReadScope): DomainReads {
  const domains = recordsOf(query, t, DOMAINS)
  return {
    get: (app_id, id) => domains.get({ id, app_id }),
    list: ({ app_id, ...page }) => domains.page({ of: { app_id }, ...page }),
    count: (app_id) => domains.count({ app_id }),
    domainByHostname: (hostname) =>
      domains.first(
        `hostname = $1 AND status = 'verified' AND EXISTS (SELECT 1 FROM ${t.apps} app
           WHERE app.id = ${t.domains}.app_id AND app.archived_at IS NULL)`,
        [hostname],
      ),
  }
}

export function domainWrites({ query, t, dialect, changes, rows, jobs }: WriteScope): DomainWrites {
  /** Notes that what a host leads to has changed. */
  function noted({ app_id }: Row): void {
    changes.push({ kind: 'site', id: String(app_id) })
  }

  const reads = domainReads({ query, t, dialect })
  const enqueue = ({ id, app_id, account_id, next_check_at: run_at }: DomainRecord) =>
    jobs.enqueue({ id, kind: 'domain_check', app_id, account_id, queue: null, run_at })

  return {
    ...reads,
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
      if (row !== undefined && domain.next_check_at !== null) await enqueue(domain)
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
      if (row !== undefined) await removeJobs(query, t, 'domain_check', 'id = $1', [id])
      return row !== undefined
    },
    begin: ({ id, app_id }) => reads.get(app_id, id),
    async claimOne(appId, id, { since, ...asked }) {
      const { now } = asked
      const domain = await recordsOf(query, t, DOMAINS).first(
        `id = $1 AND app_id = $2
           AND (checked_at IS NULL OR checked_at <= $3 OR checked_at > $4)`,
        [id, appId, since, now + (now - since)],
      )
      if (domain === undefined) return undefined
      // One that failed is no longer checked by itself, and has none.
      await enqueue(domain)
      return (await jobs.claimOne('domain_check', id, asked)) && domain
    },
    async settle({ id, status }, claim, state) {
      const { sql, bind } = assignments(DOMAINS.toRow(state), 4)
      const held = `id = $1 AND status = $3 AND ${whileHeld(t)}`
      const isVerified = state.status === 'verified'
      // Its own row does not stand in its way.
      const free = `NOT EXISTS (SELECT 1 FROM ${t.domains} other WHERE other.id <> $1
        AND other.hostname = ${t.domains}.hostname AND other.status = 'verified')`
      const [row] = await dialect.onConflict(
        query,
        `UPDATE ${t.domains} SET ${sql} ${isVerified ? '' : ', is_primary = 0'}
         WHERE ${held} ${isVerified ? `AND ${free}` : ''} RETURNING app_id`,
        [id, claim, status, ...bind],
      )
      if (row !== undefined) {
        if (isVerified !== (status === 'verified')) noted(row)
        const { next_check_at: next } = state
        await (next === null ? jobs.complete(id, claim) : jobs.reschedule(id, claim, next))
        return 'settled'
      }
      const still = await query(`SELECT 1 FROM ${t.domains} WHERE ${held}`, [id, claim, status])
      return still.length > 0 ? 'taken' : 'lost'
    },
  }
}
