import { callerOf, holderOf } from '../authority/principal.ts'
import type { ProtocolOptions } from '../http/protocol-steps.ts'
import { findKey } from '../http/protocol-steps.ts'
import { onResponseEnd } from '../http/response-end.ts'
import type { RequestContext } from '../http/state.ts'
import { httpError } from '../operations/errors.ts'
import type { StreamResponse, TaskUpdates } from './updates.ts'

/** How a binding prints what a stream sends. */
export interface StreamPrint {
  /** One server-sent event. */
  event(response: StreamResponse): string
  /** The last event of a stream that a refusal ends. */
  refusal(cause: unknown): string
}

/** A response that may last: it counts as a stream of its caller, and ends with the caller's key. */
export interface EventStream {
  /** Sends the updates of a task as they come. */
  open(updates: TaskUpdates, print: StreamPrint): void
  /** Gives it up; without effect once it is open. */
  release(): void
}

/**
 * Reserves a stream before its work begins: a caller with too many is refused as in REST.
 *
 * @throws KeyhookError `too_many_streams`
 */
export function reserveStream(options: ProtocolOptions, ctx: RequestContext): EventStream {
  const { principal, address } = ctx.state
  const reserved = options.traffic.streams.reserve({
    caller: callerOf(principal, address),
    holder: holderOf(principal, address),
  })
  return {
    release: reserved.release,
    open(updates, print) {
      const { hold } = ctx.state
      const left = new AbortController()
      ctx.status = 200
      ctx.set('Content-Type', 'text/event-stream')
      // A proxy that buffers responses would deliver nothing until the stream ends.
      ctx.set('X-Accel-Buffering', 'no')
      const stream = reserved.open({
        pieces: printEach(updates(left.signal), print),
        refused: (refusal) => print.refusal(refusal),
        admit: () => findKey(options, ctx),
        // One event is being written while the next one is buffered.
        prints: (bytes) => hold?.reserve(2 * bytes),
        leave: () => {
          left.abort(httpError('request_abandoned'))
        },
      })
      onResponseEnd(ctx.req, ctx.res, () => {
        stream.destroy()
      })
      ctx.body = stream
    },
  }
}

async function* printEach(
  updates: AsyncIterable<StreamResponse>,
  print: StreamPrint,
): AsyncGenerator<string> {
  for await (const update of updates) yield print.event(update)
}
