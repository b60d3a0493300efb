import { kernelError } from '../errors.ts'
import type { Authority } from '../grant/authority.ts'
import { effectiveAuthority } from '../grant/authority.ts'
import { digestToken, hashToken, isToken, isTokenLike } from '../key/token.ts'
import type { KeySecret, SecretStatus } from '../key/lifecycle.ts'
import { secretStatus } from '../key/lifecycle.ts'
import type { KeyChain, KeyRecord } from '../key/record.ts'
import type { Instant } from '../time.ts'
import type { Change, Changes } from './changes.ts'
import type { Clock, KeyStore } from './ports.ts'
import { LruCache } from '../internal/lru-cache.ts'

/** A verified value: its key and its current authority. */
export interface VerifiedKey {
  readonly key: KeyRecord
  /** The intersection over the key and all its ancestors. */
  readonly authority: Authority
  /** `previous`: a replaced value in its grace period. */
  readonly secret: 'current' | 'previous'
  /** Version of this value; `key.version` is that of the current one. */
  readonly secret_version: number
  /** Ids of its account, of its key, and of all keys above that. */
  readonly depends_on: readonly string[]
}

/** Verifies developer keys, from a cache when possible. */
export interface Verifier {
  /**
   * @param value of any type; only a string can be valid
   * @throws KeyhookError `invalid_key` for a value of no key; `key_expired`, `key_revoked`, `key_rotated` and
   *   `account_suspended` only for a value of a key; `unavailable` when the state cannot be read
   */
  verify(value: string): Promise<VerifiedKey>
  /** As `verify`, from the cache and without a promise; undefined when the key must be read. */
  verifyCached(value: string): VerifiedKey | undefined
  /**
   * Invalidation counter: cached results remain valid while it is unchanged, except for expiry. Undefined
   * while changes may be missed.
   */
  cacheVersion(): number | undefined
  /** The latest use of each key since the last call. */
  takeUses(): readonly { readonly id: string; readonly at: Instant }[]
  /** The latest use of a key that may not be stored yet; undefined when there is none. */
  lastUse(id: string): Instant | undefined
}

/** Numbers of verifications from the cache and from the store. */
export interface VerifierCounts {
  cache: number
  store: number
}

/** The cached result of a value, without its chain: there may be many refused values. */
interface Entry {
  /** The account and the keys of the chain: a change of any invalidates the entry. */
  readonly dependencies: readonly string[]
  /** The refusals with their beginnings; the first one that has begun applies. */
  readonly refusals: readonly Refusal[]
  /** Undefined after a refusal. */
  verified: VerifiedKey | undefined
  /** Its key's use in the batch in which it was last verified; stale once that batch was taken. */
  use: Use | undefined
}

/** The latest use of a key since the last `takeUses`. */
interface Use {
  at: Instant
  /** Number of the `takeUses` calls before it. */
  readonly batch: number
}

interface Refusal {
  readonly code: 'key_revoked' | 'key_expired' | 'key_rotated' | 'account_suspended'
  readonly from: Instant
}

const ALWAYS: Instant = -Infinity
const NEVER: Instant = Infinity

const MAX_ENTRIES = 50_000

/**
 * Creates a verifier with an LRU cache in front of the store.
 *
 * A change evicts a key and all keys below it. A read that a change overtook is not cached. While changes
 * may be missed, every verification reads the store.
 *
 * @param prefix prefix of the values of this service
 * @param maxEntries maximum cached values. Default 50,000.
 * @param counts incremented by every verification
 */
