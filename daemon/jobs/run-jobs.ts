import type { Millis } from '../../lib/time.ts'
import { JOB_KINDS } from '../../plugins/platform/contract/jobs.ts'
import type { Platform } from '../platform.ts'
import type { Log } from '../telemetry/log.ts'
import type { WorkLoop } from './work-loop.ts'
import { startWorkLoop } from './work-loop.ts'
import type { CreateHandler, Warn } from './handler.ts'
import type { JobTimes } from './runner.ts'
import { createRunner, jobTimes } from './runner.ts'

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
    most: JOB_KINDS[kind].concurrency,
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
