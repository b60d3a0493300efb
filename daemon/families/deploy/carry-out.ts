import { KeyhookError } from '../../../lib/errors.ts'
import type { Instant } from '../../../lib/time.ts'
import { MINUTE, SECOND } from '../../../lib/time.ts'
import type { DeploymentRecord } from '../../../plugins/platform/contract/deployments.ts'
import type { Platform } from '../../platform.ts'
import type { Heartbeat } from '../heartbeat.ts'
import { keepBeating } from '../heartbeat.ts'
import type { Carrier, Stop, Warn, WorkTimes } from '../under-claim.ts'
import { carryUnderClaim, unlessAborted } from '../under-claim.ts'
import type { Failure } from './failures.ts'
import { FAILURES, failureOf } from './failures.ts'
import type { Held, Workshop } from './steps.ts'
import { ClaimLost, NotWanted, activate, build, goLive, poise } from './steps.ts'
import { tellFailed, tellLive } from './tell.ts'

export const DEPLOY_TIMES: WorkTimes = {
  lease: MINUTE,
  beat: 15 * SECOND,
  deadline: 10 * MINUTE,
}

/** Claims of one deployment before it is given up: what kills its worker kills the next one too. */
const MAX_ATTEMPTS = 3

/** What is being done, as it is logged when it begins. */
const STEPS = {
  building: 'Making the release.',
  activating: 'Checking that all of it can be served.',
} as const

type Step = keyof typeof STEPS

export function createDeployCarrier(
  platform: Platform,
  warn: Warn,
  times: WorkTimes = DEPLOY_TIMES,
): Carrier {
  const { store, clock, newId } = platform
  const beating = new Set<Heartbeat>()
  return {
    async takeUp(stopping) {
      const claim = newId()
      const now = clock.now()
      const asked = {
        claim,
        now,
        lease_until: now + times.lease,
        deadline_at: now + times.deadline,
      }
      const deployment = await store.write((tx) => tx.deployments.claim(asked))
      if (deployment === undefined) return false
      await carryOut({ platform, deployment, claim, warn, times, beating, stopping })
      return true
    },
    look() {
      for (const heart of beating) heart.look()
    },
  }
}

interface Claimed extends Held {
  readonly platform: Platform
  readonly warn: Warn
  readonly times: WorkTimes
  readonly beating: Set<Heartbeat>
  readonly stopping: AbortSignal
}

async function carryOut(claimed: Claimed): Promise<void> {
  const { platform, deployment, times, beating, stopping } = claimed
  const { clock } = platform
  // Whoever led everybody to it went away before it was told of.
  if (deployment.status === 'live') return announce(claimed)
  const hopeless = judgeClaimed(deployment, clock.now())
  if (hopeless !== undefined) return end(claimed, hopeless, null)

  const place: { step: Step } = { step: 'building' }
  const done: { live?: DeploymentRecord } = {}
  await carryUnderClaim({
    clock,
    left: deployment.deadline_at === null ? times.deadline : deployment.deadline_at - clock.now(),
    stopping,
    beating,
    beat: (ended) => beatFor(claimed, ended),
    async perform(heart, signal) {
      done.live = await makeLive(claimed, { heart, signal, place })
    },
    async conclude(heart, why, error) {
      await conclude(claimed, { heart, why, error, step: place.step })
    },
  })
  const { live } = done
  if (live !== undefined) await announce({ ...claimed, deployment: live })
}

function beatFor(
  { platform, deployment: { id }, claim, warn, times }: Claimed,
  ended: (why: 'lost' | 'canceled') => void,
): Heartbeat {
  const { store, clock } = platform
  return keepBeating({
    clock,
    every: times.beat,
    lease: times.lease,
    stages: STEPS,
    ended,
    warn: (cause) => warn('the claim of a deployment could not be renewed yet', id, cause),
    beat: ({ lease_until, place: { stage, done, total }, lines }) =>
      store.write(async (tx) => {
        const beat = { lease_until, step: stage, done, total }
        const heard = await tx.deployments.beat(id, claim, beat)
        const told = lines.map((line) => ({ at: line.at, step: line.stage, message: line.message }))
        if (heard !== 'lost') await tx.deployments.log(id, told)
        return heard
      }),
    release: (now) => store.write((tx) => tx.deployments.release(id, claim, now)),
  })
}

/** What ends a deployment before it is gone on with. */
function judgeClaimed(
  { cancel_at, deadline_at, attempts }: DeploymentRecord,
  now: Instant,
): Failure | undefined {
  if (cancel_at !== null) return FAILURES.canceled
  if (deadline_at !== null && deadline_at <= now) return FAILURES.timed_out
  return attempts > MAX_ATTEMPTS ? FAILURES.worker_lost : undefined
}

/**
 * Makes the release where it is not made yet, makes sure of it, and leads everybody to it. Once it
 * resolves, every process knows where the app's address leads.
 */
async function makeLive(
  { platform, deployment, claim }: Claimed,
  under: {
    readonly heart: Heartbeat
    readonly signal: AbortSignal
    readonly place: { step: Step }
  },
): Promise<DeploymentRecord> {
  const { heart, signal, place } = under
  const begin = (step: Step): Workshop => {
    place.step = step
    heart.tell({ stage: step, done: 0, total: null })
    return {
      signal,
      log: heart.say,
      progress: (done, total) => heart.tell({ stage: step, done, total }),
    }
  }
  const held = { deployment, claim }
  let { artifact } = deployment
  if (artifact === null || deployment.status === 'building') {
    // What a rollback serves was made before.
    const workshop = begin(artifact === null ? 'building' : 'activating')
    artifact = await unlessAborted(signal, build(platform, held, workshop))
  }
  await unlessAborted(signal, activate(platform, held, artifact, begin('activating')))
  await unlessAborted(signal, poise(platform, held))
  await heart.stop()
  signal.throwIfAborted()
  return goLive(platform, held)
}

/** What becomes of a deployment that did not go live. */
async function conclude(
  claimed: Claimed,
  ending: {
    readonly heart: Heartbeat
    readonly why: Stop | undefined
    readonly error: unknown
    readonly step: Step
  },
): Promise<void> {
  const { heart, why, error, step } = ending
  if (why === 'lost' || error instanceof ClaimLost) return
  if (why === 'stopping') return heart.release()
  if (why !== undefined) return end(claimed, FAILURES[why], step)
  if (error instanceof NotWanted) return end(claimed, FAILURES[error.why], step)
  // It is not known what holds: the lease ends, and it is gone on with from what it is by then.
  if (error instanceof KeyhookError && error.code === 'unavailable') throw error
  const failure = failureOf(error)
  if (failure.class !== 'code') claimed.warn('a deployment failed', claimed.deployment.id, error)
  return end(claimed, failure, step)
}

async function end(
  { platform, deployment, claim }: Claimed,
  failure: Failure,
  step: Step | null,
): Promise<void> {
  const status = failure.code === 'canceled' ? 'canceled' : 'failed'
  await platform.store.write(async (tx) => {
    const ending = { status, ended_at: platform.clock.now(), error: { ...failure, step } } as const
    if (!(await tx.deployments.fail(deployment.id, claim, ending))) return
    await tellFailed(platform, tx, deployment, ending)
  })
}

async function announce({ platform, deployment }: Claimed): Promise<void> {
  await platform.store.write((tx) => tellLive(platform, tx, deployment, platform.clock.now()))
}
