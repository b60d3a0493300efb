import type { CacheHolder, CacheRenewal, KeyCaches } from '../../lib/engine/key-caches.ts'
import type { VerifiedKey, Verifier } from '../../lib/engine/verifier.ts'
import { kernelError } from '../../lib/errors.ts'
import { SECOND, type Millis } from '../../lib/time.ts'
import type { Machine, World } from './world.ts'
import { createMachine } from './world.ts'

/** What a remote cache asks: a process that serves it. */
export interface CacheServer {
  readonly machine: Machine
  readonly verifier: Verifier
  readonly keyCaches: KeyCaches
}

export interface RemoteDefects {
  /** Whatever was read is kept, also when a change overtook it. */
  readonly keepsOvertaken?: boolean
}

export interface RemoteCache {
  readonly id: string
  readonly machine: Machine
  verify(value: string): Promise<VerifiedKey>
  /** Verifications that needed no question. */
  hits(): number
}

/** The wall clock may be ahead of the monotonic one by so much; more means that the machine was suspended. */
const MAX_LEAD: Millis = 200

/** A cache of another process, perhaps in another language: docs/key-caches.md has its rules. */
export function createRemoteCache(
  world: World,
  id: string,
  server: CacheServer,
  { keepsOvertaken = false }: RemoteDefects,
): RemoteCache {
  const { random } = world
  const machine = createMachine(world, 1 + (random.below(100) - 50) / 10_000)
  const { clock } = machine
  const holder: CacheHolder = { account_id: null, id }
  const kept = new Map<string, VerifiedKey>()
  let applied: string | null = null
  let until = -Infinity
  let suspendedFrom = -Infinity
  let isRenewing = false
  let hits = 0

  const isCurrent = (): boolean => clock.steady() < until && clock.now() < suspendedFrom
  /** Over the network to the server, once it is not stopped. */
  const ask = <T>(carryOut: () => T | Promise<T>): Promise<T> =>
    machine.ask(
      () =>
        new Promise<T>((resolve, reject) => {
          server.machine.after(0, () => {
            Promise.resolve().then(carryOut).then(resolve, reject)
          })
        }),
    )

  function apply({ position, changes, reset }: CacheRenewal): void {
    if (reset) kept.clear()
    for (const change of changes) {
      for (const [value, { key }] of kept) {
        if (key.id === change.id || key.account_id === change.id) kept.delete(value)
      }
    }
    applied = position
  }

  async function renewOnce(): Promise<void> {
    const began = clock.steady()
    const wall = clock.now()
    if (!isCurrent()) kept.clear()
    const asked = applied
    // A network may carry a request twice, the second time much later.
    if (random.oneIn(20)) {
      world.after(random.below(3000), () => {
        server.machine.after(0, () => void server.keyCaches.renew(holder, asked))
      })
    }
    const renewal = await ask(() => server.keyCaches.renew(holder, asked))
    if (renewal === undefined) throw kernelError('unavailable')
    apply(renewal)
    until = began + renewal.lease
    suspendedFrom = wall + renewal.lease + MAX_LEAD
    // What was applied is acknowledged at once: whoever made the change waits for it.
    if (renewal.changes.length > 0 || renewal.reset) await renewOnce()
  }

  function renew(): void {
    if (isRenewing) return
    isRenewing = true
    renewOnce()
      .catch(() => undefined)
      .finally(() => {
        isRenewing = false
      })
  }

  function keepRenewing(): void {
    renew()
    machine.after(SECOND, keepRenewing)
  }
  keepRenewing()

  return {
    id,
    machine,
    hits: () => hits,
    async verify(value) {
      const found = isCurrent() ? kept.get(value) : undefined
      if (found !== undefined) {
        hits += 1
        return found
      }
      const { position, verified } = await ask(async () => ({
        position: server.keyCaches.position(holder),
        verified: await server.verifier.verify(value),
      }))
      if (keepsOvertaken || (position !== undefined && position === applied && isCurrent())) {
        kept.set(value, verified)
      }
      return verified
    },
  }
}
