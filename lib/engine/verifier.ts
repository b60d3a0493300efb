import { LRUCache } from 'lru-cache'
import { kernelError } from '../errors.ts'
import type { Authority } from '../grant/authority.ts'
import { effectiveAuthority } from '../grant/authority.ts'
import { hashToken } from '../key/hash.ts'
import type { KeySecret, SecretStanding } from '../key/lifecycle.ts'
import { secretStanding } from '../key/lifecycle.ts'
import type { KeyChain, KeyRecord } from '../key/record.ts'
import { isToken, isTokenLike } from '../key/token.ts'
import type { Instant } from '../time.ts'
import type { Change, Changes } from './changes.ts'
import type { Clock, KeyStore } from './ports.ts'

/** A value that was verified: whose it is and what it may do right now. */
export interface VerifiedKey {
  readonly key: KeyRecord
  /** The meet over the key and all its ancestors. */
  readonly authority: Authority
  /** `previous`: a replaced value in its grace period. */
  readonly secret: 'current' | 'previous'
  /** The version of the value itself; `key.version` is the current one's. */
  readonly secret_version: number
}

/** Verifies developer keys, from memory where it can. */
export interface Verifier {
  /**
   * @param value any other type than a string is refused as a key that is none
   * @throws KeyhookError `invalid_key` for whatever the caller does not hold; `key_expired`,
   *   `key_revoked`, `key_rotated`, `account_suspended` for who holds the value; `unavailable` when the state cannot
   *   be known
   */
  verify(value: string): Promise<VerifiedKey>
  /** The same from what is kept, at once; undefined when it must be read. */
  verifyKept(value: string): VerifiedKey | undefined
  /**
   * Goes up with every change that was told: what was verified under the same number stands still, but
   * for what ends by the clock. Undefined while changes may go unheard.
   */
  edition(): number | undefined
  /** The latest use of each key since this was last asked. */
  takeUses(): readonly { readonly id: string; readonly at: Instant }[]
  /** The latest use of a key that its record may not show yet; undefined when there is none. */
  lastUse(id: string): Instant | undefined
}

/** Verifications so far, by whether what they went by was kept or had to be read. */
export interface VerifierCounts {
  cache: number
  store: number
}

/** What is kept of a value, which is never its whole chain: a key has any number of values that are refused. */
interface Entry {
  /** The account and the keys of its chain, as changes name them. */
  readonly places: readonly string[]
  /** Each from when on; where several hold, the first counts. */
  readonly refusals: readonly Refusal[]
  /** Forgotten once it is refused. */
  verified: VerifiedKey | undefined
}

interface Refusal {
  readonly code: 'key_revoked' | 'key_expired' | 'key_rotated' | 'account_suspended'
  readonly from: Instant
}

const ALWAYS: Instant = -Infinity
const NEVER: Instant = Infinity

const MAX_ENTRIES = 50_000

