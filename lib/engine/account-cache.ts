/** What is read per account on hot paths, kept until it changes. */
export interface AccountCache<T> {
  /** What is known now, without waiting. */
  peek(accountId: string): T | undefined
  get(accountId: string): Promise<T>
  /** Forgets an account. Called in the tick of the commit that changed it. */
  drop(accountId: string): void
  /** Forgets every account. */
  dropAll(): void
}

const MAX_ACCOUNTS = 10_000

/**
 * A cache whose fills cannot be overtaken: what was read before a drop is neither kept nor answered
 * after it.
 *
 * @param load reads the account from the store
 */
export function createAccountCache<T>(
  load: (accountId: string) => Promise<T>,
  maxAccounts: number = MAX_ACCOUNTS,
): AccountCache<T> {
  const known = new Map<string, T>()
  const fills = new Map<string, Promise<T>>()
  let drops = 0

  async function fill(accountId: string): Promise<T> {
    const own = load(accountId)
    fills.set(accountId, own)
    try {
      const value = await own
      // A drop while the read was under way took this fill away: the value may predate it.
      if (fills.get(accountId) === own) keep(accountId, value)
      return value
    } finally {
      if (fills.get(accountId) === own) fills.delete(accountId)
    }
  }

  function keep(accountId: string, value: T): void {
    const oldest = known.size >= maxAccounts ? known.keys().next().value : undefined
    if (oldest !== undefined) known.delete(oldest)
    known.set(accountId, value)
  }

  return {
    peek: (accountId) => known.get(accountId),
    async get(accountId) {
      for (;;) {
        const kept = known.get(accountId)
        if (kept !== undefined) return kept
        const before = drops
        const value = await (fills.get(accountId) ?? fill(accountId))
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
