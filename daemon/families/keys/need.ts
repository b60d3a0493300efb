import { KeyhookError, kernelError } from '../../../lib/errors.ts'
import { suggest } from '../../../lib/internal/nearest.ts'
import type { VerifiedKey } from '../../../lib/engine/verifier.ts'
import { holdsApp } from '../../../lib/grant/authority.ts'
import type { RequiredScope } from '../../../lib/scope/cover.ts'
import { allows, requiredScope } from '../../../lib/scope/cover.ts'
import type { ScopeUniverse } from '../../../lib/scope/syntax.ts'
import { invalidScope, scopesOf } from '../../../lib/scope/syntax.ts'

/**
 * What a key must allow: a scope, all of several scopes, an app within its pins, or a combination. `{
 * scope: null }` requires nothing.
 */
export type Requirement<Scope extends string = string> =
  | { readonly scope: Scope | null; readonly scopes?: never; readonly app?: string }
  | {
      /** All of them are required. */
      readonly scopes: readonly [Scope, ...(readonly Scope[])]
      readonly scope?: never
      readonly app?: string
    }
  | { readonly app: string; readonly scope?: never; readonly scopes?: never }

/** What a caller's key must allow, from a requirement or a request. */
export interface Need {
  /** All of them are required. */
  readonly scopes: readonly RequiredScope[]
  /** An app that its pins must include. */
  readonly app?: string | undefined
}

/**
 * Refuses a key without the required authority.
 *
 * @throws KeyhookError `insufficient_scope`, `app_not_found`
 */
export function requireNeed({ authority }: VerifiedKey, { scopes, app }: Need): void {
  requireScopes(authority, scopes)
  if (app !== undefined && authority.pins !== 'all' && !holdsApp(authority.pins, app)) {
    throw kernelError('app_not_found')
  }
}

/**
 * Checks that a scope can be required.
 *
 * @throws KeyhookError `invalid_scope`, a mistake of the caller, whatever the key
 */
export function requireDeclared(
  scope: string,
  universe: ScopeUniverse,
  location: string,
): RequiredScope {
  if (isDeclared(scope, universe)) return requiredScope(scope, universe)
  const message = undeclaredScope(scope, universe)
  throw invalidScope([{ location, code: 'invalid_scope', message }], universe)
}

/** Whether it is one family:action of this service, without wildcards. */
export function isDeclared(scope: string, universe: ScopeUniverse): boolean {
  const [family = '', action = '', ...more] = scope.split(':')
  return more.length === 0 && universe.get(family)?.has(action) === true
}

/** Error of a required scope that is not declared, with a suggestion. */
export function undeclaredScope(scope: string, universe: ScopeUniverse): string {
  const meant = suggest(scope, scopesOf(universe, 'one action each'))
  return `${JSON.stringify(scope)} is not one family:action of this service.${meant}`
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

/** A whole `Authorization` header is not a key: the error says what to pass. */
export function explainInvalid(cause: unknown, token: string): unknown {
  const isInvalid = cause instanceof KeyhookError && cause.code === 'invalid_key'
  if (!isInvalid || !/^bearer\s/i.test(token)) return cause
  return kernelError('invalid_key', {
    message: 'This is no valid key: pass the token alone, without "Bearer" before it.',
  })
}
