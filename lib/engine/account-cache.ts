import { LRUCache } from 'lru-cache'
import type { Changes } from './changes.ts'

/** What is read per account on hot paths, kept until it changes. */
export interface AccountCache<T extends string | object> {
  /** What is known now, without waiting; undefined also while changes may go unheard. */
  peek(accountId: string): T | undefined
  get(accountId: string): Promise<T>
  /** Forgets an account, or every one. */
  drop(accountId: string): void
  dropAll(): void
}

const MAX_ACCOUNTS = 10_000

/**
 * A cache whose fills cannot be overtaken: what was read before a drop is neither kept nor answered
 * after it. When it is full, the account that was used least recently is evicted.
 *
 * @param load reads the account from the store
 * @param isCurrent whether what is kept may be used; while not, each `get` reads for itself
 */
export function createAccountCache<T extends string | object>(
  load: (accountId: string) => Promise<T>,
  isCurrent: Changes['isCurrent'] = () => true,
  maxAccounts: number = MAX_ACCOUNTS,
): AccountCache<T> {
  const known = new LRUCache<string, T>({ max: maxAccounts })
  const fills = new Map<string, Promise<T>>()
  let drops = 0

  async function fill(accountId: string): Promise<T> {
    const own = load(accountId)
    fills.set(accountId, own)
    try {
      const value = await own
      // A drop while the read was under way took this fill away: the value may predate it.
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
        // A read that somebody else began may be older than a change that was not heard of.
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
