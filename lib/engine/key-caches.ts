import type { Millis } from '../time.ts'
import type { Change, Changes } from './changes.ts'
import { DRIFT, LEASE } from './lease.ts'
import type { Clock } from './ports.ts'

/** Who holds a cache of verdicts outside of this process. */
export interface CacheHolder {
  /** The account whose keys it caches; null for the keys of every account. */
  readonly account_id: string | null
  /** Chosen by the holder, which never uses it for two caches. */
  readonly id: string
}

/** What a cache must drop: a key with all keys below it, or all keys of an account. */
export type CacheChange = Pick<Change, 'id'> & { readonly kind: 'key' | 'account' }

export interface CacheRenewal {
  /** The state of these changes, opaque. The holder acknowledges them by naming it in its next renewal. */
  readonly position: string
  /** Changes that it has not acknowledged, in order. */
  readonly changes: readonly CacheChange[]
  /** It must drop everything: what it missed is not known any more. */
  readonly reset: boolean
  /** How long it may use what it caches, from a moment before it sent the request. */
  readonly lease: Millis
}

/**
 * Leases of caches outside of this process, which it grants out of its own.
 *
 * A change is applied once each holder that it concerns has acknowledged it, or the lease that it had at the change
 * has ended. A renewal after the change grants nothing without it: the holder applies what a renewal returns before
 * it uses the longer lease.
 */
export interface KeyCaches {
  /**
   * Grants or renews a lease.
   *
   * @param applied the last position that the holder has applied; null when it holds nothing
   * @returns undefined while this process itself may not use what it caches
   * @throws CacheLimitError when as many others of the account hold a lease
   */
  renew(holder: CacheHolder, applied: string | null): CacheRenewal | undefined
  /**
   * The position of what is read from now on: the holder may cache it while that is the last position that it
   * has applied. Undefined without a lease.
   */
  position(holder: CacheHolder): string | undefined
  /** Calls `listener` at each change that concerns the holder, and at the end. The returned function ends that. */
  follow(holder: CacheHolder, listener: () => void): () => void
  /**
   * Resolves once every change of an account that was made before is applied by all holders that it concerns, or
   * may not be used any more: for the answer to a request that found the change made.
   */
  settled(accountId: string): Promise<void> | undefined
  /** Ends a lease: changes no longer wait for it. */
  end(holder: CacheHolder): void
}

/** As many caches as an account may hold at a time, of one process. */
export const MAX_CACHES = 4

export class CacheLimitError extends Error {
  override readonly name = 'CacheLimitError'
}

/** Changes that are kept for one cache. One that missed more drops everything. */
const MAX_PENDING = 1000

interface Cache {
  /** Of all caches, only this one's positions begin with it. */
  readonly epoch: string
  /** End of its lease, by the monotonic clock. */
  until: Millis
  /** Number of its last change. */
  last: number
  /** Every change after this number is among `pending`. */
  floor: number
  pending: readonly { readonly number: number; readonly change: CacheChange }[]
  acknowledged: number
  /** Called at each acknowledgement, and at the end of the cache. */
  readonly waiting: Set<() => void>
  readonly followers: Set<() => void>
}

/** All caches of one account, or of none. */
type Owned = Map<string, Cache>

/**
 * @param mayHaveHolders whether an earlier process on the same store granted leases that may not have ended: for a
 *   store of one process, which remembers none of them
 */
