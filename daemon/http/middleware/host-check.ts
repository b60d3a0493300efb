import { httpError } from '../../errors.ts'
import type { Step } from '../state.ts'

/**
 * Refuses names that this listener does not answer for, so that a page of another site cannot reach it
 * under a name of its own.
 *
 * @param hosts accepted values of `Host`, lower case, with their port where it is not the scheme's
 */
export function hostCheck(hosts: ReadonlySet<string>): Step {
  return function hostCheck(ctx, next) {
    if (!hosts.has(ctx.get('host').toLowerCase())) throw httpError('misdirected_host')
    return next()
  }
}
