import type { Instant, Millis } from '../../lib/time.ts'
import type { PlatformTx } from '../../plugins/platform/contract.ts'
import type { JobKindName, LeasedJob } from '../../plugins/platform/contract/jobs.ts'
import type { Platform } from '../platform.ts'
import type { Heartbeat } from './heartbeat.ts'

/** The job is another's by now, or its subject is gone. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost'
}

/** A job that this process runs, and what it is about. */
export interface Leased<Subject> {
  readonly job: LeasedJob
  readonly subject: Subject
}

/** Why a job of any kind ends without having run to its end. */
export type Verdict = 'canceled' | 'timed_out' | 'worker_lost'

/** What is done for one kind of jobs. */
export interface JobHandler<Subject, Refusal extends string = never> {
  readonly kind: JobKindName
  /** What is logged of a stage that has nothing else to say; without it jobs of the kind have no log. */
  readonly stages?: Readonly<Record<string, string>>
  /** Notes in the claim's unit of work that the subject runs. Undefined when there is none any more. */
  begin(
    tx: PlatformTx,
    job: LeasedJob,
    now: Instant,
  ): Promise<
    | {
        readonly subject: Subject
        /** Why it must not run. */
        readonly refusal?: Refusal | undefined
        /** It is past the point of no return: it runs, whatever its deadline and its attempts. */
        readonly isBound?: boolean
      }
    | undefined
  >
  /** Runs it to its end and completes the job. Its signal aborts when it is not to go on. */
  run(leased: Leased<Subject>, heart: Heartbeat, signal: AbortSignal): Promise<void>
  /** Ends the subject and completes the job. @param stage what was being done */
  end(leased: Leased<Subject>, why: Verdict | Refusal, stage: string | null): Promise<void>
  /**
   * Judges a run that threw: ends the subject and completes the job, or answers after how long the next
   * attempt may begin.
   *
   * @throws what leaves it unknown what holds: the lease ends, and the job is run anew
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
 * Waits for work whether or not it heeds the signal.
 *
 * @throws what `reason` makes of the signal once it aborts
 */
export function unlessAborted<T>(
  signal: AbortSignal,
  work: Promise<T>,
  reason: (signal: AbortSignal) => Error = (aborted) => aborted.reason as Error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(reason(signal))
    const settle = (finish: () => void): void => {
      signal.removeEventListener('abort', abort)
      finish()
    }
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error)),
    )
  })
}
