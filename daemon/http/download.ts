import { Readable } from 'node:stream'
import type { Clock } from '../../lib/engine/ports.ts'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'

/** How often a running download checks that its caller may still read. */
const LOOK_EVERY: Millis = SECOND
/** Bytes that are handed on at once. */
const PIECE = 16_384

/**
 * Bytes on their way to a caller. A caller that reads too slowly is cut as with any other response.
 *
 * @param stillAdmitted rejects when the caller may not read them any more; that ends them too
 */
export function openDownload(
  bytes: AsyncIterable<Uint8Array>,
  clock: Pick<Clock, 'steady'>,
  stillAdmitted: () => Promise<void>,
): Readable {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    let looked = clock.steady()
    for await (const chunk of bytes) {
      for (let at = 0; at < chunk.length; at += PIECE) {
        if (clock.steady() - looked >= LOOK_EVERY) {
          await stillAdmitted()
          looked = clock.steady()
        }
        yield chunk.subarray(at, at + PIECE)
      }
    }
  }

  return Readable.from(pieces(), { objectMode: false })
}
