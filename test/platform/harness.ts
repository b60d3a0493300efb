import type { ConformanceCase, ConformanceHarness } from '../../plugins/conformance.ts'
import type { Clock } from '../../lib/engine/ports.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'

/** What a database gives the suite: an empty platform store for every case. */
export interface PlatformHarness extends ConformanceHarness {
  /** Opens the store, empty and with its schema up to date. */
  open(): Promise<PlatformStore>
  /** Two connections to one empty store, where several processes may share it. */
  openPair?(): Promise<readonly [PlatformStore, PlatformStore]>
  /** Where the cases take their instants from. */
  readonly clock: Pick<Clock, 'now'>
}

export type PlatformCase = ConformanceCase<PlatformHarness>

/** Two racers: on two connections where the store has them, else twice the same store. */
export async function openRacers(
  harness: PlatformHarness,
): Promise<readonly [PlatformStore, PlatformStore]> {
  if (harness.openPair !== undefined) return harness.openPair()
  const store = await harness.open()
  return [store, store]
}