export function createVerifier(options: {
  readonly store: KeyStore
  readonly changes: Changes
  readonly clock: Clock
  readonly prefix: string
  readonly maxEntries?: number
  readonly counts?: VerifierCounts
}): Verifier {
  const { store, changes, clock, prefix } = options
  const counts = options.counts ?? { cache: 0, store: 0 }
  const maxEntries = options.maxEntries ?? MAX_ENTRIES
  const entries = new LruCache<Entry>({ max: maxEntries, dispose: unindex })
  /** Digests of the cached values that depend on an account or a key. */
  const digestsByDependency = new Map<string, Set<string>>()
  let uses = new Map<string, Use>()
  /** The uses of the last `takeUses`, which are being written. */
  let taken: ReadonlyMap<string, Use> = new Map()
  let batch = 0
  let generation = 0

  /** Checks the changes in the same tick, so that it misses none that was acknowledged before. */
  const lookUp = (digest: string): Entry | undefined =>
    changes.isCurrent() ? entries.get(digest) : undefined

  /** Checks the checksum only here: a cached digest implies it, and it costs more than the digest. */
  async function fill(value: string): Promise<VerifiedKey> {
    if (!isToken(prefix, value)) throw kernelError('invalid_key')
    const before = generation
    const chain = await readChain(hashToken(value))
    const key = chain?.chain.at(-1)
    if (chain === undefined || key === undefined) throw kernelError('invalid_key')
    const verified = verifiedBy(chain, key)
    const entry: Entry = {
      dependencies: dependenciesOf(chain),
      refusals: refusalsOf(chain, key),
      verified,
      use: undefined,
    }
    if (generation === before) cache(digestToken(value), entry)
    judge(entry)
    return verified
  }

  async function readChain(hash: string): Promise<KeyChain | undefined> {
    try {
      return await store.findChain(hash)
    } catch (cause) {
      throw kernelError('unavailable', { cause })
    }
  }

  function cache(digest: string, entry: Entry): void {
    entries.set(digest, entry)
    for (const dependency of entry.dependencies) {
      const digests = digestsByDependency.get(dependency)
      if (digests === undefined) digestsByDependency.set(dependency, new Set([digest]))
      else digests.add(digest)
    }
  }

  /** Called by the cache for every evicted entry. */
  function unindex(entry: Entry, digest: string): void {
    for (const dependency of entry.dependencies) {
      const digests = digestsByDependency.get(dependency)
      digests?.delete(digest)
      if (digests?.size === 0) digestsByDependency.delete(dependency)
    }
  }

  function drop(change: Change | 'all'): void {
    generation++
    if (change === 'all') {
      digestsByDependency.clear()
      entries.clear()
    } else
      for (const digest of digestsByDependency.get(dependencyOf(change)) ?? [])
        entries.delete(digest)
  }

  changes.listen(drop)

  /**
   * Undefined when the value was refused before and the clock was set back since.
   *
   * @throws KeyhookError the refusal that applies now
   */
  function judge(entry: Entry): VerifiedKey | undefined {
    const now = clock.now()
    for (const { code, from } of entry.refusals) {
      if (now < from) continue
      entry.verified = undefined
      throw kernelError(code)
    }
    if (entry.verified !== undefined) note(entry, entry.verified.key.id, now)
    return entry.verified
  }

  /** The entry keeps its use, so that most verifications look up nothing in `uses`. */
  function note(entry: Entry, id: string, at: Instant): void {
    if (entry.use?.batch !== batch) {
      entry.use = uses.get(id) ?? { at, batch }
      uses.set(id, entry.use)
    }
    entry.use.at = at
  }

  function verifyCached(value: string): VerifiedKey | undefined {
    if (!isTokenLike(prefix, value)) throw kernelError('invalid_key')
    const cached = lookUp(digestToken(value))
    if (cached === undefined) return undefined
    counts.cache += 1
    return judge(cached)
  }

  return {
    verifyCached,
    async verify(value) {
      const cached = verifyCached(value)
      if (cached !== undefined) return cached
      counts.store += 1
      return fill(value)
    },
    cacheVersion: () => (changes.isCurrent() ? generation : undefined),
    takeUses() {
      taken = uses
      uses = new Map()
      batch++
      return [...taken].map(([id, { at }]) => ({ id, at }))
    },
    lastUse: (id) => (uses.get(id) ?? taken.get(id))?.at,
  }
}

function dependenciesOf({ account, chain }: KeyChain): readonly string[] {
  const keys = chain.map(({ id }) => ({ kind: 'key', id }) as const)
  return [{ kind: 'account', id: account.id } as const, ...keys].map(dependencyOf)
}

function dependencyOf({ kind, id }: Change): string {
  return `${kind} ${id}`
}

/** The refusals of a value, which include those of every ancestor of its key. */
function refusalsOf({ account, chain, secret }: KeyChain, key: KeyRecord): readonly Refusal[] {
  const isRevoked = chain.some(({ revoked_at }) => revoked_at !== null)
  const expiries = chain.map(({ expires_at }) => expires_at ?? NEVER)
  const isEnded = statusOf(key, secret) === 'ended'
  const refusals: readonly Refusal[] = [
    { code: 'key_revoked', from: isRevoked ? ALWAYS : NEVER },
    { code: 'key_expired', from: Math.min(...expiries) },
    { code: 'key_rotated', from: isEnded ? ALWAYS : (secret.not_after ?? NEVER) },
    { code: 'account_suspended', from: account.suspended ? ALWAYS : NEVER },
  ]
  return refusals.filter(({ from }) => from < NEVER)
}

/** The result of a value that is not refused. */
function verifiedBy({ account, chain, secret }: KeyChain, key: KeyRecord): VerifiedKey {
  return {
    depends_on: [account.id, ...chain.map(({ id }) => id)],
    key,
    authority: effectiveAuthority(chain),
    secret: statusOf(key, secret) === 'current' ? 'current' : 'previous',
    secret_version: secret.version,
  }
}

/** The status of a value without expiry and grace, which are checked at every verification. */
function statusOf(key: KeyRecord, secret: KeySecret): SecretStatus {
  return secretStatus(key, secret, key.version, ALWAYS)
}
