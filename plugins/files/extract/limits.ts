import type { Millis } from '../../../lib/time.ts'
import { SECOND } from '../../../lib/time.ts'

/** What one document may take. */
export interface ExtractLimits {
  /** From the start of its child, waiting for `take` not counted. Default 30 s. */
  readonly wall: Millis
  /** V8's heap in the child, in MiB. Default 256. */
  readonly heap: number
  /** The child's resident memory in MiB, where /proc tells it. Default 512. */
  readonly resident: number
  /** Bytes of the file. Default 64 MiB. */
  readonly bytes: number
  /** The extracted text, in UTF-16 units. Default 20 Mi. */
  readonly characters: number
  /** Default 2,000. */
  readonly pages: number
  /** What a zip holds once it is inflated, in bytes. Default 128 MiB. */
  readonly inflated: number
  /** How many times larger an entry of a zip may grow, once it is above 4 MiB. Default 200. */
  readonly ratio: number
  /** How deeply values may be nested. Default 100. */
  readonly depth: number
  /** The characters of one row of a table. Default 1 Mi. */
  readonly row: number
}

const MI = 1024 * 1024

export const DEFAULT_LIMITS: ExtractLimits = {
  wall: 30 * SECOND,
  heap: 256,
  resident: 512,
  bytes: 64 * MI,
  characters: 20 * MI,
  pages: 2000,
  inflated: 128 * MI,
  ratio: 200,
  depth: 100,
  row: MI,
}
