import { kernelError } from '../../lib/errors.ts'
import type { EngineStore, DeliveryClaim } from '../../lib/engine/ports.ts'
import type { Instant, Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import type { World } from './world.ts'

/** The server that a store is on. */
export interface Server {
  /** Carries out what arrives; while it recovers it refuses. */
  serve<T>(carryOut: () => Promise<T>): Promise<T>
  /** Claims that were just made, which wait for no sync. */
  claimed(claims: readonly DeliveryClaim[]): void
  /** Undoes claims that were not synced yet, and recovers for a while. */
  crash(): void
}

/** PostgreSQL syncs what nobody waits for within three times 200 ms. */
const UNSYNCED: Millis = 600
const RECOVERS_WITHIN: Millis = 2 * SECOND

export function createServer(world: World, store: Pick<EngineStore, 'release'>): Server {
  const { random } = world
  let unsynced: { readonly at: Instant; readonly claim: DeliveryClaim }[] = []
  let downUntil: Instant = 0
  const since = (span: Millis): typeof unsynced =>
    unsynced.filter(({ at }) => at > world.now() - span)

  return {
    async serve(carryOut) {
      if (world.now() < downUntil) throw kernelError('unavailable')
      return carryOut()
    },
    claimed(claims) {
      unsynced = since(UNSYNCED)
      for (const claim of claims) unsynced.push({ at: world.now(), claim })
    },
    crash() {
      const undone = since(random.below(UNSYNCED)).map(({ claim }) => claim)
      unsynced = []
      downUntil = world.now() + random.below(RECOVERS_WITHIN)
      // One that was recorded or given back since is no claim any more, and stays as it is.
      void store.release(undone, Math.floor(world.now()))
    },
  }
}
