import type { RandomBytes } from '../../../lib/engine/ports.ts'
import { encodeBase62 } from '../../../lib/internal/base62.ts'
import type { Step } from '../state.ts'

const GIVEN = /^[A-Za-z0-9._-]{8,128}$/
const ID_BYTES = 12
const ID_DIGITS = 17

/** Names each request: by the caller's `X-Request-Id` when it is well-formed, else by one made here. */
export function requestId(random: RandomBytes): Step {
  return function requestId(ctx, next) {
    // Mounted below the daemon's own steps, the request has its name already.
    if (typeof ctx.state.requestId === 'string') return next()
    const given = ctx.get('x-request-id')
    ctx.state.requestId = GIVEN.test(given)
      ? given
      : `req_${encodeBase62(random(ID_BYTES), ID_DIGITS)}`
    ctx.set('X-Request-Id', ctx.state.requestId)
    return next()
  }
}
