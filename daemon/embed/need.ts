import { requiredScope } from '../../lib/scope/cover.ts'
import type { ScopeUniverse } from '../../lib/scope/syntax.ts'
import type { Need, Requirement } from '../families/keys/need.ts'
import { isDeclared, undeclaredScope } from '../families/keys/need.ts'

/**
 * Turns requirements in code into needs. A requirement of one scope is checked once and gives the same object
 * each time: requirements repeat with every request, and there are few scopes.
 *
 * The result throws a TypeError for an undeclared scope, which no key can hold.
 */
export function createNeeds(universe: ScopeUniverse): (requirement: Requirement) => Need {
  /** By scope. Bounded: only declared scopes get in. */
  const needs = new Map<string, Need>()

  function declare(scope: string): Need {
    if (!isDeclared(scope, universe)) {
      throw new TypeError(
        `keys.verify: ${undeclaredScope(scope, universe)} createKeyhook declares more with scopes`,
      )
    }
    const need = { scopes: [requiredScope(scope, universe)] }
    needs.set(scope, need)
    return need
  }

  const needOf = (scope: string): Need => needs.get(scope) ?? declare(scope)
  return ({ scope, scopes = [], app }) => {
    if (typeof scope !== 'string')
      return { scopes: scopes.flatMap((one) => needOf(one).scopes), app }
    const need = needOf(scope)
    return app === undefined ? need : { scopes: need.scopes, app }
  }
}
