import type { Millis } from '../../lib/time.ts'
import { MINUTE } from '../../lib/time.ts'
import type { JobKindName } from '../../plugins/platform/contract/jobs.ts'
import { jobKind } from '../../plugins/platform/contract/jobs.ts'
import type { Platform } from '../platform.ts'
import type { Log } from '../telemetry/log.ts'
import type { CreateHandler, Warn, JobHandler, Leased, Verdict } from './handler.ts'
import { ClaimLost } from './handler.ts'
import type { Heartbeat } from './heartbeat.ts'
import { startHeartbeat } from './heartbeat.ts'
import type { WorkLoop } from './work-loop.ts'
import { startWorkLoop } from './work-loop.ts'

/**
 * Runs jobs of one kind as they become available, until it is stopped; running jobs are then released.
 *
 * @param times default: those of the kind
 * @param every interval of looking for jobs that another process enqueued, or had claimed when it died
 */
export function runJobs<Subject, Refusal extends string>(
  platform: Platform,
  log: Log,
  createHandler: CreateHandler<Subject, Refusal>,
  times: Partial<JobTimes>,
  every: Millis,
): Pick<WorkLoop, 'stop'> {
  const { store, clock, workAvailable } = platform
  const warn: Warn = (what, id, cause) => {
    const why = cause instanceof Error && 'internal' in cause ? cause.internal : undefined
    log.warn({ [`${kind}_id`]: id, err: cause, why }, what)
  }
  const handler = createHandler(platform, warn)
  const { kind } = handler
  const runner = createRunner(platform, handler, { ...jobTimes(kind), ...times }, warn)
  const loop = startWorkLoop({
    name: kind,
    isClaimable: () => store.jobs.isClaimable(kind, clock.now()),
    claimNext: runner.runNext,
    most: jobKind(kind).concurrency,
    every,
    clock,
    log,
  })
  const stopListening = workAvailable.jobs.listen((of) => {
    if (of !== kind) return
    loop.notify()
    runner.look()
  })
  return {
    async stop() {
      stopListening()
      await loop.stop()
    },
  }
}

export interface JobTimes {
  /** Duration of a claim without a heartbeat. */
  readonly lease: Millis
  /** Interval of heartbeats. */
  readonly beat: Millis
  /** From the first claim to the end of the job; null for no limit. */
  readonly deadline: Millis | null
}

export function jobTimes(kind: JobKindName): JobTimes {
  return { lease: MINUTE, beat: MINUTE / 4, deadline: jobKind(kind).deadline }
}

export interface Runner {
  /** Claims the next job and runs it to its end; false when there was none. */
  runNext(stopping: AbortSignal): Promise<boolean>
  /** Checks at once whether running jobs must stop. */
  look(): void
}

/** Why a running job stops. */
type Stop = 'lost' | 'stopping' | Exclude<Verdict, 'worker_lost'>

interface Claimed<Subject, Refusal> extends Leased<Subject> {
  readonly refusal?: Refusal | undefined
  readonly isBound?: boolean
}

/** Runs jobs of one kind, one per call: claim, heartbeat, deadline, cancellation and release. */
export function createRunner<Subject, Refusal extends string>(
  platform: Platform,
  handler: JobHandler<Subject, Refusal>,
  times: JobTimes,
  warn: Warn,
): Runner {
  const { store, clock, newId } = platform
  const { kind, stages } = handler
  const heartbeats = new Set<Heartbeat>()

  /** Undefined when no job is claimable, null when the subject of the claimed job was deleted. */
  async function claimNext(): Promise<Claimed<Subject, Refusal> | null | undefined> {
    const now = clock.now()
    const { lease, deadline } = times
    const deadline_at = deadline === null ? null : now + deadline
    const claim = { claim: newId(), now, lease_until: now + lease, deadline_at }
    return store.write(async (tx) => {
      const job = await tx.jobs.claim(kind, claim)
      if (job === undefined) return undefined
      const begun = await handler.begin(tx, job, now)
      if (begun !== undefined) return { job, ...begun }
      await tx.jobs.complete(job.id, job.claim)
      return null
    })
  }

  /** Why a job ends before it runs; undefined: it runs. */
  function judge({
    job,
    refusal,
    isBound,
  }: Claimed<Subject, Refusal>): Verdict | Refusal | undefined {
    if (isBound === true) return undefined
    if (job.cancel_at !== null) return 'canceled'
    if (refusal !== undefined) return refusal
    if (job.deadline_at !== null && job.deadline_at <= clock.now()) return 'timed_out'
    const { attempts } = jobKind(kind)
    // Its processes died each time: it would kill the next one too.
    return attempts !== null && job.attempts > attempts ? 'worker_lost' : undefined
  }

  function beat({ job: { id, claim } }: Leased<Subject>, ended: (why: Stop) => void): Heartbeat {
    const { lease, beat: every } = times
    return startHeartbeat({
      clock,
      every,
      lease,
      stages,
      ended,
      warn: (cause) => warn('the lease of a job could not be extended yet', id, cause),
      beat: ({ lease_until, progress, lines }) =>
        store.write(async (tx) => {
          const hold = await tx.jobs.heartbeat(id, claim, { lease_until, ...progress })
          if (hold !== 'lost') await tx.jobs.log(id, lines)
          return hold
        }),
      release: (given) => store.write((tx) => tx.jobs.release(id, claim, given)),
    })
  }

  async function run(claimed: Claimed<Subject, Refusal>, stopping: AbortSignal): Promise<void> {
    const stopped: { why?: Stop } = {}
    const stop = new AbortController()
    function stopFor(why: Stop): void {
      stopped.why ??= why
      stop.abort(why === 'timed_out' ? new DOMException('late', 'TimeoutError') : undefined)
    }
    const heartbeat = beat(claimed, stopFor)
    heartbeats.add(heartbeat)
    const { deadline_at } = claimed.job
    const cancelDeadline =
      deadline_at === null || claimed.isBound === true
        ? (): void => undefined
        : clock.after(deadline_at - clock.now(), () => stopFor('timed_out'))
    const onStopping = (): void => stopFor('stopping')
    stopping.addEventListener('abort', onStopping, { once: true })
    if (stopping.aborted) onStopping()
    let failure: { readonly error: unknown } | undefined
    try {
      await handler.run(claimed, heartbeat, stop.signal)
    } catch (error) {
      failure = { error }
    }
    // The last heartbeat may still find that the claim is lost.
    await heartbeat.stop()
    heartbeats.delete(heartbeat)
    cancelDeadline()
    stopping.removeEventListener('abort', onStopping)
    if (failure !== undefined) await conclude(claimed, heartbeat, stopped.why, failure.error)
  }

  /** Releases, ends or fails a job whose run threw. */
  async function conclude(
    leased: Leased<Subject>,
    heartbeat: Heartbeat,
    why: Stop | undefined,
    error: unknown,
  ): Promise<void> {
    if (why === 'lost' || error instanceof ClaimLost) return
    if (why === 'stopping') return heartbeat.release()
    if (why !== undefined) return handler.end(leased, why, heartbeat.stage)
    const delay = await handler.fail(leased, error, heartbeat.stage)
    if (delay !== undefined) await heartbeat.retryAfter(delay)
  }

  return {
    async runNext(stopping) {
      const claimed = await claimNext()
      if (claimed === undefined) return false
      if (claimed === null) return true
      const verdict = judge(claimed)
      await (verdict === undefined ? run(claimed, stopping) : handler.end(claimed, verdict, null))
      return true
    },
    look() {
      for (const heartbeat of heartbeats) heartbeat.look()
    },
  }
}
