import type { Scope, ScopeSet } from './canonical.ts'
import { patternsCovering } from './canonical.ts'
import type { ScopeUniverse } from './syntax.ts'
import { parseScope } from './syntax.ts'

declare const required: unique symbol

/**
 * What one operation needs: exactly one family and action. Its type is not `Scope`'s, so that
 * "may this request pass" and "does this set lie within that" cannot be taken for each other.
 */
export type RequiredScope = string & { readonly [required]: 'RequiredScope' }

/**
 * Whether all that a pattern denotes, now and in later releases, is denoted by the holder's set.
 *
 * @example
 * readScopes('*:read').every((scope) => covers(readScopes('apps:*'), scope)) // false
 */
export function covers(holder: ScopeSet, asked: Scope): boolean {
  return holdsAny(holder, patternsCovering(asked))
}

/**
 * The asked scopes that the holder's set does not cover; empty when all may be given.
 *
 * @example
 * uncovered(readScopes('apps:*'), readScopes('apps:read keys:read')) // ['keys:read']
 */
export function uncovered(holder: ScopeSet, asked: ScopeSet): Scope[] {
  return asked.filter((scope) => !covers(holder, scope))
}

/**
 * Declares what an operation needs; throws TypeError for a wildcard or a scope not declared.
 *
 * @example
 * const needed = requiredScope('apps:read', universe)
 */
export function requiredScope(text: string, universe: ScopeUniverse): RequiredScope {
  if (text.includes('*') || parseScope(text, universe) === undefined) {
    throw new TypeError(`${JSON.stringify(text)} is not one declared family:action`)
  }
  return text as RequiredScope
}

/**
 * Whether a holder of this set may do what needs the required scope. Write does not imply read.
 *
 * @example
 * allows(readScopes('*:read'), requiredScope('apps:read', universe)) // true
 */
export function allows(holder: ScopeSet, required: RequiredScope): boolean {
  const patterns = known.get(required) ?? patternsCovering(required)
  // What is required was declared: there are not many.
  known.set(required, patterns)
  return holdsAny(holder, patterns)
}

const known = new Map<RequiredScope, readonly string[]>()

function holdsAny(holder: readonly string[], patterns: readonly string[]): boolean {
  return patterns.some((pattern) => holder.includes(pattern))
}