export function createKeyCaches(options: {
  readonly changes: Changes
  readonly clock: Pick<Clock, 'steady' | 'after'>
  /** Creates a text without dots that is never created again. */
  readonly newId: () => string
  readonly mayHaveHolders?: boolean
}): KeyCaches {
  const { changes, clock, newId, mayHaveHolders = false } = options
  const caches = new Map<string | null, Owned>()
  /** Changes that are being passed on, by account. */
  const passing = new Map<string | undefined, Set<Promise<void>>>()
  const unknownUntil = mayHaveHolders ? clock.steady() + LEASE : -Infinity

  const owned = (account: string | null): Owned => caches.get(account) ?? new Map<string, Cache>()

  /** Undefined for a cache whose lease has ended, which is forgotten. */
  function find({ account_id, id }: CacheHolder): Cache | undefined {
    const cache = owned(account_id).get(id)
    if (cache !== undefined && cache.until <= clock.steady()) {
      forget({ account_id, id })
      return undefined
    }
    return cache
  }

  function forget({ account_id, id }: CacheHolder): void {
    const all = owned(account_id)
    const cache = all.get(id)
    all.delete(id)
    if (all.size === 0) caches.delete(account_id)
    if (cache === undefined) return
    cache.acknowledged = Infinity
    for (const check of cache.waiting) check()
    for (const listener of cache.followers) listener()
  }

  function sweep(): void {
    for (const [account_id, all] of caches) for (const id of all.keys()) find({ account_id, id })
  }

  function open({ account_id, id }: CacheHolder): Cache {
    sweep()
    const all = owned(account_id)
    if (all.size >= MAX_CACHES) throw new CacheLimitError()
    const cache: Cache = {
      epoch: newId(),
      until: -Infinity,
      last: 0,
      floor: 0,
      pending: [],
      acknowledged: 0,
      waiting: new Set(),
      followers: new Set(),
    }
    all.set(id, cache)
    caches.set(account_id, all)
    return cache
  }

  function pass(cache: Cache, change: CacheChange | 'all'): Promise<void> {
    cache.last += 1
    const number = cache.last
    if (change === 'all' || cache.pending.length >= MAX_PENDING) {
      cache.pending = []
      cache.floor = number
    } else cache.pending = [...cache.pending, { number, change }]
    for (const listener of cache.followers) listener()
    return new Promise((resolve) => {
      const settle = (): void => {
        cache.waiting.delete(check)
        cancel()
        resolve()
      }
      const check = (): void => {
        if (cache.acknowledged >= number) settle()
      }
      cache.waiting.add(check)
      // Of the lease as it is now: a later renewal grants nothing without this change.
      const cancel = clock.after(Math.max(0, cache.until - clock.steady()), settle)
    })
  }

  changes.listen((change) => {
    if (!isOfKeys(change)) return undefined
    const waits = unknownUntil > clock.steady() ? [delayed(unknownUntil - clock.steady())] : []
    for (const [account_id, all] of concerned(change)) {
      for (const id of all.keys()) {
        const cache = find({ account_id, id })
        if (cache !== undefined) waits.push(pass(cache, shown(change, account_id)))
      }
    }
    const passed = allOf(waits)
    if (passed !== undefined) remember(change === 'all' ? undefined : accountOf(change), passed)
    return passed
  })

  function remember(account: string | undefined, passed: Promise<void>): void {
    const all = passing.get(account) ?? new Set()
    passing.set(account, all.add(passed))
    void passed.then(() => {
      all.delete(passed)
      if (all.size === 0) passing.delete(account)
    })
  }

  function concerned(change: KeyChange | 'all'): readonly (readonly [string | null, Owned])[] {
    const account = change === 'all' ? undefined : accountOf(change)
    if (account === undefined) return [...caches]
    return [null, account].map((one) => [one, owned(one)] as const)
  }

  const delayed = (delay: Millis): Promise<void> =>
    new Promise((resolve) => {
      clock.after(delay, resolve)
    })

  return {
    renew(holder, applied) {
      const lease = Math.floor(Math.min(LEASE, changes.remaining()) - DRIFT)
      if (lease <= 0) return undefined
      const cache = find(holder) ?? open(holder)
      const number = numberOf(applied, cache)
      if (number === undefined) {
        cache.pending = []
        cache.floor = cache.last
      } else {
        cache.acknowledged = Math.max(cache.acknowledged, number)
        cache.pending = cache.pending.filter((one) => one.number > cache.acknowledged)
        for (const check of cache.waiting) check()
      }
      cache.until = Math.max(cache.until, clock.steady() + lease + DRIFT)
      return {
        position: positionOf(cache),
        changes: cache.pending.map(({ change }) => change),
        reset: number === undefined,
        lease,
      }
    },
    position(holder) {
      const cache = changes.isCurrent() ? find(holder) : undefined
      return cache && positionOf(cache)
    },
    settled(accountId) {
      const left = unknownUntil - clock.steady()
      const waits = [accountId, undefined].flatMap((account) => [...(passing.get(account) ?? [])])
      return allOf(left > 0 ? [...waits, delayed(left)] : waits)
    },
    follow(holder, listener) {
      const cache = find(holder)
      cache?.followers.add(listener)
      return () => void cache?.followers.delete(listener)
    },
    end: forget,
  }
}

function positionOf({ epoch, last }: Cache): string {
  return `${epoch}.${last}`
}

/** Undefined for a position of another cache, and for one after which not every change is known. */
function numberOf(
  applied: string | null,
  { epoch, floor, last, acknowledged }: Cache,
): number | undefined {
  const [begin, text = ''] = applied?.split('.') ?? []
  const number = Number(text)
  // Not before what it acknowledged: changes after that are not kept, and it would never learn of them again.
  const least = Math.max(floor, acknowledged)
  const isOwn = begin === epoch && /^\d{1,15}$/.test(text) && number >= least && number <= last
  return isOwn ? number : undefined
}

type KeyChange = Change & { readonly kind: 'key' | 'account' }

function isOfKeys(change: Change | 'all'): change is KeyChange | 'all' {
  return change === 'all' || change.kind === 'key' || change.kind === 'account'
}

function accountOf({ kind, id, account_id }: KeyChange): string | undefined {
  return kind === 'account' ? id : account_id
}

/** An account learns the ids of its own keys alone. */
function shown(change: KeyChange | 'all', account: string | null): CacheChange | 'all' {
  if (change === 'all') return 'all'
  if (account !== null && accountOf(change) !== account) return 'all'
  return { kind: change.kind, id: change.id }
}

function allOf(waits: readonly Promise<void>[]): Promise<void> | undefined {
  return waits.length === 0 ? undefined : Promise.all(waits).then(() => undefined)
}
