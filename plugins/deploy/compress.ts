import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { createLanes } from '../../lib/internal/lanes.ts'
import type { Encoding } from './manifest.ts'

const brotli = promisify(brotliCompress)
const deflate = promisify(gzip)

/** Half of the threads that a process has for them, for files and for passwords unless it is told otherwise. */
const AT_ONCE = 2
const lanes = createLanes(AT_ONCE)

/** Below this many bytes the best quality takes less than it saves whoever loads the file. */
const SMALL = 64 * 1024
/** Of so many bytes of one release: beyond that it would take minutes. */
export const BEST_OF = 8 * 1024 * 1024
const BEST = 11
const GOOD = 9

/**
 * Off the event loop: each takes a thread of its own while it lasts, and waits while as many are under way
 * as may be.
 *
 * @param isMuch whether there is much to be compressed beside it
 */
export const COMPRESS: Readonly<
  Record<Encoding, (bytes: Uint8Array, isMuch: boolean) => Promise<Uint8Array>>
> = {
  br: (bytes, isMuch) =>
    lanes(() =>
      brotli(bytes, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: bytes.length < SMALL && !isMuch ? BEST : GOOD,
          [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
        },
      }),
    ),
  // The same bytes on every system: no name, no time.
  gzip: (bytes) => lanes(() => deflate(bytes, { level: constants.Z_BEST_COMPRESSION })),
}

/** A form that is not this much smaller is not worth what it takes to keep and choose it. */
export const WORTH = 0.9
