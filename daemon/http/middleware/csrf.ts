import { httpError } from '../../errors.ts'
import type { RequestContext, Step } from '../state.ts'

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Refuses changes that another site's page asks for with a user's cookie. Keys travel in a header that
 * no page can make a browser add, so they need no such check.
 */
export function csrf(origin: string): Step {
  return function csrf(ctx, next) {
    const byCookie = ctx.get('authorization') === '' && ctx.get('cookie') !== ''
    if (byCookie && !SAFE.has(ctx.method) && !isSameOrigin(ctx, origin)) {
      throw httpError('csrf_failed')
    }
    return next()
  }
}

/** A sibling name is refused too: users' apps live on such names. */
function isSameOrigin(ctx: RequestContext, origin: string): boolean {
  const site = ctx.get('sec-fetch-site')
  if (site !== '') return site === 'same-origin' || site === 'none'
  return ctx.get('origin') === origin
}
