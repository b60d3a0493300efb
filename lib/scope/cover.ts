import type { Scope, ScopeSet } from './canonical.ts'
import { patternsCovering } from './canonical.ts'
import type { ScopeUniverse } from './syntax.ts'
import { parseScope } from './syntax.ts'

declare const required: unique symbol

/**
 * The scope that an operation requires: exactly one family and action. The type differs from `Scope`, so
 * that matching a request and comparing two sets cannot be confused.
 */
export type RequiredScope = string & { readonly [required]: 'RequiredScope' }

/**
 * Whether the holder's set matches everything that a scope matches, now and in later releases.
 *
 * @example
 * readScopes('*:read').every((scope) => covers(readScopes('apps:*'), scope)) // false
 */
export function covers(holder: ScopeSet, requested: Scope): boolean {
  return holdsAny(holder, patternsCovering(requested))
}

/**
 * The requested scopes that the holder's set does not cover; empty when it covers all.
 *
 * @example
 * uncovered(readScopes('apps:*'), readScopes('apps:read keys:read')) // ['keys:read']
 */
export function uncovered(holder: ScopeSet, requested: ScopeSet): Scope[] {
  return requested.filter((scope) => !covers(holder, scope))
}

/**
 * Declares the scope that an operation requires.
 *
 * @throws TypeError for a wildcard or an undeclared scope
 * @example
 * const needed = requiredScope('apps:read', universe)
 */
export function requiredScope(text: string, universe: ScopeUniverse): RequiredScope {
  if (text.includes('*') || parseScope(text, universe) === undefined) {
    throw new TypeError(`${JSON.stringify(text)} is not one declared family:action`)
  }
  const scope = text as RequiredScope
  if (!patternsByScope.has(scope)) patternsByScope.set(scope, patternsCovering(scope))
  return scope
}

/** Bounded: only declared scopes get in. */
const patternsByScope = new Map<RequiredScope, readonly string[]>()

/**
 * Whether a set satisfies a required scope. Write does not imply read.
 *
 * @example
 * allows(readScopes('*:read'), requiredScope('apps:read', universe)) // true
 */
export function allows(holder: ScopeSet, required: RequiredScope): boolean {
  return holdsAny(holder, patternsByScope.get(required) ?? patternsCovering(required))
}

function holdsAny(holder: readonly string[], patterns: readonly string[]): boolean {
  return patterns.some((pattern) => holder.includes(pattern))
}
