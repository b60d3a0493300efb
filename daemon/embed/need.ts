import type { RequiredScope } from '../../lib/scope/cover.ts'
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
  const declared = new Map<string, RequiredScope>()

  function judge(scope: string): RequiredScope {
    if (!isDeclared(scope, universe)) {
      throw new TypeError(
        `keys.verify: ${undeclaredScope(scope, universe)} createKeyhook declares more with scopes`,
      )
    }
    const required = requiredScope(scope, universe)
    declared.set(scope, required)
    return required
  }

  const read = (scope: string): RequiredScope => declared.get(scope) ?? judge(scope)
  return ({ scope, scopes, app }) =>
    typeof scope === 'string'
      ? { scopes: [read(scope)], app }
      : { scopes: scopes?.map(read) ?? [], app }
}
