declare const parsed: unique symbol

/**
 * A parsed scope: `family:action`, `family:*`, `*:read` or `*:*`. It matches every pair of family and
 * action that fits, including those of later releases.
 */
export type Scope = string & { readonly [parsed]: 'Scope' }

/** A canonical set: sorted, and no scope covers another. Equal sets have equal text. */
export type ScopeSet = readonly Scope[]

const ALL_READS = '*:read'

/**
 * The patterns that match everything a scope matches: the scope itself and at most three others.
 *
 * The universe is open, so no union of scopes covers a scope that none of them covers alone: a name of
 * a later release would be outside of them. A subset test therefore needs only these lookups.
 *
 * @example
 * patternsCovering('apps:read') // ['apps:read', 'apps:*', '*:read', '*:*']
 */
export function patternsCovering(scope: string): readonly string[] {
  const colon = scope.indexOf(':')
  return [scope, `${scope.slice(0, colon)}:*`, `*${scope.slice(colon)}`, '*:*']
}

/**
 * The canonical form of a set of scopes: its maximal elements, sorted, without duplicates.
 *
 * @example
 * canonical(parseScopes(['apps:read', '*:read'], universe)) // ['*:read']
 */
export function canonical(scopes: Iterable<Scope>): ScopeSet {
  const given = new Set<string>(scopes)
  const isMaximal = (scope: string): boolean =>
    !patternsCovering(scope).some((pattern) => pattern !== scope && given.has(pattern))
  return [...given].filter(isMaximal).sort() as Scope[]
}

/**
 * The intersection of two sets; empty when they share nothing.
 *
 * Of two scopes that overlap one covers the other, with one exception: `family:*` and `*:read` share
 * `family:read`. So an intersection is always expressible in the grammar.
 *
 * @example
 * meetScopes(parseScopes(['apps:*'], universe), parseScopes(['*:read'], universe)) // ['apps:read']
 */
export function meetScopes(a: ScopeSet, b: ScopeSet): ScopeSet {
  return canonical([...within(a, b), ...within(b, a), ...crossings(a, b), ...crossings(b, a)])
}

function within(inner: ScopeSet, outer: ScopeSet): readonly Scope[] {
  const held = new Set<string>(outer)
  return inner.filter((scope) => patternsCovering(scope).some((pattern) => held.has(pattern)))
}

function crossings(families: ScopeSet, reads: ScopeSet): readonly Scope[] {
  if (!reads.some((scope) => scope === ALL_READS)) return []
  const whole = families.filter((scope) => scope.endsWith(':*'))
  return whole.map((scope) => `${scope.slice(0, -1)}read` as Scope)
}

/**
 * Formats a set for storage, separated by spaces.
 *
 * @example
 * printScopes(parseScopes(['keys:read', 'apps:*'], universe)) // 'apps:* keys:read'
 */
export function printScopes(set: ScopeSet): string {
  return set.join(' ')
}

/**
 * Parses the output of `printScopes`, unchecked: a scope of a removed family is kept.
 *
 * @example
 * readScopes('apps:* keys:read') // ['apps:*', 'keys:read']
 */
export function readScopes(stored: string): ScopeSet {
  return (stored === '' ? [] : stored.split(' ')) as Scope[]
}
