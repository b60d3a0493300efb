import type { RandomBytes } from '../../../lib/engine/ports.ts'
import { toHex } from '../../../lib/internal/bytes.ts'
import type { Step } from '../state.ts'

const GIVEN = /^[A-Za-z0-9._-]{8,128}$/
const ID_BYTES = 12

/** Names each request: by the caller's `X-Request-Id` when it is well-formed, else by one made here. */
export function requestId(random: RandomBytes): Step {
  return function requestId(ctx, next) {
    const given = ctx.get('x-request-id')
    ctx.state.requestId = GIVEN.test(given) ? given : `req_${toHex(random(ID_BYTES))}`
    ctx.set('X-Request-Id', ctx.state.requestId)
    return next()
  }
}
