import { httpError } from '../../operations/errors.ts'
import type { Operation } from '../../operations/operation.ts'
import type { Platform } from '../../platform.ts'
import { callerOf, holderOf } from '../../authority/principal.ts'
import { toCall } from '../call.ts'
import type { AdmissionSteps } from './admit.ts'
import { onResponseEnd } from '../response-end.ts'
import type { Step } from '../state.ts'
import type { Streams } from '../stream.ts'

/** Responds to an operation with server-sent events. */
export function serverSentEvents(
  operation: Operation<'stream'>,
  platform: Platform,
  streams: Streams,
  admission: AdmissionSteps,
): Step {
  return async function serverSentEvents(ctx) {
    const { principal, address, hold } = ctx.state
    const left = new AbortController()
    const call = toCall(ctx, platform, admission)
    const events = await operation.run({
      ...call,
      after: ctx.get('last-event-id'),
      left: left.signal,
    })
    ctx.status = 200
    ctx.set('Content-Type', 'text/event-stream; charset=utf-8')
    ctx.set('Cache-Control', 'no-store')
    // A proxy that buffers responses would deliver nothing until the stream ends.
    ctx.set('X-Accel-Buffering', 'no')
    const stream = streams.open({
      events,
      caller: callerOf(principal, address),
      holder: holderOf(principal, address),
      admit: call.admit,
      // One chunk is being written while the next one is buffered.
      prints: (bytes) => hold?.reserve(2 * bytes),
      leave: () => {
        left.abort(httpError('request_abandoned'))
      },
    })
    // Koa gets no event when a connection closes while the response is queued behind another one.
    onResponseEnd(ctx.req, ctx.res, () => {
      stream.destroy()
    })
    ctx.body = stream
  }
}
