import type { Migration } from '../../store/sql/migrations/migration.ts'
import type { PlatformTables } from '../sql/tables.ts'

/**
 * Jobs, in the place of what each noun kept of its own work. Every daemon must be stopped meanwhile: an older
 * one would look for work where it no longer is.
 */
export const jobs: readonly Migration<PlatformTables>[] = [
  {
    name: 'jobs/0001-jobs-lines',
    alone: true,
    up: (t, d) => [
      `CREATE TABLE ${t.jobs} (
        id ${d.id} PRIMARY KEY,
        kind TEXT NOT NULL,
        app_id ${d.id} NOT NULL,
        account_id ${d.id} NOT NULL,
        queue ${d.id},
        status TEXT NOT NULL CHECK (status IN ('queued', 'running')),
        run_at BIGINT,
        attempts INTEGER NOT NULL,
        claim TEXT,
        lease_until BIGINT,
        deadline_at BIGINT,
        cancel_at BIGINT,
        stage TEXT,
        done BIGINT NOT NULL,
        total BIGINT
      )`,
      // What is claimed next is found by hopping from account to account.
      `CREATE INDEX ${t.jobs}_queued ON ${t.jobs} (kind, account_id, id) WHERE status = 'queued'`,
      `CREATE INDEX ${t.jobs}_due ON ${t.jobs} (kind, run_at, id)
        WHERE status = 'queued' AND run_at IS NOT NULL`,
      `CREATE INDEX ${t.jobs}_running ON ${t.jobs} (kind, account_id) WHERE status = 'running'`,
      // Whatever else goes wrong, no queue has two.
      `CREATE UNIQUE INDEX ${t.jobs}_queue ON ${t.jobs} (queue)
        WHERE status = 'running' AND queue IS NOT NULL`,
      `CREATE INDEX ${t.jobs}_by_app ON ${t.jobs} (app_id)`,
      `CREATE TABLE ${t.job_lines} (
        job_id ${d.id} NOT NULL,
        number INTEGER NOT NULL,
        at BIGINT NOT NULL,
        stage TEXT,
        message TEXT NOT NULL,
        PRIMARY KEY (job_id, number)
      ) ${d.clustered}`,
    ],
  },
  {
    name: 'jobs/0002-files',
    alone: true,
    up: (t) => [
      // What was leased stays so: another takes it over when the lease ends.
      moved(t.jobs, 'file', {
        ...LEASED,
        status: `CASE status WHEN 'processing' THEN 'running' ELSE 'queued' END`,
        from: `${t.files} WHERE status IN ('queued', 'processing')`,
      }),
      `DROP INDEX ${t.files}_queued`,
      `DROP INDEX ${t.files}_processing`,
      ...dropped(t.files, ['stage', 'done', 'total', 'deadline_at', 'claim', 'lease_until']),
    ],
  },
  {
    name: 'jobs/0003-domain-checks',
    alone: true,
    up: (t) => [
      moved(t.jobs, 'domain_check', {
        ...UNTRACKED,
        status: `CASE WHEN claim IS NULL THEN 'queued' ELSE 'running' END`,
        run_at: 'next_check_at',
        from: `${t.domains} WHERE next_check_at IS NOT NULL OR claim IS NOT NULL`,
      }),
      `DROP INDEX ${t.domains}_due`,
      ...dropped(t.domains, ['claim', 'lease_until']),
    ],
  },
  {
    name: 'jobs/0004-edits',
    alone: true,
    up: (t) => [
      moved(t.jobs, 'edit', {
        ...LEASED,
        queue: `'edit ' || app_id`,
        status: 'status',
        cancel_at: 'cancel_at',
        from: `${t.edits} WHERE status IN ('queued', 'running')`,
      }),
      `INSERT INTO ${t.job_lines} (job_id, number, at, stage, message)
       SELECT edit_id, number, at, stage, message FROM ${t.edit_lines}`,
      `DROP TABLE ${t.edit_lines}`,
      `DROP INDEX ${t.edits}_running`,
      `DROP INDEX ${t.edits}_waiting`,
      ...dropped(t.edits, [
        'stage',
        'done',
        'total',
        'deadline_at',
        'cancel_at',
        'attempts',
        'claim',
        'lease_until',
        'lines',
      ]),
    ],
  },
  {
    name: 'jobs/0005-deployments',
    alone: true,
    up: (t) => [
      // One that is live has a job until its going live is told of.
      moved(t.jobs, 'deployment', {
        ...LEASED,
        status: `CASE status WHEN 'queued' THEN 'queued' ELSE 'running' END`,
        cancel_at: 'cancel_at',
        stage: 'step',
        from: `${t.deployments}
          WHERE announced = 0 AND status IN ('queued', 'building', 'deploying', 'live')`,
      }),
      `INSERT INTO ${t.job_lines} (job_id, number, at, stage, message)
       SELECT deployment_id, number, at, step, message FROM ${t.deployment_lines}`,
      `DROP TABLE ${t.deployment_lines}`,
      `DROP INDEX ${t.deployments}_open`,
      `DROP INDEX ${t.deployments}_under_way`,
      ...dropped(t.deployments, [
        'step',
        'done',
        'total',
        'deadline_at',
        'cancel_at',
        'attempts',
        'claim',
        'lease_until',
        'lines',
      ]),
    ],
  },
]

/** Where a noun kept the state of its own work, as expressions. */
interface Kept {
  readonly queue?: string
  readonly status: string
  readonly run_at?: string
  readonly attempts: string
  readonly deadline_at: string
  readonly cancel_at?: string
  readonly stage: string
  readonly done: string
  readonly total: string
  readonly from: string
}

const LEASED = {
  attempts: 'attempts',
  deadline_at: 'deadline_at',
  stage: 'stage',
  done: 'done',
  total: 'total',
} as const

const UNTRACKED = {
  attempts: '0',
  deadline_at: 'NULL',
  stage: 'NULL',
  done: '0',
  total: 'NULL',
} as const

function moved(jobs: string, kind: string, kept: Kept): string {
  const { queue = 'NULL', run_at = 'NULL', cancel_at = 'NULL', from } = kept
  return `INSERT INTO ${jobs} (id, kind, app_id, account_id, queue, status, run_at, attempts, claim,
      lease_until, deadline_at, cancel_at, stage, done, total)
    SELECT id, '${kind}', app_id, account_id, ${queue}, ${kept.status},
      CAST(${run_at} AS BIGINT), ${kept.attempts}, claim, lease_until,
      CAST(${kept.deadline_at} AS BIGINT), CAST(${cancel_at} AS BIGINT), ${kept.stage},
      ${kept.done}, CAST(${kept.total} AS BIGINT) FROM ${from}`
}

function dropped(table: string, columns: readonly string[]): readonly string[] {
  return columns.map((column) => `ALTER TABLE ${table} DROP COLUMN ${column}`)
}
