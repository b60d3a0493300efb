import type { Step } from '../state.ts'

const HEADERS = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
} as const

/**
 * Keeps answers apart from pages of others: not shown in their frames, not run as what they are not, and
 * no window of theirs. Pages of ours say more.
 */
export function apart(): Step {
  return function apart(ctx, next) {
    ctx.set(HEADERS)
    return next()
  }
}
