import type { LeaseHolder } from '../../lib/engine/acknowledgements.ts'
import type { Change } from '../../lib/engine/changes.ts'
import type { LeaseRenewal, LeaseState } from '../../lib/engine/lease.ts'
import { LEASE } from '../../lib/engine/lease.ts'
import type { Instant } from '../../lib/time.ts'
import type { World } from './world.ts'

/** A notification to the processes. */
export type Notification =
  | { readonly changed: number }
  | { readonly id: string; readonly known: number }

/** Defects that a simulation must be able to find. */
export interface Defects {
  /** A lease is believed to end earlier than whoever holds it believes. */
  readonly shortLease?: boolean
  /** Changes are read before the lock that orders them is had. */
  readonly readsTooEarly?: boolean
}

/** The part of PostgreSQL that the protocol stands on: one lock, rows, and messages that may be lost. */
export interface AuthorityDatabase {
  versionOf(key: string): number
  renew(id: string, state: LeaseState): Promise<LeaseRenewal>
  acknowledge(id: string, seq: number): void
  appliedBy(ids: readonly string[]): ReadonlyMap<string, number>
  /** Changes a key in a unit of work that takes a while; answers who held a lease at that moment. */
  change(
    id: string,
    key: string,
  ): Promise<{ readonly seq: number; readonly version: number; readonly holders: LeaseHolder[] }>
  listen(listener: (notification: Notification) => void): void
}

/** How long changes are kept: no longer than they must be, so that who needs older ones is found. */
const KEPT = 1.5 * LEASE

export function createAuthorityDatabase(world: World, defects: Defects): AuthorityDatabase {
  const versions = new Map<string, number>()
  const processes = new Map<string, { until: Instant; applied: number }>()
  const listeners: ((notification: Notification) => void)[] = []
  let log: { readonly seq: number; readonly at: Instant; readonly change: Change }[] = []
  let seq = 0
  let last: Promise<void> = Promise.resolve()

  const publish = (notification: Notification): void => {
    for (const listener of listeners) listener(notification)
  }
  const pause = (most: number): Promise<void> =>
    new Promise((resolve) => world.after(world.random.below(most * 10) / 10, resolve))

  /** The lock's queue: whoever has it shared or alone, for here that is the same. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = last.then(work)
    last = turn.then(
      () => undefined,
      () => undefined,
    )
    return turn
  }

  const beyond = (from: number): Change[] =>
    log.filter((one) => one.seq > from).map(({ change }) => change)

  return {
    versionOf: (key) => versions.get(key) ?? 0,
    async renew(id, { known: from, acknowledged }) {
      const early = { seq, changes: beyond(from) }
      return inTurn(async () => {
        const round = defects.readsTooEarly === true ? early : { seq, changes: beyond(from) }
        const span = defects.shortLease === true ? LEASE / 2 : LEASE
        processes.set(id, { until: world.now() + span, applied: acknowledged })
        return round
      })
    },
    acknowledge(id, applied) {
      const own = processes.get(id)
      if (own === undefined) return
      own.applied = applied
      publish({ id, known: applied })
    },
    appliedBy: (ids) => new Map(ids.map((id) => [id, processes.get(id)?.applied ?? Infinity])),
    change: (id, key) =>
      inTurn(async () => {
        const next = seq + 1
        const now = world.now()
        const holders = [...processes]
          .filter(([other, { until }]) => other !== id && until > now)
          .map(([other, { until }]) => ({ id: other, left: until - now }))
        // The lock is held until the commit, which takes its time.
        await pause(5)
        seq = next
        const version = (versions.get(key) ?? 0) + 1
        versions.set(key, version)
        log = log.filter(({ at }) => at > world.now() - KEPT)
        log.push({ seq, at: world.now(), change: { kind: 'key', id: key, account_id: 'acc_1' } })
        publish({ changed: seq })
        return { seq, version, holders }
      }),
    listen(listener) {
      listeners.push(listener)
    },
  }
}
