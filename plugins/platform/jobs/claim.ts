import type { Instant } from '../../../lib/time.ts'
import type { Query } from '../../store/sql/client.ts'
import type { JobClaim, LeasedJob } from '../contract/jobs.ts'
import { JOBS } from '../models/jobs.ts'
import type { PlatformTables } from '../sql/tables.ts'
import { NO_PROGRESS } from './held.ts'
import type { JobKindName } from './kinds.ts'
import { jobKind } from './kinds.ts'

/** Running, and nobody's any more. $1 is now, $2 the furthest end of a lease. */
const ABANDONED = `status = 'running' AND (COALESCE(lease_until, 0) <= $1 OR lease_until > $2)`

/** A condition on `job`: no other of its queue runs. */
function isFree(t: PlatformTables): string {
  return `NOT EXISTS (SELECT 1 FROM ${t.jobs} other
    WHERE other.queue = job.queue AND other.status = 'running')`
}

/** What can be claimed of a kind, as statements that each select `id`, and how they are put in order. */
interface Candidates {
  /** Tables that the statements need. */
  readonly given: string
  readonly statements: readonly string[]
  readonly order: string
}

/** $3 is the furthest instant at which a job can be due. */
function dueCandidates(t: PlatformTables, kind: JobKindName): Candidates {
  const first = (due: string): string =>
    `SELECT id, run_at FROM (SELECT id, run_at FROM ${t.jobs}
       WHERE kind = '${kind}' AND status = 'queued' AND ${due} ORDER BY run_at, id LIMIT 1)`
  return {
    given: '',
    statements: [
      `${first('run_at <= $1')} due`,
      `${first('run_at > $3')} ahead`,
      `SELECT id, COALESCE(run_at, 0) FROM ${t.jobs} WHERE kind = '${kind}' AND ${ABANDONED}`,
    ],
    order: 'run_at, id',
  }
}

/**
 * It hops from account to account over the index of what is queued: its cost is the accounts that wait and
 * what runs, not the jobs. What an account has running counts no longer than its leases.
 */
function fairCandidates(t: PlatformTables, kind: JobKindName): Candidates {
  const queued = `${t.jobs} job WHERE job.kind = '${kind}' AND job.status = 'queued'`
  return {
    given: `WITH RECURSIVE waiting (account_id) AS (
        SELECT MIN(job.account_id) FROM ${queued}
        UNION ALL
        SELECT (SELECT MIN(job.account_id) FROM ${queued} AND job.account_id > waiting.account_id)
        FROM waiting WHERE waiting.account_id IS NOT NULL
      ), head AS (
        SELECT account_id, (SELECT job.id FROM ${queued} AND job.account_id = waiting.account_id
          AND ${isFree(t)} ORDER BY job.id LIMIT 1) AS id
        FROM waiting WHERE account_id IS NOT NULL
        UNION ALL
        SELECT account_id, id FROM ${t.jobs} WHERE kind = '${kind}' AND ${ABANDONED}
      ) `,
    statements: [
      `SELECT id, (SELECT count(*) FROM ${t.jobs} busy WHERE busy.kind = '${kind}'
         AND busy.status = 'running' AND busy.account_id = head.account_id
         AND busy.lease_until > $1 AND busy.lease_until <= $2) AS running
       FROM head WHERE id IS NOT NULL`,
    ],
    order: 'running, id',
  }
}

const CANDIDATES = { fair: fairCandidates, due: dueCandidates } as const

/** The bounds within which instants of a kind make sense, bound from $1 on. */
function boundsOf(kind: JobKindName, now: Instant): readonly Instant[] {
  const { order, longestLease, furthest } = jobKind(kind)
  return [now, now + longestLease, ...(order === 'due' ? [now + furthest] : [])]
}

/** The columns of a job that is leased; the claim is bound at `$from` and after. */
function leased(from: number): string {
  return `status = 'running', claim = $${from}, lease_until = $${from + 1},
    deadline_at = COALESCE(deadline_at, CAST($${from + 2} AS BIGINT)), attempts = attempts + 1,
    ${NO_PROGRESS}`
}

export async function claimNext(
  query: Query,
  t: PlatformTables,
  kind: JobKindName,
  { claim, now, lease_until, deadline_at }: JobClaim,
): Promise<LeasedJob | undefined> {
  const { given, statements, order } = CANDIDATES[jobKind(kind).order](t, kind)
  const bounds = boundsOf(kind, now)
  const [row] = await query(
    `${given}UPDATE ${t.jobs} SET ${leased(bounds.length + 1)}
     WHERE id = (SELECT id FROM (${statements.join(' UNION ALL ')}) candidate
       ORDER BY ${order} LIMIT 1) RETURNING *`,
    [...bounds, claim, lease_until, deadline_at],
  )
  return row && JOBS.toRecord(row)
}

export async function claimOne(
  query: Query,
  t: PlatformTables,
  kind: JobKindName,
  id: string,
  { claim, now, lease_until, deadline_at }: JobClaim,
): Promise<LeasedJob | undefined> {
  const [row] = await query(
    `UPDATE ${t.jobs} SET ${leased(3)}
     WHERE id = $6 AND kind = $7 AND (status = 'queued' OR ${ABANDONED}) RETURNING *`,
    [now, now + jobKind(kind).longestLease, claim, lease_until, deadline_at, id, kind],
  )
  return row && JOBS.toRecord(row)
}

export async function isClaimable(
  query: Query,
  t: PlatformTables,
  kind: JobKindName,
  now: Instant,
): Promise<boolean> {
  const abandoned = `SELECT 1 FROM ${t.jobs} WHERE kind = '${kind}' AND ${ABANDONED}`
  const queued = `SELECT 1 FROM ${t.jobs} job WHERE job.kind = '${kind}' AND job.status = 'queued'`
  const waiting =
    jobKind(kind).order === 'due'
      ? [`${queued} AND job.run_at <= $1`, `${queued} AND job.run_at > $3`]
      : [`${queued} AND ${isFree(t)}`]
  const exist = [...waiting, abandoned].map((some) => `EXISTS (${some})`)
  return (await query(`SELECT 1 WHERE ${exist.join(' OR ')}`, boundsOf(kind, now))).length > 0
}
