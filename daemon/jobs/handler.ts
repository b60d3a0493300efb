import { orAborted } from '../../lib/internal/until-aborted.ts'
import type { Instant, Millis } from '../../lib/time.ts'
import type { PlatformTx } from '../../plugins/platform/contract.ts'
import type { JobKindName, LeasedJob } from '../../plugins/platform/contract/jobs.ts'
import type { Platform } from '../platform.ts'
import type { Heartbeat } from './heartbeat.ts'

/** Another process has claimed the job, or its subject was deleted. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost'
}

/** The subject of a job that is claimed, and the claim, which guards each change of it. */
export interface Claimed<Subject> {
  readonly job: Pick<LeasedJob, 'claim'>
  readonly subject: Subject
}

/** A job that this process runs, and its subject. */
export interface Leased<Subject> extends Claimed<Subject> {
  readonly job: LeasedJob
}

/** Why a job is ended before it is done, whatever its kind. */
export type Verdict = 'canceled' | 'timed_out' | 'worker_lost'

/** The work of one kind of job. */
export interface JobHandler<Subject, Refusal extends string = never> {
  readonly kind: JobKindName
  /** Log message of each stage that reports none; undefined: jobs of the kind have no log. */
  readonly stages?: Readonly<Record<string, string>>
  /** Marks the subject as running, in the unit of work of the claim. Undefined when it was deleted. */
  begin(
    tx: PlatformTx,
    job: LeasedJob,
    now: Instant,
  ): Promise<
    | {
        readonly subject: Subject
        /** Why it must not run; undefined: it may. */
        readonly refusal?: Refusal | undefined
        /** It cannot be undone any more: it runs, whatever its deadline and its attempts. */
        readonly isBound?: boolean
      }
    | undefined
  >
  /** Does the work and completes the job. The signal aborts when it must stop. */
  run(leased: Leased<Subject>, heartbeat: Heartbeat, signal: AbortSignal): Promise<void>
  /** Ends the subject and completes the job. @param stage the stage that it was in */
  end(leased: Leased<Subject>, why: Verdict | Refusal, stage: string | null): Promise<void>
  /**
   * Handles a run that threw: ends the subject and completes the job, or returns the delay until the next
   * attempt.
   *
   * @throws an error after which the outcome is unknown: the lease ends, and the job is run again
   */
  fail(leased: Leased<Subject>, error: unknown, stage: string | null): Promise<Millis | undefined>
}

/** Reports what goes wrong beside the end of a job. */
export type Warn = (what: string, id: string, cause: unknown) => void

export type CreateHandler<Subject = unknown, Refusal extends string = string> = (
  platform: Platform,
  warn: Warn,
) => JobHandler<Subject, Refusal>

export interface FamilyJobTimes {
  readonly lease: Millis
  /** Interval of looking for jobs that another process enqueued, or had claimed when it died. */
  readonly every: Millis
}

/** Jobs of one kind, as the family declares them that runs them. */
export interface FamilyJobs {
  readonly createHandler: CreateHandler
  /** Default: those that the operator configures. */
  readonly times?: FamilyJobTimes
  /** Whether this service has such jobs. Default: always. */
  isServed?(platform: Platform): boolean
}

/**
 * As `orAborted`, for another error than the reason of the signal.
 *
 * @throws the result of `reason` when the signal aborts
 */
export async function unlessAborted<T>(
  signal: AbortSignal,
  work: Promise<T>,
  reason: (signal: AbortSignal) => Error,
): Promise<T> {
  try {
    return await orAborted(work, signal)
  } catch (cause) {
    throw signal.aborted && cause === signal.reason ? reason(signal) : cause
  }
}
