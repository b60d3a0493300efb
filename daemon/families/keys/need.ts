import { kernelError } from '../../../lib/errors.ts'
import type { VerifiedKey } from '../../../lib/engine/verifier.ts'
import { holdsApp } from '../../../lib/grant/authority.ts'
import type { RequiredScope } from '../../../lib/scope/cover.ts'
import { allows, requiredScope } from '../../../lib/scope/cover.ts'
import type { ScopeUniverse } from '../../../lib/scope/syntax.ts'

/** What a caller's key must allow. */
export interface Need {
  /** One `family:action`. */
  readonly scope?: string | undefined
  /** An app that its pins must hold. */
  readonly app_id?: string | undefined
}

/**
 * Refuses a key that does not allow what is needed.
 *
 * @param location of the scope in the request, for `invalid_scope`
 * @throws KeyhookError `insufficient_scope`, `app_not_found`, `invalid_scope` for a scope that is none
 */
export function requireNeed(
  { authority }: VerifiedKey,
  { scope, app_id }: Need,
  universe: ScopeUniverse,
  location = 'scope',
): void {
  if (scope !== undefined) requireScope(authority, declaredScope(scope, universe, location))
  if (app_id !== undefined && authority.pins !== 'all' && !holdsApp(authority.pins, app_id)) {
    throw kernelError('app_not_found')
  }
}

/** @throws KeyhookError `invalid_scope`: a mistake of the caller's, whatever the key is */
export function requireDeclared(scope: string, universe: ScopeUniverse, location: string): void {
  const [family = '', action = '', ...more] = scope.split(':')
  if (more.length === 0 && universe.get(family)?.has(action) === true) return
  const message = `${JSON.stringify(scope)} is not one family:action of this service.`
  throw kernelError('invalid_scope', { errors: [{ location, code: 'invalid_scope', message }] })
}

/** Declared scopes are few, and asked for with every request of an embedder's. */
const declared = new WeakMap<ScopeUniverse, Map<string, RequiredScope>>()

function declaredScope(scope: string, universe: ScopeUniverse, location: string): RequiredScope {
  const known = declared.get(universe) ?? new Map<string, RequiredScope>()
  const found = known.get(scope)
  if (found !== undefined) return found
  requireDeclared(scope, universe, location)
  const made = requiredScope(scope, universe)
  declared.set(universe, known.set(scope, made))
  return made
}

function requireScope({ scopes }: VerifiedKey['authority'], scope: RequiredScope): void {
  if (!allows(scopes, scope)) {
    throw kernelError('insufficient_scope', {
      message: `The key lacks the scope ${scope}.`,
      details: { required_scopes: [scope], missing_scopes: [scope] },
    })
  }
}
