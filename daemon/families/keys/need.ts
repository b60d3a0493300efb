import { kernelError } from '../../../lib/errors.ts'
import type { VerifiedKey } from '../../../lib/engine/verifier.ts'
import { holdsApp } from '../../../lib/grant/authority.ts'
import type { RequiredScope } from '../../../lib/scope/cover.ts'
import { allows, requiredScope } from '../../../lib/scope/cover.ts'
import type { ScopeUniverse } from '../../../lib/scope/syntax.ts'

/**
 * What a key must allow: a scope, all of several scopes, an app that its pins hold, or a combination.
 * Who requires nothing says so: `{ scope: null }`.
 */
export type Requirement =
  | { readonly scope: string | null; readonly scopes?: never; readonly app?: string }
  | {
      /** All of them; one or more. */
      readonly scopes: readonly [string, ...(readonly string[])]
      readonly scope?: never
      readonly app?: string
    }
  | { readonly app: string; readonly scope?: never; readonly scopes?: never }

/** What a caller's key must allow, read from a requirement or a request. */
export interface Need {
  /** All of them. */
  readonly scopes: readonly RequiredScope[]
  /** An app that its pins must hold. */
  readonly app?: string | undefined
}

/** @throws KeyhookError `invalid_scope` for a scope that is none, whatever the key is */
export function needOf({ scope, scopes, app }: Requirement, universe: ScopeUniverse): Need {
  if (typeof scope === 'string') return { scopes: [declaredScope(scope, universe, 'scope')], app }
  const declared = scopes?.map((one, index) => declaredScope(one, universe, `scopes[${index}]`))
  return { scopes: declared ?? [], app }
}

/**
 * Refuses a key that does not allow what is needed.
 *
 * @throws KeyhookError `insufficient_scope`, `app_not_found`
 */
export function requireNeed({ authority }: VerifiedKey, { scopes, app }: Need): void {
  requireScopes(authority, scopes)
  if (app !== undefined && authority.pins !== 'all' && !holdsApp(authority.pins, app)) {
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

function requireScopes(
  { scopes }: VerifiedKey['authority'],
  required: readonly RequiredScope[],
): void {
  if (required.every((scope) => allows(scopes, scope))) return
  const missing = required.filter((scope) => !allows(scopes, scope))
  const names = missing.join(', ')
  throw kernelError('insufficient_scope', {
    message: `The key lacks the ${missing.length === 1 ? 'scope' : 'scopes'} ${names}.`,
    details: { required_scopes: required, missing_scopes: missing },
  })
}
