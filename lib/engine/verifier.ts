import { kernelError } from '../errors.ts'
import type { Authority } from '../grant/authority.ts'
import { effectiveAuthority } from '../grant/authority.ts'
import { endOfChain } from '../key/chain.ts'
import { hashToken } from '../key/hash.ts'
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
}

/** Verifications so far, by whether what they went by was kept or had to be read. */
export interface VerifierCounts {
  cache: number
  store: number
}

interface Entry {
  readonly chain: KeyChain
  readonly authority: Authority
  /** Until when a judgement stands, since nothing in the chain ends by the clock before. */
  readonly until: Instant
  /** What it was last judged to be. */
  verified: VerifiedKey | undefined
}

const MAX_ENTRIES = 50_000

/**
 * A cache of chains in front of the store.
 *
 * A change takes a key and everything below it out; a fill that a change overtook is not kept. While
 * changes may go unheard, every verification reads.
 *
 * @param prefix what values of this service begin with
 * @param maxEntries chains that are kept. Default 50,000.
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
  const entries = new Map<string, Entry>()
  /** Hashes under every key of their chain, and under their account. */
  const holders = new Map<string, Set<string>>()
  const uses = new Map<string, Instant>()
  let generation = 0

  /** Judged in the tick in which it is asked: no change that was answered before is missed. */
  const known = (hash: string): Entry | undefined =>
    changes.isCurrent() ? entries.get(hash) : undefined

  /** What is kept under its hash has the right checksum; it costs more than the hash. */
  async function fill(hash: string, value: string): Promise<Entry> {
    if (!isToken(prefix, value)) throw kernelError('invalid_key')
    const before = generation
    const chain = await readChain(hash)
    if (chain === undefined) throw kernelError('invalid_key')
    const authority = effectiveAuthority(chain.chain)
    const entry: Entry = { chain, authority, until: firstEnd(chain), verified: undefined }
    if (generation === before) keep(hash, entry)
    return entry
  }

  async function readChain(hash: string): Promise<KeyChain | undefined> {
    try {
      return await store.findChain(hash)
    } catch (cause) {
      throw kernelError('unavailable', { cause })
    }
  }

  function keep(hash: string, entry: Entry): void {
    const oldest = entries.size >= maxEntries ? entries.keys().next().value : undefined
    if (oldest !== undefined) forget(oldest)
    entries.set(hash, entry)
    for (const place of placesOf(entry)) {
      const hashes = holders.get(place)
      if (hashes === undefined) holders.set(place, new Set([hash]))
      else hashes.add(hash)
    }
  }

  function forget(hash: string): void {
    const entry = entries.get(hash)
    if (entry === undefined) return
    entries.delete(hash)
    for (const place of placesOf(entry)) {
      const hashes = holders.get(place)
      hashes?.delete(hash)
      if (hashes?.size === 0) holders.delete(place)
    }
  }

  function drop(change: Change | 'all'): void {
    generation++
    if (change === 'all') {
      entries.clear()
      holders.clear()
    } else for (const hash of holders.get(placeOf(change)) ?? []) forget(hash)
  }

  changes.listen(drop)

  function judge(entry: Entry): VerifiedKey {
    const now = clock.now()
    if (entry.verified === undefined || now >= entry.until) {
      entry.verified = judgeChain(entry.chain, entry.authority, now)
    }
    uses.set(entry.verified.key.id, now)
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
      return judge(await fill(hashToken(value), value))
    },
    edition: () => (changes.isCurrent() ? generation : undefined),
    takeUses() {
      const taken = [...uses].map(([id, at]) => ({ id, at }))
      uses.clear()
      return taken
    },
  }
}

function placesOf({ chain: { account, chain } }: Entry): readonly string[] {
  const keys = chain.map(({ id }) => ({ kind: 'key', id }) as const)
  return [{ kind: 'account', id: account.id } as const, ...keys].map(placeOf)
}

function placeOf({ kind, id }: Change): string {
  return `${kind} ${id}`
}

/** When the first of what may end by the clock does. */
function firstEnd({ chain, secret }: KeyChain): Instant {
  const ends = [secret.not_after, ...chain.map(({ expires_at }) => expires_at)]
  return Math.min(...ends.map((end) => end ?? Infinity))
}

/** A key lives only while every ancestor does; its holder is told which end it met. */
function judgeChain(chain: KeyChain, authority: Authority, now: Instant): VerifiedKey {
  const key = chain.chain.at(-1)
  if (key === undefined) throw kernelError('invalid_key')
  const end = endOfChain(chain.chain, now)
  if (end !== undefined) throw kernelError(`key_${end}`)
  const standing = secretStanding(key, chain.secret, key.version, now)
  if (standing === 'ended') throw kernelError('key_rotated')
  if (chain.account.suspended) throw kernelError('account_suspended')
  return { key, authority, secret: standing, secret_version: chain.secret.version }
}
