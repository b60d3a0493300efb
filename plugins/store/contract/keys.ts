import type { KeySecret } from '../../../lib/key/lifecycle.ts'
import type { KeyChain, KeyRecord } from '../../../lib/key/record.ts'
import type { ScopeSet } from '../../../lib/scope/canonical.ts'
import type { Instant } from '../../../lib/time.ts'
import type { Page, PageQuery } from './page.ts'

export interface KeyListQuery extends PageQuery {
  readonly account_id: string
  /** Only keys that are live at this instant: neither they nor an ancestor are expired or revoked. */
  readonly live_at: Instant | null
  /** Only keys whose pins are all among these. */
  readonly within: readonly string[] | null
}

export interface KeyTree {
  readonly ids: readonly string[]
  readonly total: number
}

export interface KeyReads {
  /**
   * The chain of the value with a hash, whatever its state; undefined for an unknown hash. It also finds
   * values that have ended for good, which their key no longer lists.
   */
  findChain(hash: string): Promise<KeyChain | undefined>
  /** The chain of a key of this account, root first; empty when there is no such key. */
  chain(accountId: string, id: string): Promise<readonly KeyRecord[]>
  get(accountId: string, id: string): Promise<KeyRecord | undefined>
  /** @param most keys that a page with `within` and without `live_at` looks at; default `MOST_LOOKED_AT` */
  list(query: KeyListQuery, most?: number): Promise<Page<KeyRecord>>
  /** The key and all live keys below it: the first `limit` by id, and their total. */
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
  /** When the replaced value ends; 0 ends it at once. */
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
   * Inserts the key with its secrets. False, inserting nothing, when the account has its maximum of live
   * keys: its `key_limit`, otherwise the default. Of two callers for the last one, one wins. A key below
   * one that has ended is not live.
   *
   * @param limit default: no limit
   */
  insert(key: KeyRecord, limit?: LiveKeyLimit): Promise<boolean>
  /**
   * Changes only the named columns, of a live key that still has the scopes and expiry of `judged`. False,
   * changing nothing, otherwise: the caller reads it again.
   */
  update(judged: KeyRecord, changes: KeyChanges, now: Instant): Promise<boolean>
  /**
   * Adds a secret and makes it the current one. Earlier previous values keep their own ends. Those whose
   * grace period is over stay ended whatever the clock shows later, and are no longer listed. The cost
   * does not depend on their number.
   *
   * `conflict`, changing nothing: the key is no longer live or was rotated meanwhile; of two callers one
   * wins. `limit_reached`, changing nothing: more than `MAX_LIVE_SECRETS` would be live.
   */
  rotate(rotation: KeyRotation): Promise<RotationOutcome>
  /** Ends all previous values for good, whatever the clock shows. False when none is live. */
  endPrevious(id: string, now: Instant): Promise<boolean>
  /** Revokes the key for good. False, changing nothing, when it already was. */
  revoke(id: string, now: Instant): Promise<boolean>
  /** Records uses in a group. `last_used_at` only moves forward. */
  touch(uses: readonly { readonly id: string; readonly at: Instant }[]): Promise<void>
}
