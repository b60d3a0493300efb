import { Duplex } from 'node:stream'
import type { Clock } from '../../lib/engine/ports.ts'
import type { Millis } from '../../lib/time.ts'
import { watchPace } from './pace.ts'
import type { RequestContext } from './state.ts'

export type RequestSocket = RequestContext['req']['socket']

export interface ReadersPace {
  readonly clock: Pick<Clock, 'after' | 'steady'>
  /** The least that a reader takes on average, in bytes a second; default 1 KiB. */
  readonly least?: number
  /** Default 30 seconds. */
  readonly maxWait?: Millis
}

/**
 * Cuts a connection whose peer takes too slowly what waits for it. What it took is counted for the
 * connection, whatever was asked for over it: one response or many in turn.
 *
 * @param cut called once, when it is cut
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

/** Cuts off a response. A call within the process has no connection: only its response is destroyed. */
export function cutResponse({ req, res }: Pick<RequestContext, 'req' | 'res'>): void {
  if (req.socket instanceof Duplex) cutOff(req.socket)
  else res.destroy()
}

/** Closes a connection at once: closed in order, the system would go on holding what it has to send. */
export function cutOff(socket: RequestSocket): void {
  const { _handle: handle } = socket as { readonly _handle?: unknown }
  // Only TCP can be reset: not TLS, nor a socket of the file system.
  if (handle?.constructor.name === 'TCP') socket.resetAndDestroy()
  else socket.destroy()
}

/** What the system took so far, to the byte: of a large piece a stream tells only once all of it is. */
function takenOf(socket: RequestSocket): number {
  const { _handle: handle } = socket as { readonly _handle?: Handle | null }
  return handle === null || handle === undefined ? 0 : handle.bytesWritten - handle.writeQueueSize
}

interface Handle {
  readonly bytesWritten: number
  readonly writeQueueSize: number
}
