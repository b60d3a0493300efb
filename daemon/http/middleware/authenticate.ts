import { kernelError } from '../../../lib/errors.ts'
import type { Operation } from '../../operations/operation.ts'
import type { Principal } from '../../authority/principal.ts'
import type { PrincipalResolver, Step } from '../state.ts'

/** Finds out who asks. What is public is open to whoever has no credentials, or bad ones. */
export function authenticate(operation: Operation, resolve: PrincipalResolver): Step {
  if (operation.access === 'public') {
    return function anyone(_ctx, next) {
      return next()
    }
  }
  return function authenticate(ctx, next) {
    const admit = (principal: Principal | undefined): ReturnType<typeof next> => {
      if (principal === undefined) throw kernelError('missing_credentials')
      ctx.state.principal = principal
      return next()
    }
    const found = resolve(ctx)
    return found instanceof Promise ? found.then(admit) : admit(found)
  }
}
