import type { Changes } from './changes.ts'
import { LruCache } from '../internal/lru-cache.ts'

/** A cache of one value per account, for hot paths. */
export interface AccountCache<T extends string | object> {
  /** The cached value; undefined when there is none or changes may be missed. */
  peek(accountId: string): T | undefined
  get(accountId: string): Promise<T>
  /** Evicts one account. */
  drop(accountId: string): void
  dropAll(): void
}

const MAX_ACCOUNTS = 10_000

/**
 * Creates an LRU cache in which no read races an eviction: a value that was read before a `drop` is neither
 * cached nor returned after it.
 *
 * @param load reads the value of an account from the store
 * @param isCurrent whether cached values may be used; while false, each `get` reads the store
 * @param maxAccounts maximum cached accounts. Default 10,000.
 */
export function createAccountCache<T extends string | object>(
  load: (accountId: string) => Promise<T>,
  isCurrent: Changes['isCurrent'] = () => true,
  maxAccounts: number = MAX_ACCOUNTS,
): AccountCache<T> {
  const known = new LruCache<T>({ max: maxAccounts })
  const fills = new Map<string, Promise<T>>()
  let drops = 0

  async function fill(accountId: string): Promise<T> {
    const own = load(accountId)
    fills.set(accountId, own)
    try {
      const value = await own
      // A drop during the read removed this fill: the value may be older than the change.
      if (fills.get(accountId) === own) known.set(accountId, value)
      return value
    } finally {
      if (fills.get(accountId) === own) fills.delete(accountId)
    }
  }

  const peek = (accountId: string): T | undefined =>
    isCurrent() ? known.get(accountId) : undefined

  return {
    peek,
    async get(accountId) {
      for (;;) {
        const kept = peek(accountId)
        if (kept !== undefined) return kept
        // A read of another caller may be older than a change that was missed.
        const begun = isCurrent() ? fills.get(accountId) : undefined
        const before = drops
        const value = await (begun ?? fill(accountId))
        if (drops === before) return value
      }
    },
    drop(accountId) {
      drops += 1
      known.delete(accountId)
      fills.delete(accountId)
    },
    dropAll() {
      drops += 1
      known.clear()
      fills.clear()
    },
  }
}
