import compose from 'koa-compose'
import { KeyhookError } from '../../lib/errors.ts'
import { admissionTo } from '../authority/admission.ts'
import type { Principal } from '../authority/principal.ts'
import { httpError } from '../operations/errors.ts'
import type { Operation } from '../operations/operation.ts'
import type { InnerAnswer, InnerContext, InnerRequest, InnerResponse } from './inner-context.ts'
import { innerContext } from './inner-context.ts'
import type { InnerStep } from './inner-steps.ts'
import { giveEvents, giveInput } from './inner-steps.ts'
import { answer } from './middleware/answer.ts'
import { holdInner } from './middleware/hold-responses.ts'
import type { StepOptions, Way } from './operation-steps.ts'
import { createStepsOf } from './operation-steps.ts'
import type { RequestContext } from './state.ts'

/** Calls of operations inside requests of other protocols. */
export interface InnerCalls {
  /**
   * Takes the steps of the operation on the connection of `ctx`, whose caller's address is known. A refusal
   * is counted.
   *
   * @throws KeyhookError as a request of its own would be refused
   */
  run(ctx: RequestContext, request: InnerRequest): Promise<InnerAnswer>
  /** Whether a caller may call an operation at all, whatever exists: scope, access and pins. */
  allows(principal: Principal, operation: Operation): boolean
}

export function createInnerCalls(options: StepOptions): InnerCalls {
  const { platform } = options
  const stepsOf = createStepsOf(options, insideRequests(options))
  const root = new URL(platform.baseUrl).pathname.replace(/\/$/, '')
  const runs = lazily((operation) => compose<InnerContext>(stepsOf(operation)))
  const admissions = lazily((operation) => admissionTo(operation, platform))
  return {
    async run(outer, request) {
      const { operation, alsoCommit } = request
      if (alsoCommit !== undefined && operation.effect !== 'write')
        throw new TypeError(`${operation.id} is not one unit of work`)
      try {
        const ctx = innerContext(outer, request)
        await runs(operation)(ctx)
        return ctx.events ?? responseOf(ctx, root)
      } catch (cause) {
        const error = cause instanceof KeyhookError ? cause : httpError('internal_error', { cause })
        outer.state.refused(error)
        throw error
      }
    },
    allows(principal, operation) {
      try {
        admissions(operation).check(principal, ownParams(principal, operation))
        return true
      } catch (cause) {
        if (cause instanceof KeyhookError) return false
        throw cause
      }
    },
  }
}

/** Creates a value for each operation at its first use: most operations are never called this way. */
function lazily<T>(create: (operation: Operation) => T): (operation: Operation) => T {
  const known = new Map<Operation, T>()
  return (operation) => {
    const found = known.get(operation) ?? create(operation)
    known.set(operation, found)
    return found
  }
}

/** The path parameters with which a key acts on itself, as it always may. */
function ownParams(
  principal: Principal,
  { access }: Pick<Operation, 'access'>,
): Readonly<Record<string, string>> {
  const self = typeof access === 'object' ? access.self : undefined
  return self === undefined || principal.type !== 'key' ? {} : { [self]: principal.key.id }
}

/** How a request of another protocol calls an operation. */
function insideRequests({ platform, traffic }: StepOptions): Way<InnerStep> {
  return {
    // The other protocols admit keys alone, which no browser adds by itself.
    checks: [],
    reading: (operation, validating) => [giveInput(operation, traffic), ...validating],
    hold: (operation) => holdInner(operation, traffic),
    answer(operation, admission) {
      if (operation.effect === 'stream') return giveEvents(operation, platform, admission)
      if (operation.effect === 'bytes') throw new TypeError(`${operation.id} is a download`)
      return answer(operation, platform, admission)
    },
  }
}

function responseOf({ status, body, response }: InnerContext, root: string): InnerResponse {
  const location = response.get('location')
  return {
    kind: 'json',
    status,
    text: body as string,
    replayed: response.get('idempotency-replayed') === 'true',
    watch: location === '' ? undefined : location.slice(root.length),
  }
}
