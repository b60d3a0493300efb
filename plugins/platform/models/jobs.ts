import type { JobKindName } from '../jobs/kinds.ts'
import { big, id, int, orNull, text } from '../../store/sql/columns.ts'
import { defineModel } from '../model/define.ts'

/** How far a job is, also as its subject shows it. */
export const PROGRESS = {
  /** Null while it waits. */
  stage: orNull(text()),
  done: { ...big(), read: (value: unknown) => Number(value ?? 0) },
  total: orNull(big()),
}

/** A job, as whoever leased it has it. */
export const JOBS = defineModel(
  'jobs',
  {
    /** That of its subject: the file, the edit, the deployment or the domain. Time-ordered. */
    id: id(),
    kind: text<JobKindName>(),
    app_id: id(),
    account_id: id(),
    /** Unique to the claim. */
    claim: { ...text(), nullable: true },
    /** How often it was claimed; attempts that were released as uncounted are left out. */
    attempts: int(),
    /** It fails when it has not ended by then. */
    deadline_at: orNull(big()),
    /** Set while it runs: whoever runs it stops. */
    cancel_at: orNull(big()),
  },
  {
    queue: orNull(id()),
    status: text(),
    run_at: orNull(big()),
    lease_until: orNull(big()),
    ...PROGRESS,
  },
)

/** One line of what a job did. Lines are kept after its end, as long as its subject. */
export const JOB_LINES = defineModel(
  'job_lines',
  {
    /** 1, 2, … within the job, without a gap. */
    number: int(),
    at: big(),
    stage: orNull(text()),
    message: text(),
  },
  { job_id: id() },
)
