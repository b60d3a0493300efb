import { requiredScope } from '../../lib/scope/cover.ts'
import type { ScopeUniverse } from '../../lib/scope/syntax.ts'
import type { Need, Requirement } from '../families/keys/need.ts'
import { isDeclared, undeclaredScope } from '../families/keys/need.ts'

/**
 * Turns requirements in code into needs. Each scope is checked once: requirements repeat with every
 * request, and there are few scopes.
 *
 * The result throws a TypeError for an undeclared scope, which no key can hold.
 */
export function createNeeds(universe: ScopeUniverse): (requirement: Requirement) => Need {
  /** Needs of one scope each. */
  const needs = new Map<string, Need>()

  function judge(scope: string): Need {
    if (!isDeclared(scope, universe)) {
      throw new TypeError(
        `keys.verify: ${undeclaredScope(scope, universe)} createKeyhook declares more with scopes`,
      )
    }
    const need = { scopes: [requiredScope(scope, universe)] }
    needs.set(scope, need)
    return need
  }

  const needOf = (scope: string): Need => needs.get(scope) ?? judge(scope)
  return ({ scope, scopes, app }) => {
    if (typeof scope === 'string' && app === undefined) return needOf(scope)
    const all = typeof scope === 'string' ? [scope] : (scopes ?? [])
    return { scopes: all.flatMap((one) => needOf(one).scopes), app }
  }
}
