import { orAborted } from '../../../lib/internal/until-aborted.ts'
import { KeyhookError } from '../../../lib/errors.ts'
import type { DeploymentRecord } from '../../../plugins/platform/contract/deployments.ts'
import type { Platform } from '../../platform.ts'
import type { JobHandler, Leased, Warn } from '../../jobs/handler.ts'
import type { Heartbeat } from '../../jobs/heartbeat.ts'
import { moveTask } from '../../jobs/tasks.ts'
import type { Failure } from './failures.ts'
import { FAILURES, failureOf } from './failures.ts'
import type { StepTools } from './steps.ts'
import { NotWanted, activate, build, goLive, prepareSwitch } from './steps.ts'
import { publishFailed, publishLive } from './publish-events.ts'

/** Log message of each step when it begins. */
const STEPS = {
  building: 'Making the release.',
  activating: 'Checking that all of it can be served.',
} as const

type Step = keyof typeof STEPS

export function createDeployHandler(platform: Platform, warn: Warn): JobHandler<DeploymentRecord> {
  return {
    kind: 'deployment',
    stages: STEPS,
    async begin(tx, job, now) {
      const subject = await tx.deployments.begin(job, now)
      await moveTask(platform, tx, job.id, { state: 'working', at: now })
      // The process that switched visitors to it ended before it published the event.
      return subject && { subject, isBound: subject.status === 'live' }
    },
    async run(leased, heartbeat, signal) {
      const { subject } = leased
      const isLive = subject.status === 'live'
      const live = isLive ? subject : await makeLive(platform, leased, heartbeat, signal)
      await platform.store.write((tx) => publishLive(platform, tx, live, platform.clock.now()))
    },
    end: (leased, why, step) => end(platform, leased, FAILURES[why], step),
    async fail(leased, error, step) {
      const failure = error instanceof NotWanted ? FAILURES[error.why] : judge(error)
      if (failure.class !== 'code' && !(error instanceof NotWanted)) {
        warn('a deployment failed', leased.job.id, error)
      }
      await end(platform, leased, failure, step)
      return undefined
    },
  }
}

/** @throws an error after which the outcome is unknown: the next attempt continues from the stored state */
function judge(error: unknown): Failure {
  if (error instanceof KeyhookError && error.code === 'unavailable') throw error
  return failureOf(error)
}

/**
 * Builds the release unless it is built, checks it, and switches visitors to it. Once it resolves, every
 * process serves it.
 */
async function makeLive(
  platform: Platform,
  leased: Leased<DeploymentRecord>,
  heartbeat: Heartbeat,
  signal: AbortSignal,
): Promise<DeploymentRecord> {
  const { subject: deployment } = leased
  const begin = (step: Step): StepTools => {
    heartbeat.report({ stage: step, done: 0, total: null })
    return {
      signal,
      log: heartbeat.log,
      progress: (done, total) => heartbeat.report({ stage: step, done, total }),
    }
  }
  let { artifact } = deployment
  if (artifact === null || deployment.status === 'building') {
    // The release of a rollback was built before.
    const stepTools = begin(artifact === null ? 'building' : 'activating')
    artifact = await orAborted(build(platform, leased, stepTools), signal)
  }
  await orAborted(activate(platform, leased, artifact, begin('activating')), signal)
  await orAborted(prepareSwitch(platform, leased), signal)
  await heartbeat.stop()
  signal.throwIfAborted()
  return goLive(platform, leased)
}

async function end(
  platform: Platform,
  { job: { claim }, subject: deployment }: Leased<DeploymentRecord>,
  failure: Failure,
  step: string | null,
): Promise<void> {
  const status = failure.code === 'canceled' ? 'canceled' : 'failed'
  await platform.store.write(async (tx) => {
    const ending = { status, ended_at: platform.clock.now(), error: { ...failure, step } } as const
    if (!(await tx.deployments.fail(deployment.id, claim, ending))) return
    await publishFailed(platform, tx, deployment, ending)
  })
}
