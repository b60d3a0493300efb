import type { FieldError } from '../errors.ts'
import { kernelError } from '../errors.ts'
import { suggest } from '../internal/nearest.ts'
import type { Scope, ScopeSet } from './canonical.ts'
import { canonical } from './canonical.ts'

export type { Scope, ScopeSet } from './canonical.ts'

/** The declared families, each with its actions. */
export type ScopeUniverse = ReadonlyMap<string, ReadonlySet<string>>

const READ_WRITE: readonly string[] = ['read', 'write']

/** The families of the specification with their actions, and two of ours: `billing` and `events`. */
export const SPEC_SCOPES: Readonly<Record<string, readonly string[]>> = {
  apps: READ_WRITE,
  edits: READ_WRITE,
  files: READ_WRITE,
  deploy: READ_WRITE,
  settings: READ_WRITE,
  observe: ['read'],
  discovery: ['read'],
  keys: READ_WRITE,
  webhooks: READ_WRITE,
  billing: ['read'],
  events: READ_WRITE,
}

/** Maximum number of scopes in one list. */
export const MAX_SCOPES = 64

const NAME = /^[a-z][a-z0-9_]{0,31}$/

/**
 * Declares the families and actions that exist.
 *
 * @throws TypeError for a name that is not `[a-z][a-z0-9_]{0,31}`, or a family without actions
 * @example
 * const universe = createUniverse({ ...SPEC_SCOPES, invoices: ['read', 'send'] })
 */
export function createUniverse(
  declared: Readonly<Record<string, readonly string[]>>,
): ScopeUniverse {
  const families = Object.entries(declared)
  for (const [family, actions] of families) {
    if (actions.length === 0) throw new TypeError(`Scope family ${family} has no actions`)
    const bad = [family, ...actions].find((name) => !NAME.test(name))
    if (bad !== undefined) throw new TypeError(`${JSON.stringify(bad)} cannot name a scope`)
  }
  return new Map(families.map(([family, actions]) => [family, new Set(actions)]))
}

/**
 * Parses one scope; undefined for any other text, including unknown names.
 *
 * @example
 * parseScope('apps:*', universe) // 'apps:*'
 * parseScope('*:write', universe) // undefined: the only wildcards over families are *:read and *:*
 */
export function parseScope(text: unknown, universe: ScopeUniverse): Scope | undefined {
  if (typeof text !== 'string') return undefined
  const colon = text.indexOf(':')
  if (colon < 0) return undefined
  const family = text.slice(0, colon)
  const action = text.slice(colon + 1)
  const known =
    family === '*'
      ? action === '*' || action === 'read'
      : universe.get(family)?.has(action) === true || (action === '*' && universe.has(family))
  return known ? (text as Scope) : undefined
}

/**
 * Parses 1 to 64 scopes into a canonical set. An empty list is refused: it must not mean everything.
 *
 * @param location of the list, for errors. Default `scopes`.
 * @throws KeyhookError `invalid_scope`; its `errors` name every bad element as `location[index]`
 * @example
 * parseScopes(['keys:read', 'apps:read', 'apps:*'], universe) // ['apps:*', 'keys:read']
 */
export function parseScopes(
  list: readonly unknown[],
  universe: ScopeUniverse,
  location = 'scopes',
): ScopeSet {
  if (list.length === 0 || list.length > MAX_SCOPES) {
    throw invalidScope([scopeFault(location, `Name 1 to ${MAX_SCOPES} scopes.`)], universe)
  }
  const scopes: Scope[] = []
  const faults: FieldError[] = []
  for (const [index, element] of list.entries()) {
    const scope = parseScope(element, universe)
    if (scope === undefined)
      faults.push(scopeFault(`${location}[${index}]`, unknownScope(element, universe)))
    else scopes.push(scope)
  }
  if (faults.length > 0) throw invalidScope(faults, universe)
  return canonical(scopes)
}

/** Characters; longer than any scope. Bounds how much of a hostile element is echoed. */
const LONGEST_QUOTE = 65

function unknownScope(element: unknown, universe: ScopeUniverse): string {
  if (typeof element !== 'string' || element.length > LONGEST_QUOTE) {
    return 'This is not a scope of this service.'
  }
  const meant = suggest(element, scopesOf(universe, 'with wildcards'))
  return `${JSON.stringify(element)} is not a scope of this service.${meant}`
}

/**
 * Every scope of the universe: each `family:action`, with or without the wildcards.
 *
 * @example
 * scopesOf(universe, 'one action each') // ['apps:read', 'apps:write', …]
 */
export function scopesOf(
  universe: ScopeUniverse,
  which: 'one action each' | 'with wildcards',
): readonly string[] {
  const all = [...universe].flatMap(([family, actions]) => [
    ...Array.from(actions, (action) => `${family}:${action}`),
    ...(which === 'with wildcards' ? [`${family}:*`] : []),
  ])
  return which === 'with wildcards' ? [...all, '*:read', '*:*'] : all
}

function scopeFault(location: string, message: string): FieldError {
  return { location, code: 'invalid_scope', message }
}

/** The error `invalid_scope` with every known scope: the caller may not be able to look them up. */
export function invalidScope(errors: readonly FieldError[], universe: ScopeUniverse): Error {
  const scopes = scopesOf(universe, 'one action each')
  return kernelError('invalid_scope', { errors, details: { scopes } })
}
