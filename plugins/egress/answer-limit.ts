import type { Socket } from 'node:net'
import { errors } from 'undici'

/** How much of one answer is read off the wire by default, heads of 1xx and framing included. */
export const MAX_ANSWER_BYTES = 16_384

/**
 * Ends a connection on which more comes after a request than an answer may bring. Undici counts the
 * names and values of headers, and we the body: a reason phrase, blank lines before the status or a
 * chunk's extension would go on without end at the speed of the network, and thousands of empty headers
 * weigh a hundred times what they count.
 *
 * What lies within the limit still goes to the parser, so that a status line among it counts.
 */
export function limitAnswers(socket: Socket, limit: number): void {
  let written = 0
  let read = 0
  let readBefore = 0

  function count(): void {
    if (socket.bytesWritten !== written) {
      written = socket.bytesWritten
      readBefore = read
    }
    read = socket.bytesRead
    const excess = read - readBefore - limit
    if (excess > 0) cut(excess)
  }

  /** The parser listens behind this, and reads what is left here. */
  function cut(excess: number): void {
    socket.off('readable', count)
    const bytes = socket.read() as Buffer | null
    const kept = bytes?.subarray(0, Math.max(0, bytes.length - excess))
    if (kept !== undefined && kept.length > 0) socket.unshift(kept)
    process.nextTick(end)
  }

  /** Undici's own word for what it cannot use: of other errors it also blames requests that wait. */
  function end(): void {
    socket.destroy(new errors.SocketError('bad response'))
  }

  socket.on('readable', count)
}
