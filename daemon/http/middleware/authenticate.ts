import { kernelError } from '../../../lib/errors.ts'
import type { Operation } from '../../family.ts'
import type { PrincipalResolver, Step } from '../state.ts'

/** Finds out who asks. What is public is open to whoever has no credentials, or bad ones. */
export function authenticate(operation: Operation, resolve: PrincipalResolver): Step {
  if (operation.access === 'public') {
    return function anyone(_ctx, next) {
      return next()
    }
  }
  return async function authenticate(ctx, next) {
    ctx.state.principal = await resolve(ctx)
    if (ctx.state.principal === undefined) throw kernelError('missing_credentials')
    return next()
  }
}
