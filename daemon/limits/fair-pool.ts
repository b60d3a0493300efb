import type { ListNode } from './linked-list.ts'
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

interface Holder {
  total: number
  /** In the order in which they were taken. */
  readonly leases: LinkedList<PoolLease>
}

function heaviestOf(totals: ReadonlyMap<string, number>): readonly [string, number] {
  let heaviest: readonly [string, number] = ['', 0]
  for (const entry of totals) if (entry[1] > heaviest[1]) heaviest = entry
  return heaviest
}

function evictableOf(leases: Iterable<PoolLease>): PoolLease[] {
  return [...leases].filter(({ amount, isKept }) => amount > 0 && !isKept)
}

/**
 * @example
 * const streams = createFairPool({ limit: 2000 })
 * const lease = streams.take(accountId, 1, () => stream.destroy())
 * if (lease === undefined) throw httpError('too_many_streams')
 * stream.once('close', () => lease.release())
 */
export function createFairPool({ limit, each = limit }: FairPoolOptions): FairPool {
  const holders = new Map<string, Holder>()
  let used = 0

  /** Takes `amount` more for a lease, which may be new; evicts other leases when that is fair. */
  function grow(lease: PoolLease, amount: number): boolean {
    const { holder: name } = lease
    const wanted = (holders.get(name)?.total ?? 0) + amount
    if (wanted > each) return false
    if (used + amount > limit && !makeRoom(name, wanted, used + amount - limit)) return false
    const holder = holderOf(name)
    lease.node ??= holder.leases.add(lease)
    holder.total += amount
    lease.amount += amount
    used += amount
    return true
  }

  /** Evicts leases of others; false, and nothing is evicted, when that would not be fair. */
  function makeRoom(name: string, wanted: number, needed: number): boolean {
    const victims = findVictims(name, wanted, needed)
    for (const lease of victims ?? []) {
      drop(lease)
      lease.evict()
    }
    return victims !== undefined
  }

  /** The holder may have gone with its last lease. */
  function holderOf(name: string): Holder {
    const known = holders.get(name)
    if (known !== undefined) return known
    const holder = { total: 0, leases: new LinkedList<PoolLease>() }
    holders.set(name, holder)
    return holder
  }

  /** Leases to evict so that `needed` becomes free; undefined when that would not be fair. */
  function findVictims(
    name: string,
    wanted: number,
    needed: number,
  ): readonly PoolLease[] | undefined {
    const victims: PoolLease[] = []
    const totals = new Map([...holders].map(([n, { total }]) => [n, total]))
    /** Leases of each victim that may still be chosen, the newest last. */
    const evictable = new Map<string, PoolLease[]>()
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
      victims.push(newest)
      totals.set(heaviest, total - newest.amount)
      freed += newest.amount
    }
    return victims
  }

  function drop(lease: PoolLease): void {
    const holder = holders.get(lease.holder)
    if (holder === undefined || lease.node === undefined) return
    holder.leases.remove(lease.node)
    lease.node = undefined
    holder.total -= lease.amount
    used -= lease.amount
    if (holder.leases.isEmpty) holders.delete(lease.holder)
  }

  const pool = { grow, drop }
  return {
    get used() {
      return used
    },
    heldBy: (name) => holders.get(name)?.total ?? 0,
    take(name, amount, evict) {
      const lease = new PoolLease(pool, name, evict)
      return grow(lease, amount) ? lease : undefined
    },
  }
}

/** A class: each request has several leases, and closures would be most of their memory. */
class PoolLease implements Lease {
  amount = 0
  isKept = false
  evict: () => void
  /** Among the leases of its holder; undefined while it is not one of them. */
  node: ListNode<PoolLease> | undefined
  readonly holder: string
  readonly #pool: LeaseOwner

  constructor(pool: LeaseOwner, holder: string, evict: () => void) {
    this.#pool = pool
    this.holder = holder
    this.evict = evict
  }

  add(amount: number): boolean {
    return this.node !== undefined && this.#pool.grow(this, amount)
  }

  keep(): void {
    this.isKept = true
  }

  offer(evict: () => void): void {
    this.isKept = false
    this.evict = evict
  }

  release(): void {
    this.#pool.drop(this)
  }
}

/** Operations of a pool that its leases call. */
interface LeaseOwner {
  grow(lease: PoolLease, amount: number): boolean
  drop(lease: PoolLease): void
}
