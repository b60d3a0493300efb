import { httpError } from '../../operations/errors.ts'
import type { RequestContext, Step } from '../state.ts'

const HEADERS = Object.entries({
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
})

/**
 * Sets headers that prevent framing, content sniffing, and access by windows of other sites. Pages of the
 * daemon replace them by stricter ones.
 */
export function securityHeaders(): Step {
  return function securityHeaders(ctx, next) {
    for (const [name, value] of HEADERS) ctx.set(name, value)
    return next()
  }
}

/**
 * Refuses hosts that this listener does not serve, so that a page of another site cannot reach it under its
 * own name (DNS rebinding).
 *
 * @param hosts accepted values of `Host`, lower case, with any port that is not the default of the scheme
 */
export function hostCheck(hosts: ReadonlySet<string>): Step {
  return function hostCheck(ctx, next) {
    if (!hosts.has(ctx.get('host').toLowerCase())) throw httpError('misdirected_host')
    return next()
  }
}

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Refuses changes by pages of other sites with credentials that a browser adds by itself: a cookie, or
 * those of HTTP authentication. No page can make a browser add a bearer token.
 */
export function csrf(origin: string): Step {
  return function csrf(ctx, next) {
    if (!SAFE.has(ctx.method) && !isByBearer(ctx) && !isSameOrigin(ctx, origin)) {
      throw httpError('csrf_failed', { details: { origin } })
    }
    return next()
  }
}

function isByBearer(ctx: RequestContext): boolean {
  return /^bearer /i.test(ctx.get('authorization'))
}

/**
 * Sibling domains are refused too: users' apps are served there. A request with neither header does not
 * come from a browser.
 */
function isSameOrigin(ctx: RequestContext, origin: string): boolean {
  const site = ctx.get('sec-fetch-site')
  if (site !== '') return site === 'same-origin' || site === 'none'
  const from = ctx.get('origin')
  return from === '' ? ctx.get('cookie') === '' : from === origin
}
