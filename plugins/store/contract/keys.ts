import type { KeySecret } from '../../../lib/key/lifecycle.ts'
import type { KeyChain, KeyRecord } from '../../../lib/key/record.ts'
import type { ScopeSet } from '../../../lib/scope/canonical.ts'
import type { Instant } from '../../../lib/time.ts'
import type { Page, PageQuery } from './page.ts'

export interface KeyListQuery extends PageQuery {
  readonly account_id: string
  /** Leave out keys that are expired or revoked at this instant, or lie below one that is. */
  readonly live_at: Instant | null
  /** Only keys whose every pin is among these. */
  readonly within: readonly string[] | null
}

export interface KeyTree {
  readonly ids: readonly string[]
  readonly total: number
}

export interface KeyReads {
  /**
   * The chain behind a value's hash, whatever its state; undefined when nobody holds that value. A value
   * that has ended for ever is found by its own row: its key does not list it.
   */
  findChain(hash: string): Promise<KeyChain | undefined>
  /** The chain of a key of this account, root first; empty when there is no such key. */
  chain(accountId: string, id: string): Promise<readonly KeyRecord[]>
  get(accountId: string, id: string): Promise<KeyRecord | undefined>
  /** A page with `within` and without `live_at` examines `most` keys at most, by default `MOST_LOOKED_AT`. */
  list(query: KeyListQuery, most?: number): Promise<Page<KeyRecord>>
  /** The key, and every key below it that is live: the first `limit` in order of id, and how many there are. */
  descendants(id: string, limit: number, now: Instant): Promise<KeyTree>
}

export interface KeyChanges {
  readonly name?: string
  readonly scopes?: ScopeSet
  readonly expires_at?: Instant | null
}

export interface KeyRotation {
  readonly id: string
  /** The new current secret; its version is one above the current. */
  readonly secret: KeySecret
  /** When the value that was current until now ends; 0 ends it at once. */
  readonly previous_not_after: Instant
  readonly now: Instant
}

/** How many live keys an account may hold, for one insertion. */
export interface LiveKeyLimit {
  /** Applies to an account without a `key_limit` of its own, and to one that is not recorded. */
  readonly byDefault: number
  readonly now: Instant
}

export type RotationOutcome = 'rotated' | 'conflict' | 'limit_reached'

export interface KeyWrites extends KeyReads {
  /**
   * Inserts the key with its secrets unless its account holds as many live keys as it may: its `key_limit`,
   * else the default. False, inserting nothing, at the limit; of two callers for the last place one wins.
   * A key below one that has ended is not live.
   *
   * @param limit where absent, an account may hold any number
   */
  insert(key: KeyRecord, limit?: LiveKeyLimit): Promise<boolean>
  /**
   * Changes the named columns alone, of a key that is live and still bears the scopes and expiry that
   * the change was judged against. False, changing nothing, when it does not: the caller reads again.
   */
  update(judged: KeyRecord, changes: KeyChanges, now: Instant): Promise<boolean>
  /**
   * Adds a secret and makes it the current one; earlier previous values keep their own ends, and those
   * whose grace period is over by now stay ended whatever the clock shows later: the key lists them no
   * longer. The cost does not depend on how many those are.
   *
   * `conflict`, changing nothing: the key is no longer live or was rotated meanwhile; of two callers one
   * wins. `limit_reached`, changing nothing: more than `MAX_LIVE_SECRETS` would be live.
   */
  rotate(rotation: KeyRotation): Promise<RotationOutcome>
  /** Ends all previous values for ever, whatever the clock shows. False when none is live. */
  endPrevious(id: string, now: Instant): Promise<boolean>
  /** Revokes for ever. False, changing nothing, when it was revoked before. */
  revoke(id: string, now: Instant): Promise<boolean>
  /** Notes uses in a group; an instant only ever moves forward. */
  touch(uses: readonly { readonly id: string; readonly at: Instant }[]): Promise<void>
}
