import { httpError } from '../../errors.ts'
import type { RequestContext, Step } from '../state.ts'

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Refuses changes that another site's page asks for with what a browser adds by itself: a cookie, or the
 * credentials of HTTP's own schemes. A bearer token travels in a header that no page can make it add.
 */
export function csrf(origin: string): Step {
  return function csrf(ctx, next) {
    const byBearer = /^bearer /i.test(ctx.get('authorization'))
    if (!byBearer && !SAFE.has(ctx.method) && !isSameOrigin(ctx, origin)) {
      throw httpError('csrf_failed', { details: { origin } })
    }
    return next()
  }
}

/** A sibling name is refused too: users' apps live on such names. What says neither is no browser. */
function isSameOrigin(ctx: RequestContext, origin: string): boolean {
  const site = ctx.get('sec-fetch-site')
  if (site !== '') return site === 'same-origin' || site === 'none'
  const from = ctx.get('origin')
  return from === '' ? ctx.get('cookie') === '' : from === origin
}
