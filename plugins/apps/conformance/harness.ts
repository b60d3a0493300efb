import type { Clock } from '../../../lib/engine/ports.ts'
import type { Millis } from '../../../lib/time.ts'
import type { ConformanceCase, ConformanceHarness } from '../../conformance.ts'
import type { AppBytes } from '../contract.ts'

/** What an implementation gives the suite: one place, with nothing in it, for every case. */
export interface AppBytesHarness extends ConformanceHarness {
  /**
   * Opens the place; what was put through one opening is there through every other. One that nobody
   * else can open answers the same each time.
   */
  open(): Promise<AppBytes>
  /** What `kept_at` is read from. */
  readonly clock: Pick<Clock, 'now'>
  /** Resolves once the clock has gone on by so much. */
  pass(ms: Millis): Promise<void>
}

export type AppBytesCase = ConformanceCase<AppBytesHarness>