/**
 * A cache of verified values in front of the store.
 *
 * A change takes a key and everything below it out; a fill that a change overtook is not kept. While
 * changes may go unheard, every verification reads. When it is full, the value that was used least
 * recently is evicted.
 *
 * @param prefix what values of this service begin with
 * @param maxEntries values that are kept. Default 50,000.
 * @param counts counted up by every verification
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
  const entries = new LRUCache<string, Entry>({ max: maxEntries, dispose: unlist })
  /** Hashes under every key of their chain, and under their account. */
  const holders = new Map<string, Set<string>>()
  let uses = new Map<string, Instant>()
  /** Those that were taken last: they are being written. */
  let taken: ReadonlyMap<string, Instant> = new Map()
  let generation = 0

  /** Judged in the tick in which it is asked: no change that was answered before is missed. */
  const known = (hash: string): Entry | undefined =>
    changes.isCurrent() ? entries.get(hash) : undefined

  /** What is kept under its hash has the right checksum; it costs more than the hash. */
  async function fill(hash: string, value: string): Promise<VerifiedKey> {
    if (!isToken(prefix, value)) throw kernelError('invalid_key')
    const before = generation
    const chain = await readChain(hash)
    const key = chain?.chain.at(-1)
    if (chain === undefined || key === undefined) throw kernelError('invalid_key')
    const verified = verifiedBy(chain, key)
    const entry: Entry = { places: placesOf(chain), refusals: refusalsOf(chain, key), verified }
    if (generation === before) keep(hash, entry)
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

  function keep(hash: string, entry: Entry): void {
    entries.set(hash, entry)
    for (const place of entry.places) {
      const hashes = holders.get(place)
      if (hashes === undefined) holders.set(place, new Set([hash]))
      else hashes.add(hash)
    }
  }

  /** Called by the cache for every entry that leaves it. */
  function unlist(entry: Entry, hash: string): void {
    for (const place of entry.places) {
      const hashes = holders.get(place)
      hashes?.delete(hash)
      if (hashes?.size === 0) holders.delete(place)
    }
  }

  function drop(change: Change | 'all'): void {
    generation++
    if (change === 'all') {
      holders.clear()
      entries.clear()
    } else for (const hash of holders.get(placeOf(change)) ?? []) entries.delete(hash)
  }

  changes.listen(drop)

  /**
   * Undefined where it was refused before, and the calendar was set back since.
   *
   * @throws KeyhookError how it is refused right now
   */
  function judge(entry: Entry): VerifiedKey | undefined {
    const now = clock.now()
    const refusal = entry.refusals.find(({ from }) => now >= from)
    if (refusal !== undefined) {
      entry.verified = undefined
      throw kernelError(refusal.code)
    }
    if (entry.verified !== undefined) uses.set(entry.verified.key.id, now)
    return entry.verified
  }

  function verifyKept(value: string): VerifiedKey | undefined {
    if (!isTokenLike(prefix, value)) throw kernelError('invalid_key')
    const kept = known(hashToken(value))
    if (kept === undefined) return undefined
    counts.cache += 1
    return judge(kept)
  }

  return {
    verifyKept,
    async verify(value) {
      const kept = verifyKept(value)
      if (kept !== undefined) return kept
      counts.store += 1
      return fill(hashToken(value), value)
    },
    edition: () => (changes.isCurrent() ? generation : undefined),
    takeUses() {
      taken = uses
      uses = new Map()
      return [...taken].map(([id, at]) => ({ id, at }))
    },
    lastUse: (id) => uses.get(id) ?? taken.get(id),
  }
}

function placesOf({ account, chain }: KeyChain): readonly string[] {
  const keys = chain.map(({ id }) => ({ kind: 'key', id }) as const)
  return [{ kind: 'account', id: account.id } as const, ...keys].map(placeOf)
}

function placeOf({ kind, id }: Change): string {
  return `${kind} ${id}`
}

/** A key lives only while every ancestor does; its holder is told which end it met. */
function refusalsOf({ account, chain, secret }: KeyChain, key: KeyRecord): readonly Refusal[] {
  const isRevoked = chain.some(({ revoked_at }) => revoked_at !== null)
  const expiries = chain.map(({ expires_at }) => expires_at ?? NEVER)
  const isEnded = standingOf(key, secret) === 'ended'
  const refusals: readonly Refusal[] = [
    { code: 'key_revoked', from: isRevoked ? ALWAYS : NEVER },
    { code: 'key_expired', from: Math.min(...expiries) },
    { code: 'key_rotated', from: isEnded ? ALWAYS : (secret.not_after ?? NEVER) },
    { code: 'account_suspended', from: account.suspended ? ALWAYS : NEVER },
  ]
  return refusals.filter(({ from }) => from < NEVER)
}

/** What it may do unless it is refused. */
function verifiedBy({ chain, secret }: KeyChain, key: KeyRecord): VerifiedKey {
  return {
    key,
    authority: effectiveAuthority(chain),
    secret: standingOf(key, secret) === 'current' ? 'current' : 'previous',
    secret_version: secret.version,
  }
}

/** Apart from what ends by the clock. */
function standingOf(key: KeyRecord, secret: KeySecret): SecretStanding {
  return secretStanding(key, secret, key.version, ALWAYS)
}
