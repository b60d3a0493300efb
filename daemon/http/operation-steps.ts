import type { Operation } from '../operations/operation.ts'
import type { Platform } from '../platform.ts'
import type { CallStep } from './call-context.ts'
import type { AdmissionSteps } from './middleware/admit.ts'
import { admissionSteps } from './middleware/admit.ts'
import { createRateLimit } from './middleware/rate-limit.ts'
import { createRefusalLimit } from './middleware/refusal-limit.ts'
import { validate } from './middleware/validate.ts'
import type { RateLimits } from './rates.ts'
import type { PrincipalResolver } from './state.ts'
import type { Traffic } from './traffic.ts'

/** What the steps of operations share. */
export interface StepOptions {
  readonly platform: Platform
  /** Finds the caller: the daemon's way, or the embedder's. */
  readonly resolve: PrincipalResolver
  readonly rateLimits: RateLimits
  /** Shared by the requests of this process: the same for every mount of a process. */
  readonly traffic: Traffic
}

/** How an operation is called: by a request of its own, or inside a request of another protocol. */
export interface Way<One> {
  /** Checks of the request that the caller was admitted by. */
  readonly checks: readonly One[]
  /** Reads the input into the state; `validate` follows where the operation needs it. */
  reading(operation: Operation, validating: readonly CallStep[]): readonly (CallStep | One)[]
  hold(operation: Operation): One
  answer(operation: Operation, admission: AdmissionSteps): One
}

/** Returns the steps of any operation, the same in every way that it is called. */
export function createStepsOf<One>(
  options: StepOptions,
  way: Way<One>,
): (operation: Operation) => (CallStep | One)[] {
  const { platform, resolve, rateLimits, traffic } = options
  const counting = { limits: rateLimits, clock: platform.clock, buckets: traffic.rates }
  const rateLimit = createRateLimit(counting)
  const refusalLimit = createRefusalLimit(counting)
  return (operation) => {
    const admission = admissionSteps(operation, platform, resolve)
    const isCountedRefused = operation.unmetered === 'unless_refused'
    // A body may take long: its caller may have been revoked since the admission. Units of work check
    // by themselves.
    const isUnguarded = operation.effect === 'publish' || operation.effect === 'own'
    const again = isUnguarded ? [admission.admitAgain] : []
    return [
      nameOperation(operation),
      admission.admit,
      ...way.checks,
      rateLimit(operation),
      ...(isCountedRefused ? [refusalLimit] : []),
      ...way.reading(operation, [...again, validate(operation)]),
      way.hold(operation),
      way.answer(operation, admission),
    ]
  }
}

/** Adds the operation's id to the log of requests. */
function nameOperation({ id }: Operation): CallStep {
  return function nameOperation(ctx, next) {
    ctx.state.operation = id
    return next()
  }
}
