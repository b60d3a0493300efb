import { Readable } from 'node:stream'
import type { Clock } from '../../lib/engine/ports.ts'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import { watchPace } from './pace.ts'

/** A caller that reads slowly is looked at anew this often. */
const LOOK_EVERY: Millis = SECOND
/** Bytes that are handed on at once: how fast they are taken is told by as many. */
const PIECE = 16_384

/**
 * Bytes on their way to a caller, ended when they are taken too slowly.
 *
 * @param stillAdmitted rejects when the caller may not read them any more; that ends them too
 */
export function openDownload(
  bytes: AsyncIterable<Uint8Array>,
  clock: Pick<Clock, 'after' | 'steady'>,
  stillAdmitted: () => Promise<void>,
): Readable {
  let isTaken = true
  const pace = watchPace({
    clock,
    isWaiting: () => !isTaken,
    tooSlow: () => stream.destroy(new Error('the file was taken too slowly')),
  })

  async function* pieces(): AsyncGenerator<Uint8Array> {
    let looked = clock.steady()
    for await (const chunk of bytes) {
      for (let at = 0; at < chunk.length; at += PIECE) {
        if (clock.steady() - looked >= LOOK_EVERY) {
          await stillAdmitted()
          looked = clock.steady()
        }
        const piece = chunk.subarray(at, at + PIECE)
        isTaken = false
        yield piece
        isTaken = true
        pace.moved(piece.length)
      }
    }
  }

  const stream = Readable.from(pieces(), { objectMode: false })
  stream.once('close', pace.stop)
  return stream
}
