import { httpError } from '../../operations/errors.ts'
import type { Millis } from '../../../lib/time.ts'
import { SECOND } from '../../../lib/time.ts'
import type { Operation, StreamEvent } from '../../operations/operation.ts'
import type { Platform } from '../../platform.ts'
import { callerName, holderOf } from '../../authority/principal.ts'
import { toCall } from '../call.ts'
import type { AdmissionSteps } from './admit.ts'
import { onResponseEnd } from '../response-end.ts'
import type { Step } from '../state.ts'
import type { Streams } from '../stream.ts'

/** Delay before a client reconnects. */
const COME_BACK: Millis = SECOND

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
      opening: `retry: ${COME_BACK}\n\n`,
      pieces: printEach(events),
      refused: ({ code, message }) => printEvent({ event: 'error', data: { code, message } }),
      caller: callerName(principal, address),
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

async function* printEach(events: AsyncIterable<StreamEvent>): AsyncGenerator<string> {
  for await (const event of events) yield printEvent(event)
}

/** WHATWG HTML, 9.2.6. JSON contains no line break. */
function printEvent({ id, event, data }: StreamEvent): string {
  const idLine = id === undefined ? '' : `id: ${id}\n`
  return `${idLine}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}
