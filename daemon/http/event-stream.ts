import type { KeyhookError } from '../../lib/errors.ts'
import type { KeyPrincipal } from '../authority/principal.ts'
import { callerName, holderOf } from '../authority/principal.ts'
import { httpError } from '../operations/errors.ts'
import type { ProtocolOptions } from './protocol-steps.ts'
import { findKey } from './protocol-steps.ts'
import { onResponseEnd } from './response-end.ts'
import type { RequestContext } from './state.ts'

/** A response that may last: it counts as a stream of its caller, and ends with the caller's key. */
export interface EventStream {
  /** Aborts once nobody reads it. */
  readonly left: AbortSignal
  /**
   * Sends printed events as they come.
   *
   * @param refused prints the last event of a stream that a refusal ends
   */
  open(pieces: AsyncIterable<string>, refused: (refusal: KeyhookError) => string): void
  /** Gives it up; without effect once it is open. */
  release(): void
}

/**
 * Reserves a stream before its work begins: a caller with too many is refused as in REST.
 *
 * @param seen called with the caller as it is now, whenever it was admitted again
 * @throws KeyhookError `too_many_streams`
 */
export function reserveStream(
  options: ProtocolOptions,
  ctx: RequestContext,
  seen: (principal: KeyPrincipal) => void = () => undefined,
): EventStream {
  const { principal, address, hold } = ctx.state
  const reserved = options.traffic.streams.reserve({
    caller: callerName(principal, address),
    holder: holderOf(principal, address),
  })
  const left = new AbortController()
  const leave = (): void => {
    left.abort(httpError('request_abandoned'))
  }
  onResponseEnd(ctx.req, ctx.res, leave)
  return {
    left: left.signal,
    release: reserved.release,
    open(pieces, refused) {
      ctx.status = 200
      ctx.set('Content-Type', 'text/event-stream')
      // A proxy that buffers responses would deliver nothing until the stream ends.
      ctx.set('X-Accel-Buffering', 'no')
      const stream = reserved.open({
        pieces,
        refused,
        admit: () => findKey(options, ctx).then(seen),
        // One event is being written while the next one is buffered.
        prints: (bytes) => hold?.reserve(2 * bytes),
        leave,
      })
      onResponseEnd(ctx.req, ctx.res, () => {
        stream.destroy()
      })
      ctx.body = stream
    },
  }
}
