import type { Step } from '../http/state.ts'
import { SETUP_PAGE } from './setup-page.ts'

const HEADERS = {
  'Content-Security-Policy':
    "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
} as const

/**
 * Serves the setup page and its files from memory, by their exact paths; all else goes on.
 *
 * @example
 * app.use(servePages())
 */
export function servePages(): Step {
  return function servePages(ctx, next) {
    const file = SETUP_PAGE.get(ctx.path)
    if (file === undefined || (ctx.method !== 'GET' && ctx.method !== 'HEAD')) return next()
    ctx.set(HEADERS)
    ctx.type = file.type
    ctx.body = file.text
    return undefined
  }
}
