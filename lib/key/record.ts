import type { Pins } from '../grant/authority.ts'
import type { ScopeSet } from '../scope/canonical.ts'
import type { Instant } from '../time.ts'
import type { KeySecret } from './lifecycle.ts'

/** Who created a record. */
export interface Creator {
  readonly type: 'key' | 'user' | 'operator' | 'portal'
  /** The id of the key, the user or the session of the portal; null for the operator. */
  readonly id: string | null
}

/** A developer key, without its value. */
export interface KeyRecord {
  readonly id: string
  readonly account_id: string
  readonly name: string
  readonly scopes: ScopeSet
  readonly pins: Pins
  /** The key that minted it; null for a root. */
  readonly parent_id: string | null
  /** 0 for a root. */
  readonly depth: number
  /**
   * The most that it and the keys below it may spend in a month of UTC, in millionths of the currency's unit;
   * null for no limit of its own.
   */
  readonly monthly_budget_micros: number | null
  readonly expires_at: Instant | null
  readonly revoked_at: Instant | null
  readonly created_by: Creator
  readonly created_at: Instant
  readonly updated_at: Instant
  readonly last_used_at: Instant | null
  /** Version of the current secret. */
  readonly version: number
  /**
   * The current secret and the previous ones, newest first, without those that have ended for good. At
   * most `MAX_LIVE_SECRETS` are live.
   */
  readonly secrets: readonly KeySecret[]
}

/** Everything that verifies one value: its secret, its key, and every ancestor. */
export interface KeyChain {
  readonly secret: KeySecret
  /** Root first, the key itself last; never empty. */
  readonly chain: readonly KeyRecord[]
  readonly account: { readonly id: string; readonly suspended: boolean }
}
