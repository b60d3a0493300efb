import type { JobKindName } from '../../plugins/platform/contract/jobs.ts'
import type { SqlClient } from '../../plugins/store/sql/client.ts'

/** The sweep of billing has no subject: it is always due again. */
type SubjectKind = Exclude<JobKindName, 'billing_sweep'>

/** Of each kind its subjects, and which of them are open. */
const SUBJECTS: Readonly<Record<SubjectKind, { readonly table: string; readonly open: string }>> = {
  deployment: {
    table: 'deployments',
    open: `announced = 0 AND status IN ('queued', 'building', 'deploying', 'live')`,
  },
  edit: { table: 'edits', open: `status IN ('queued', 'running')` },
  file: { table: 'files', open: `status IN ('queued', 'processing')` },
  billing_event: { table: 'processor_events', open: `status = 'pending'` },
  domain_check: { table: 'domains', open: 'next_check_at IS NOT NULL' },
}

/** Subjects that are open without a job, and jobs without a subject that is open. */
export async function disagreements(
  { read }: Pick<SqlClient, 'read'>,
  prefix = '',
): Promise<readonly string[]> {
  const found: string[] = []
  for (const [kind, { table, open }] of Object.entries(SUBJECTS)) {
    const subjects = `SELECT id FROM ${prefix}${table} WHERE ${open}`
    const jobs = `SELECT id FROM ${prefix}jobs WHERE kind = '${kind}'`
    // A check that was asked for of a domain without a schedule is a job until it has ended.
    const asked = kind === 'domain_check' ? ` AND run_at IS NOT NULL` : ''
    const rows = await read(
      `SELECT id, 'no job' AS what FROM (${subjects} EXCEPT ${jobs}) without
       UNION ALL SELECT id, 'no subject' AS what FROM (${jobs}${asked} EXCEPT ${subjects}) orphaned`,
    )
    found.push(...rows.map((row) => `${kind} ${String(row['id'])}: ${String(row['what'])}`))
  }
  return found
}
