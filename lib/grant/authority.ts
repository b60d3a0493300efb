import type { ScopeSet } from '../scope/canonical.ts'
import { meetScopes, readScopes } from '../scope/canonical.ts'
import type { Instant } from '../time.ts'

/** The apps that a key sees and acts on. An empty set is no app at all, never every app. */
export type Pins = 'all' | ReadonlySet<string>

/** What a key may do, where, and until when. `expires_at` is exclusive; null is for ever. */
export interface Authority {
  readonly scopes: ScopeSet
  readonly pins: Pins
  readonly expires_at: Instant | null
}

/** What the account's owner and the operator hold. */
export const FULL_AUTHORITY: Authority = {
  scopes: readScopes('*:*'),
  pins: 'all',
  expires_at: null,
}

/**
 * The apps that both pins hold.
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
 * Whether every app of the inner pins, later ones included, is one of the outer pins.
 *
 * @example
 * withinPins('all', new Set(['a1'])) // false
 */
export function withinPins(inner: Pins, outer: Pins): boolean {
  if (outer === 'all') return true
  return inner !== 'all' && [...inner].every((app) => outer.has(app))
}

/**
 * Whether pins hold an app.
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
 * The most that two authorities both give: the scopes and apps of both, until the earlier expiry.
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
 * What a key may really do: the meet over its chain, root first, the key itself last; throws
 * TypeError for an empty chain, which must not come to mean everything.
 *
 * @example
 * const root = { scopes: readScopes('*:read'), pins: 'all', expires_at: 1000 } as const
 * const child = { scopes: readScopes('apps:*'), pins: new Set(['a1']), expires_at: null }
 * effectiveAuthority([root, child]) // { scopes: ['apps:read'], pins: Set { 'a1' }, expires_at: 1000 }
 */
export function effectiveAuthority(chain: readonly Authority[]): Authority {
  if (chain.length === 0) throw new TypeError('A chain of keys holds at least the key itself')
  return chain.reduce(meetAuthority)
}

/**
 * Pins as rows store them: null for all, else a sorted JSON array.
 *
 * @example
 * printPins(new Set(['b', 'a'])) // '["a","b"]'
 */
export function printPins(pins: Pins): string | null {
  return pins === 'all' ? null : JSON.stringify([...pins].sort())
}

/**
 * Reads back what `printPins` stored, unchecked.
 *
 * @example
 * readPins('["a","b"]') // Set { 'a', 'b' }
 */
export function readPins(stored: string | null): Pins {
  return stored === null ? 'all' : new Set(JSON.parse(stored) as string[])
}
