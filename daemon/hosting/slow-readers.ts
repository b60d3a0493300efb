import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../lib/engine/ports.ts'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import { watchPace } from '../http/pace.ts'

export type Socket = IncomingMessage['socket']

/**
 * Longer than a client of the API has: a phone loses its network now and then, and the system between
 * tells of what was taken in large pieces. With the look that finds it, a minute.
 */
const PATIENCE: Millis = 55 * SECOND

export interface ReadersPace {
  readonly clock: Pick<Clock, 'after' | 'steady'>
  /** The least that a visitor takes on average, in bytes a second; default 1 KiB. */
  readonly least?: number
}

/**
 * Breaks a connection off whose visitor takes too slowly what waits for them. What they took is counted
 * for the connection, whatever was asked for over it: one answer or many in turn.
 *
 * @param cut called once, when it is broken off
 */
export function watchReader(socket: Socket, pace: ReadersPace, cut: () => void): void {
  let seen = 0
  const watched = watchPace({
    patience: PATIENCE,
    ...pace,
    isWaiting() {
      const taken = takenOf(socket)
      watched.moved(taken - seen)
      seen = taken
      return socket.writableLength > 0
    },
    tooSlow() {
      cut()
      // Closed in order, the system would go on holding what it has of the answer.
      socket.resetAndDestroy()
    },
  })
  socket.once('close', watched.stop)
}

/** What the system took so far, to the byte: of a large piece a stream tells only once all of it is. */
function takenOf(socket: Socket): number {
  const { _handle: handle } = socket as { readonly _handle?: Handle | null }
  return handle === null || handle === undefined ? 0 : handle.bytesWritten - handle.writeQueueSize
}

interface Handle {
  readonly bytesWritten: number
  readonly writeQueueSize: number
}
