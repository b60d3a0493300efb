import { kernelError } from '../../../lib/errors.ts'
import type { Admission } from '../../authority/admission.ts'
import { admissionTo, isUnchanged } from '../../authority/admission.ts'
import type { Principal } from '../../authority/principal.ts'
import type { Operation } from '../../operations/operation.ts'
import type { Platform } from '../../platform.ts'
import type { CallContext, CallStep } from '../call-context.ts'
import type { PrincipalResolver } from '../state.ts'

/** Steps that check whether a caller may use an operation. */
export interface AdmissionSteps extends Pick<Admission, 'confirm'> {
  /** Finds the caller, and refuses one without authority. */
  readonly admit: CallStep
  /** Admits again, unless nothing can have changed since. */
  readonly admitAgain: CallStep
  /** Admits again while the operation waits or its response is being sent. */
  stillAdmits(ctx: CallContext): Promise<void>
}

/** A public operation admits callers without credentials, or with invalid ones. */
export function admissionSteps(
  operation: Operation,
  platform: Platform,
  resolve: PrincipalResolver,
): AdmissionSteps {
  const { check, confirm } = admissionTo(operation, platform)
  const { verifier, clock } = platform

  const admit: CallStep = function admit(ctx, next) {
    // Read before the key is verified: the verification includes every earlier change.
    const admitted = { version: verifier.cacheVersion(), at: clock.now() }
    const letIn = (principal: Principal | undefined): ReturnType<typeof next> => {
      if (principal === undefined) throw kernelError('missing_credentials')
      ctx.state.principal = principal
      check(principal, ctx.params ?? {})
      ctx.state.admitted = admitted
      return next()
    }
    const found = resolve(ctx.request.ctx)
    return found instanceof Promise ? found.then(letIn) : letIn(found)
  }

  const anyone: CallStep = function anyone(_ctx, next) {
    return next()
  }

  const step = operation.access === 'public' ? anyone : admit
  return {
    confirm,
    admit: step,
    admitAgain: function admitAgain(ctx, next) {
      const { principal, admitted } = ctx.state
      return isUnchanged(principal, admitted, platform) ? next() : step(ctx, next)
    },
    async stillAdmits(ctx) {
      await step(ctx, () => Promise.resolve())
    },
  }
}
