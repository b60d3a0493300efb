import { RESERVED_RESPONSE_BYTES } from '../limits/amounts.ts'
import { holderOf } from '../authority/principal.ts'
import { onResponseEnd } from './response-end.ts'
import type { RequestSocket } from './slow-readers.ts'
import { cutResponse, watchReader } from './slow-readers.ts'
import type { Hold, RequestContext } from './state.ts'
import type { Traffic } from './traffic.ts'
import { poolsFor, tooManyBytes } from './traffic.ts'

/**
 * Reserves a response before it is made.
 *
 * @throws KeyhookError `too_many_bytes`
 */
export function holdResponse(ctx: RequestContext, traffic: Traffic): Hold {
  const { socket } = ctx.req
  const { principal, address } = ctx.state
  const { moving, clock } = traffic
  const { responses } = poolsFor(principal, traffic)
  let held = RESERVED_RESPONSE_BYTES
  let hasStarted = false
  let isEvicted = false
  const lease = responses.take(holderOf(principal, address), held, () => {
    // Nothing is written yet: the next `reserve` is refused.
    if (hasStarted) cutResponse(ctx)
    else isEvicted = true
  })
  if (lease === undefined) throw tooManyBytes()
  const reader = { look: () => watchWaiting(socket, clock) }
  let hasEnded = false
  onResponseEnd(ctx.req, ctx.res, () => {
    hasEnded = true
    lease.release()
    moving.delete(reader)
  })
  return {
    reserve(bytes) {
      if (bytes <= (isEvicted ? RESERVED_RESPONSE_BYTES : held)) return
      if (!lease.add(bytes - held)) throw tooManyBytes()
      held = bytes
    },
    started() {
      if (hasStarted || hasEnded) return
      hasStarted = true
      moving.add(reader)
    },
  }
}

const watched = new WeakSet<RequestSocket>()

/** Most sockets take a response at once: only one that did not is watched. */
function watchWaiting(socket: RequestSocket, clock: Traffic['clock']): void {
  if (!(socket.writableLength > 0) || watched.has(socket)) return
  watched.add(socket)
  watchReader(socket, { clock }, () => undefined)
}
