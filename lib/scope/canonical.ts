declare const parsed: unique symbol

/**
 * A parsed scope: `family:action`, `family:*`, `*:read` or `*:*`. It denotes every pair that it
 * matches, those added by later releases included.
 */
export type Scope = string & { readonly [parsed]: 'Scope' }

/** A canonical set: no scope covers another, sorted. Equal sets print equal text. */
export type ScopeSet = readonly Scope[]

const ALL_READS = '*:read'

/**
 * The only patterns that can denote all that this one does, itself among them: at most four.
 *
 * In an open universe no union of scopes covers a scope that none of them covers alone: the pair of
 * a name still unknown lies outside the others. So a subset test is these probes and nothing more.
 *
 * @example
 * patternsCovering('apps:read') // ['apps:read', 'apps:*', '*:read', '*:*']
 */
export function patternsCovering(scope: string): readonly string[] {
  const colon = scope.indexOf(':')
  return [scope, `${scope.slice(0, colon)}:*`, `*${scope.slice(colon)}`, '*:*']
}

/**
 * The one form of what scopes denote together: their maximal elements, sorted, without duplicates.
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
 * What two sets both denote; empty when they share nothing.
 *
 * Two scopes that overlap are comparable, `family:*` and `*:read` excepted, which share
 * `family:read`: a meet never leaves the grammar.
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
 * A set as rows store it: space separated.
 *
 * @example
 * printScopes(parseScopes(['keys:read', 'apps:*'], universe)) // 'apps:* keys:read'
 */
export function printScopes(set: ScopeSet): string {
  return set.join(' ')
}

/**
 * Reads back what `printScopes` stored, unchecked: a scope whose family was since removed stays.
 *
 * @example
 * readScopes('apps:* keys:read') // ['apps:*', 'keys:read']
 */
export function readScopes(stored: string): ScopeSet {
  return (stored === '' ? [] : stored.split(' ')) as Scope[]
}
