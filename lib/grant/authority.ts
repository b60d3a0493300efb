import type { ScopeSet } from '../scope/canonical.ts'
import { meetScopes, readScopes } from '../scope/canonical.ts'
import type { Instant } from '../time.ts'

/** The apps that a key may access. An empty set means no app, never every app. */
export type Pins = 'all' | ReadonlySet<string>

/** What a key may do: its scopes, its apps and its expiry. `expires_at` is exclusive; null never expires. */
export interface Authority {
  readonly scopes: ScopeSet
  readonly pins: Pins
  readonly expires_at: Instant | null
}

/** The authority of the account's owner and of the operator. */
export const FULL_AUTHORITY: Authority = {
  scopes: readScopes('*:*'),
  pins: 'all',
  expires_at: null,
}

/**
 * The apps that both pins contain.
 *
 * @example
 * meetPins('all', new Set(['a1'])) // Set { 'a1' }
 */
export function meetPins(a: Pins, b: Pins): Pins {
  if (a === 'all') return b
  if (b === 'all') return a
  return new Set([...a].filter((app) => b.has(app)))
}

/**
 * Whether the outer pins contain every app of the inner pins, including apps created later.
 *
 * @example
 * withinPins('all', new Set(['a1'])) // false
 */
export function withinPins(inner: Pins, outer: Pins): boolean {
  if (outer === 'all') return true
  return inner !== 'all' && [...inner].every((app) => outer.has(app))
}

/**
 * Whether pins contain an app.
 *
 * @example
 * holdsApp(new Set(['a1']), 'a2') // false
 */
export function holdsApp(pins: Pins, appId: string): boolean {
  return pins === 'all' || pins.has(appId)
}

function earlier(a: Instant | null, b: Instant | null): Instant | null {
  if (a === null) return b
  return b === null ? a : Math.min(a, b)
}

/**
 * The intersection of two authorities: their common scopes and apps, until the earlier expiry.
 *
 * @example
 * meetAuthority(FULL_AUTHORITY, { scopes: readScopes('apps:*'), pins: 'all', expires_at: 1000 })
 */
export function meetAuthority(a: Authority, b: Authority): Authority {
  return {
    scopes: meetScopes(a.scopes, b.scopes),
    pins: meetPins(a.pins, b.pins),
    expires_at: earlier(a.expires_at, b.expires_at),
  }
}

/**
 * The effective authority of a key: the intersection over its chain.
 *
 * @param chain root first, the key itself last
 * @throws TypeError for an empty chain, which must not grant everything
 * @example
 * const root = { scopes: readScopes('*:read'), pins: 'all', expires_at: 1000 } as const
 * const child = { scopes: readScopes('apps:*'), pins: new Set(['a1']), expires_at: null }
 * effectiveAuthority([root, child]) // { scopes: ['apps:read'], pins: Set { 'a1' }, expires_at: 1000 }
 */
export function effectiveAuthority(chain: readonly Authority[]): Authority {
  if (chain.length === 0) throw new TypeError('A chain of keys contains at least the key itself')
  return chain.reduce(meetAuthority)
}

/**
 * Formats pins for storage: null for all, otherwise a sorted JSON array.
 *
 * @example
 * printPins(new Set(['b', 'a'])) // '["a","b"]'
 */
export function printPins(pins: Pins): string | null {
  return pins === 'all' ? null : JSON.stringify([...pins].sort())
}

/**
 * Parses the output of `printPins`, unchecked.
 *
 * @example
 * readPins('["a","b"]') // Set { 'a', 'b' }
 */
export function readPins(stored: string | null): Pins {
  return stored === null ? 'all' : new Set(JSON.parse(stored) as string[])
}
