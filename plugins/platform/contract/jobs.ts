import type { Instant } from '../../../lib/time.ts'
import type { JobKindName } from '../jobs/kinds.ts'
import type { RecordOfDeclared } from '../../store/sql/columns.ts'
import type { RecordOf } from '../model/define.ts'
import type { JOBS, JOB_LINES, PROGRESS } from '../models/jobs.ts'

export type { ForeignKind, JobKindName } from '../jobs/kinds.ts'
export { JOB_KINDS, isForeignKind, jobKind } from '../jobs/kinds.ts'

/** How far a job is. */
export type JobProgress = RecordOfDeclared<typeof PROGRESS>

/** A job that is leased to whoever claimed it. */
export type LeasedJob = RecordOf<typeof JOBS>

/** A job that waits. Its row exists from here until it is completed. */
export interface NewJob extends Pick<LeasedJob, 'id' | 'kind' | 'app_id' | 'account_id'> {
  /** Of the jobs of one queue one runs at a time; null for no queue. */
  readonly queue: string | null
  /** When it is due; null for at once. */
  readonly run_at: Instant | null
}

export interface JobClaim {
  /** Unique to this claim. */
  readonly claim: string
  readonly now: Instant
  readonly lease_until: Instant
  /** When it is to have ended, where this is its first claim; null for no limit. */
  readonly deadline_at: Instant | null
}

/** What the holder of a claim is told: it holds, the job is to stop, or it is another's by now. */
export type Hold = 'held' | 'cancel' | 'lost'

/** One line of what a job did. */
export type JobLine = RecordOf<typeof JOB_LINES>

export interface JobReads {
  /** Whether `claim` would find anything. */
  isClaimable(kind: JobKindName, now: Instant): Promise<boolean>
  /** What whoever claimed a job is to do with it. */
  hold(id: string, claim: string): Promise<Hold>
  /** Lines of a job after a number, in their order. */
  lines(id: string, after: number, limit: number): Promise<readonly JobLine[]>
}

/**
 * Transitions of jobs. Subjects call `enqueue`, `dequeue` and `complete` in the statements that change their
 * own status, so that a job exists for every subject that is open, and for no other.
 */
export interface JobWrites extends JobReads {
  /** Adds a job; nothing where its subject has one already. */
  enqueue(job: NewJob): Promise<void>
  /**
   * Leases the next job of a kind: one that waits, or one whose lease has ended. Of concurrent callers each
   * gets another; of a queue none is leased while one of it runs. Its progress is cleared, its attempts
   * count one more.
   */
  claim(kind: JobKindName, asked: JobClaim): Promise<LeasedJob | undefined>
  /** Leases this job, due or not. Undefined, changing nothing, when there is none or it is leased. */
  claimOne(kind: JobKindName, id: string, asked: JobClaim): Promise<LeasedJob | undefined>
  /** Extends the lease and notes the progress. `lost` changes nothing. */
  heartbeat(
    id: string,
    claim: string,
    beat: { readonly lease_until: Instant } & JobProgress,
  ): Promise<Hold>
  /**
   * Gives a leased job back unfinished, to be claimed from `until` on. False, changing nothing, when the
   * claim is lost.
   *
   * @param counted whether this attempt counts
   */
  release(
    id: string,
    claim: string,
    given: { readonly until: Instant; readonly counted: boolean },
  ): Promise<boolean>
  /** Lets a leased job wait until it is due again. False, changing nothing, when the claim is lost. */
  reschedule(id: string, claim: string, run_at: Instant): Promise<boolean>
  /** Asks a running one to stop. False when it does not run; asked again, true. */
  cancel(id: string, now: Instant): Promise<boolean>
  /** Ends a leased job. False, changing nothing, when the claim is lost: of any callers one gets true. */
  complete(id: string, claim: string): Promise<boolean>
  /** Ends a job that waits. False, changing nothing, when it does not. */
  dequeue(id: string): Promise<boolean>
  /** Adds lines after its last, in a unit of work that has found its subject. */
  log(id: string, lines: readonly Omit<JobLine, 'number'>[]): Promise<void>
}
