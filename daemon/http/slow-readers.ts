import { Duplex } from 'node:stream'
import type { Clock } from '../../lib/engine/ports.ts'
import type { Millis } from '../../lib/time.ts'
import { watchPace } from './pace.ts'
import type { RequestContext } from './state.ts'

export type RequestSocket = RequestContext['req']['socket']

export interface ReadersPace {
  readonly clock: Pick<Clock, 'after' | 'steady'>
  /** Minimum average bytes per second of a reader. Default 1 KiB. */
  readonly least?: number
  /** Default 30 seconds. */
  readonly maxWait?: Millis
}

/**
 * Cuts a connection whose peer reads too slowly. Bytes are counted per connection, whether it carries one
 * response or many.
 *
 * @param cut called once, when the connection is cut
 */
export function watchReader(socket: RequestSocket, pace: ReadersPace, cut: () => void): void {
  let seen = 0
  const watched = watchPace({
    ...pace,
    isWaiting() {
      const taken = takenOf(socket)
      watched.moved(taken - seen)
      seen = taken
      return socket.writableLength > 0
    },
    tooSlow() {
      cut()
      cutOff(socket)
    },
  })
  socket.once('close', watched.stop)
}

/** Cuts a response. A call within the process has no connection: only its response is destroyed. */
export function cutResponse({ req, res }: Pick<RequestContext, 'req' | 'res'>): void {
  if (req.socket instanceof Duplex) cutOff(req.socket)
  else res.destroy()
}

/** Resets a connection: after an orderly close, the system would keep the unsent bytes. */
export function cutOff(socket: RequestSocket): void {
  const { _handle: handle } = socket as { readonly _handle?: unknown }
  // Only TCP can be reset: neither TLS nor a Unix socket can.
  if (handle?.constructor.name === 'TCP') socket.resetAndDestroy()
  else socket.destroy()
}

/** Bytes that the system has accepted: a stream reports a large piece only once all of it was accepted. */
function takenOf(socket: RequestSocket): number {
  const { _handle: handle } = socket as { readonly _handle?: Handle | null }
  return handle === null || handle === undefined ? 0 : handle.bytesWritten - handle.writeQueueSize
}

interface Handle {
  readonly bytesWritten: number
  readonly writeQueueSize: number
}
