import { LinkedList } from './linked-list.ts'

/** A part of a pool that a holder has. */
export interface Lease {
  /** Takes `amount` more; false when the pool refuses it, which leaves the lease unchanged. */
  add(amount: number): boolean
  /** Excludes it from eviction: its resource cannot be released early. */
  keep(): void
  /** Allows its eviction again, which calls this `evict` instead of the one given to `take`. */
  offer(evict: () => void): void
  /** Releases all of it. Idempotent. */
  release(): void
}

export interface FairPoolOptions {
  /** Maximum of all holders together. */
  readonly limit: number
  /** Maximum of one holder, however much is free. Default `limit`. */
  readonly each?: number
}

/** A resource of the process that its holders share fairly: connections, streams, bytes. */
export interface FairPool {
  /** Amount that all holders have. */
  readonly used: number
  /** Amount that one holder has. */
  heldBy(holder: string): number
  /**
   * Takes `amount` for a holder, such as an account or a network.
   *
   * While the pool has that much left, every request is granted: a single holder may use all of it. Once it
   * is full, the newest leases of the holder with most are evicted, as long as the claimant would still
   * have less than that holder. So a claimant with at most `limit` divided by the number of holders is
   * always granted, competing holders end with equal shares, and nobody waits. Kept leases are not evicted:
   * when they leave too little, the claimant is refused.
   *
   * @param evict called once, when the lease was evicted and is already released; must not throw
   * @returns undefined when the pool refuses it
   */
  take(holder: string, amount: number, evict: () => void): Lease | undefined
}

interface Held {
  amount: number
  isKept: boolean
  evict: () => void
  /** Removes it from the leases of its holder; undefined while it is not one of them. */
  leave: (() => void) | undefined
}

interface Holder {
  total: number
  /** In the order in which they were taken. */
  readonly leases: LinkedList<Held>
}

type Victims = readonly (readonly [holder: string, lease: Held])[]

function heaviestOf(totals: ReadonlyMap<string, number>): readonly [string, number] {
  let heaviest: readonly [string, number] = ['', 0]
  for (const entry of totals) if (entry[1] > heaviest[1]) heaviest = entry
  return heaviest
}

function evictableOf(leases: Iterable<Held>): Held[] {
  return [...leases].filter(({ amount, isKept }) => amount > 0 && !isKept)
}

/**
 * @example
 * const streams = createFairPool({ limit: 2000 })
 * const lease = streams.take(accountId, 1, () => stream.destroy())
 * if (lease === undefined) throw httpError('too_many_streams')
 * stream.once('close', lease.release)
 */
export function createFairPool({ limit, each = limit }: FairPoolOptions): FairPool {
  const holders = new Map<string, Holder>()
  let used = 0

  /** Takes `amount` more for `held`, which may be new; evicts other leases when that is fair. */
  function grow(name: string, held: Held, amount: number): boolean {
    const wanted = (holders.get(name)?.total ?? 0) + amount
    if (wanted > each) return false
    if (used + amount > limit && !makeRoom(name, wanted, used + amount - limit)) return false
    const holder = holderOf(name)
    held.leave ??= holder.leases.add(held)
    holder.total += amount
    held.amount += amount
    used += amount
    return true
  }

  /** Evicts leases of others; false, and nothing is evicted, when that would not be fair. */
  function makeRoom(name: string, wanted: number, needed: number): boolean {
    const victims = findVictims(name, wanted, needed)
    for (const [victim, lease] of victims ?? []) {
      drop(victim, lease)
      lease.evict()
    }
    return victims !== undefined
  }

  /** The holder may have gone with its last lease. */
  function holderOf(name: string): Holder {
    const known = holders.get(name)
    if (known !== undefined) return known
    const holder = { total: 0, leases: new LinkedList<Held>() }
    holders.set(name, holder)
    return holder
  }

  /** Leases to evict so that `needed` becomes free; undefined when that would not be fair. */
  function findVictims(name: string, wanted: number, needed: number): Victims | undefined {
    const victims: [string, Held][] = []
    const totals = new Map([...holders].map(([n, { total }]) => [n, total]))
    /** Leases of each victim that may still be chosen, the newest last. */
    const evictable = new Map<string, Held[]>()
    for (let freed = 0; freed < needed;) {
      const [heaviest, total] = heaviestOf(totals)
      if (heaviest === name || wanted >= total) return undefined
      const leases = evictable.get(heaviest) ?? evictableOf(holders.get(heaviest)?.leases ?? [])
      evictable.set(heaviest, leases)
      const newest = leases.pop()
      if (newest === undefined) {
        // All leases of this holder are kept.
        totals.delete(heaviest)
        continue
      }
      victims.push([heaviest, newest])
      totals.set(heaviest, total - newest.amount)
      freed += newest.amount
    }
    return victims
  }

  function drop(name: string, held: Held): void {
    const holder = holders.get(name)
    if (holder === undefined || held.leave === undefined) return
    held.leave()
    held.leave = undefined
    holder.total -= held.amount
    used -= held.amount
    if (holder.leases.isEmpty) holders.delete(name)
  }

  return {
    get used() {
      return used
    },
    heldBy: (name) => holders.get(name)?.total ?? 0,
    take(name, amount, evict) {
      const held: Held = { amount: 0, isKept: false, evict, leave: undefined }
      if (!grow(name, held, amount)) return undefined
      return {
        add: (more) => held.leave !== undefined && grow(name, held, more),
        keep: () => {
          held.isKept = true
        },
        offer: (replaced) => {
          held.isKept = false
          held.evict = replaced
        },
        release: () => {
          drop(name, held)
        },
      }
    },
  }
}
