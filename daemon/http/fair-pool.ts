/** A part of a pool that somebody holds. */
export interface Lease {
  /** Holds `amount` more; false when the pool refuses it, which leaves the lease as it was. */
  add(amount: number): boolean
  /** Gives back all of it. Idempotent. */
  release(): void
}

export interface FairPoolOptions {
  /** What all holders together may have. */
  readonly limit: number
  /** What one holder may have, however much is free. Default `limit`. */
  readonly each?: number
}

/** A resource of the process that its holders share fairly: connections, streams, bytes. */
export interface FairPool {
  /** What is held by all. */
  readonly used: number
  /** What a holder has. */
  heldBy(holder: string): number
  /**
   * Takes `amount` for a holder, such as an account or a network.
   *
   * While the pool has that much left, everybody is let in: a single holder may use all of it. Once it
   * is full, a holder who would still have less than the one who has most takes the place of that one's
   * newest lease. So holders who compete end with equal shares, and nobody waits.
   *
   * @param evict told, once, that the lease was taken away and is already released; must not throw
   * @returns undefined when the pool refuses it
   */
  take(holder: string, amount: number, evict: () => void): Lease | undefined
}

interface Held {
  amount: number
  readonly evict: () => void
}

interface Holder {
  total: number
  /** In the order in which they were taken. */
  readonly leases: Set<Held>
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

  /** Holds `amount` more in `held`, which may be new; evicts others for it where that is fair. */
  function grow(name: string, held: Held, amount: number): boolean {
    const wanted = (holders.get(name)?.total ?? 0) + amount
    if (wanted > each) return false
    while (used + amount > limit) {
      const [heaviest, holder] = findHeaviest()
      if (holder === undefined || heaviest === name || wanted >= holder.total) return false
      evictNewest(heaviest, holder)
    }
    const holder = holders.get(name) ?? { total: 0, leases: new Set() }
    holders.set(name, holder)
    holder.leases.add(held)
    holder.total += amount
    held.amount += amount
    used += amount
    return true
  }

  function findHeaviest(): readonly [string, Holder | undefined] {
    let name = ''
    let heaviest: Holder | undefined
    for (const [candidate, holder] of holders) {
      if (holder.total > (heaviest?.total ?? 0)) [name, heaviest] = [candidate, holder]
    }
    return [name, heaviest]
  }

  function evictNewest(name: string, { leases }: Holder): void {
    let newest: Held | undefined
    for (const held of leases) if (held.amount > 0) newest = held
    if (newest === undefined) return
    drop(name, newest)
    newest.evict()
  }

  function drop(name: string, held: Held): void {
    const holder = holders.get(name)
    if (holder?.leases.delete(held) !== true) return
    holder.total -= held.amount
    used -= held.amount
    if (holder.leases.size === 0) holders.delete(name)
  }

  return {
    get used() {
      return used
    },
    heldBy: (name) => holders.get(name)?.total ?? 0,
    take(name, amount, evict) {
      const held: Held = { amount: 0, evict }
      if (!grow(name, held, amount)) return undefined
      return {
        add: (more) => holders.get(name)?.leases.has(held) === true && grow(name, held, more),
        release: () => {
          drop(name, held)
        },
      }
    },
  }
}
