import { kernelError } from '../errors.ts'
import type { Scope } from '../scope/canonical.ts'
import { uncovered } from '../scope/cover.ts'
import type { Instant } from '../time.ts'
import type { Authority, Pins } from './authority.ts'

/** The part of a requested authority that the holder does not have. */
export interface Uncovered {
  readonly scopes: readonly Scope[]
  /** `all`: every app was requested, and the holder is pinned. */
  readonly apps: readonly string[] | 'all'
  /** Whether the requested expiry is after the holder's. */
  readonly expires_at: boolean
}

/** Maximum depth of a key; a root has depth 0. */
export const MAX_DEPTH = 8

/**
 * The part of a requested authority that exceeds the holder's; undefined when nothing does.
 *
 * @example
 * exceeds({ scopes: readScopes('apps:*'), pins: 'all', expires_at: null }, FULL_AUTHORITY)
 * // { scopes: ['*:*'], apps: [], expires_at: false }
 */
export function exceeds(holder: Authority, requested: Authority): Uncovered | undefined {
  const scopes = uncovered(holder.scopes, requested.scopes)
  const apps = uncoveredApps(holder.pins, requested.pins)
  const expiresAt = outlives(requested.expires_at, holder.expires_at)
  if (scopes.length === 0 && apps.length === 0 && !expiresAt) return undefined
  return { scopes, apps, expires_at: expiresAt }
}

function uncoveredApps(holder: Pins, requested: Pins): readonly string[] | 'all' {
  if (holder === 'all') return []
  return requested === 'all' ? 'all' : [...requested].filter((app) => !holder.has(app))
}

function outlives(requested: Instant | null, holder: Instant | null): boolean {
  return holder !== null && (requested === null || requested > holder)
}

/**
 * Refuses to delegate more than the holder has.
 *
 * Pass the holder's effective authority, read inside the transaction that writes.
 *
 * @throws KeyhookError `scope_not_delegable`; its details name what is uncovered
 * @example
 * const minter = { scopes: readScopes('apps:*'), pins: 'all', expires_at: null } as const
 * refuseDelegation(minter, { ...minter, scopes: readScopes('*:read') }) // throws
 */
export function refuseDelegation(holder: Authority, requested: Authority): void {
  const beyond = exceeds(holder, requested)
  if (beyond === undefined) return
  throw kernelError('scope_not_delegable', {
    details: {
      uncovered_scopes: beyond.scopes,
      uncovered_apps: beyond.apps,
      expires_at_beyond: beyond.expires_at,
    },
  })
}

/**
 * The pins of a new key: the requested ones, otherwise the minter's.
 *
 * @throws TypeError for an empty list, which must not mean every app
 * @example
 * inheritPins(undefined, new Set(['a1'])) // Set { 'a1' }
 */
export function inheritPins(requested: readonly string[] | undefined, minter: Pins): Pins {
  if (requested === undefined) return minter
  if (requested.length === 0) throw new TypeError('Pins name at least one app')
  return new Set(requested)
}

/**
 * The expiry of a new key: the requested one (null never expires), otherwise the minter's.
 *
 * @example
 * inheritExpiry(undefined, 1000) // 1000
 */
export function inheritExpiry(
  requested: Instant | null | undefined,
  minter: Instant | null,
): Instant | null {
  return requested === undefined ? minter : requested
}
