import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { createLimiter } from '../../lib/internal/limiter.ts'
import type { Encoding } from './manifest.ts'

const brotli = promisify(brotliCompress)
const deflate = promisify(gzip)

/** Half of the default thread pool, which files and passwords use too. */
const CONCURRENCY = 2
const limit = createLimiter(CONCURRENCY)

/** Below this size the best quality costs less than it saves in transfer. */
const SMALL = 64 * 1024
/** Maximum bytes of a release at the best quality: more would take minutes. */
export const BEST_OF = 8 * 1024 * 1024
const BEST = 11
const GOOD = 9

/**
 * Compresses in the thread pool, with limited concurrency.
 *
 * @param isMuch whether the release has more to compress than `BEST_OF`
 */
export const COMPRESS: Readonly<
  Record<Encoding, (bytes: Uint8Array, isMuch: boolean) => Promise<Uint8Array>>
> = {
  br: (bytes, isMuch) =>
    limit(() =>
      brotli(bytes, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: bytes.length < SMALL && !isMuch ? BEST : GOOD,
          [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
        },
      }),
    ),
  // Deterministic: no name, no time.
  gzip: (bytes) => limit(() => deflate(bytes, { level: constants.Z_BEST_COMPRESSION })),
}

/** Maximum share of the original size; a larger compressed file is not stored. */
export const WORTH = 0.9
