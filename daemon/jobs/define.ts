import type { Kind } from '../../lib/internal/arguments.ts'
import { FUNCTION, declareArguments, optional, optionsOf } from '../../lib/internal/arguments.ts'
import { SECOND } from '../../lib/time.ts'
import type { PlatformTx } from '../../plugins/platform/contract.ts'
import type { ForeignKind, LeasedJob } from '../../plugins/platform/contract/jobs.ts'
import { isForeignKind } from '../../plugins/platform/contract/jobs.ts'
import type { Platform } from '../platform.ts'
import type { FamilyJobs, JobHandler, Verdict, Warn } from './handler.ts'
import { ClaimLost } from './handler.ts'

/** A job of a family of a third party, while it runs. */
export interface RunningJob {
  readonly platform: Platform
  /** That of its subject. */
  readonly id: string
  readonly account_id: string
  /** 1 for the first. */
  readonly attempt: number
  /** Aborts when it must stop. */
  readonly signal: AbortSignal
}

/** Why a job ended before it was done; `failed`: all of its attempts threw. */
export type JobEnd = Verdict | 'failed'

/** What runs in the background for a family, each job at least once. */
export interface Job {
  /** `<family>.<name>` */
  readonly kind: ForeignKind
  /**
   * Does the work, outside of any transaction, and returns what is committed with its end: that part happens once.
   * When it throws, the job is tried again, three times in all.
   */
  run(job: RunningJob): Promise<((tx: PlatformTx) => Promise<void>) | undefined>
  /** Part of the unit of work in which a job is given up. Default: nothing. */
  ended?(tx: PlatformTx, job: Omit<RunningJob, 'signal'>, why: JobEnd): Promise<void>
}

/** The jobs of one kind. */
export interface DefinedJob extends FamilyJobs {
  readonly kind: ForeignKind
  /** Adds a job in a unit of work; nothing when there is one with the id already. */
  enqueue(
    call: { readonly tx: PlatformTx; readonly platform: Platform },
    job: { readonly id: string; readonly account_id: string },
  ): Promise<void>
}

const readJob = declareArguments('defineJob', {
  job: optionsOf({
    kind: {
      allowed: 'a name such as notes.digest',
      accepts: (value) => typeof value === 'string' && isForeignKind(value),
    },
    run: FUNCTION,
    ended: optional(FUNCTION),
  } satisfies Record<keyof Job, Kind>),
})

const ATTEMPTS = 3
const RETRY_AFTER = 5 * SECOND

/**
 * Declares the jobs of one kind. They are claimed, extended, timed out after 15 minutes and taken over as those of the
 * product are.
 *
 * @throws TypeError for a job of another form
 * @example
 * const digest = defineJob({ kind: 'notes.digest', run: async ({ id }) => (tx) => store(tx, id) })
 * await digest.enqueue(call, { id: note.id, account_id })
 */
export function defineJob(...args: readonly [job: Job]): DefinedJob {
  readJob(args)
  const [job] = args
  const { kind } = job
  return {
    kind,
    createHandler: (platform, warn) => handlerOf(job, platform, warn),
    async enqueue({ tx, platform }, { id, account_id }) {
      await tx.jobs.enqueue({ id, kind, account_id, app_id: NO_APP, queue: null, run_at: null })
      tx.afterCommit(() => {
        platform.workAvailable.jobs(kind)
      })
    },
  }
}

/** Jobs of a family are of no app. */
const NO_APP = ''

function handlerOf(
  { kind, run, ended }: Job,
  platform: Platform,
  warn: Warn,
): JobHandler<LeasedJob> {
  const shown = ({ id, account_id, attempts }: LeasedJob): Omit<RunningJob, 'signal'> => ({
    platform,
    id,
    account_id,
    attempt: attempts,
  })

  /** Whoever completes it commits the rest. */
  async function complete(
    { id, claim }: LeasedJob,
    also: ((tx: PlatformTx) => Promise<void>) | undefined,
  ): Promise<void> {
    await platform.store.write(async (tx) => {
      if (!(await tx.jobs.complete(id, claim))) throw new ClaimLost()
      await also?.(tx)
    })
  }

  const end = (job: LeasedJob, why: JobEnd): Promise<void> =>
    complete(job, (tx) => ended?.(tx, shown(job), why) ?? Promise.resolve())

  return {
    kind,
    begin: (_, job) => Promise.resolve({ subject: job }),
    async run({ job }, _, signal) {
      await complete(job, await run({ ...shown(job), signal }))
    },
    end: ({ job }, why) => end(job, why),
    async fail({ job }, error) {
      warn(`a job ${kind} failed`, job.id, error)
      if (job.attempts < ATTEMPTS) return RETRY_AFTER
      await end(job, 'failed')
      return undefined
    },
  }
}
