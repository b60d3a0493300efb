import type { FieldError } from '../errors.ts'
import { kernelError } from '../errors.ts'
import { suggest } from '../internal/nearest.ts'
import type { Scope, ScopeSet } from './canonical.ts'
import { canonical } from './canonical.ts'

export type { Scope, ScopeSet } from './canonical.ts'

/** The families known today, each with its actions. */
export type ScopeUniverse = ReadonlyMap<string, ReadonlySet<string>>

const READ_WRITE: readonly string[] = ['read', 'write']

/** The specification's families with their actions, and ours: `billing` and `events`. */
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

/** The most scopes that one list may name. */
export const MAX_SCOPES = 64

const NAME = /^[a-z][a-z0-9_]{0,31}$/

/**
 * Declares which families and actions exist; throws TypeError for a name that is not
 * `[a-z][a-z0-9_]{0,31}` and for a family without actions.
 *
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
 * Reads one scope of the closed grammar; undefined for whatever else, unknown names included.
 *
 * @example
 * parseScope('apps:*', universe) // 'apps:*'
 * parseScope('*:write', universe) // undefined: of the wildcards over families only reads exist
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
 * Reads 1 to 64 scopes into a canonical set; throws `invalid_scope`, whose `errors` name every bad
 * element as `location[index]` (`location` is `scopes` by default). An empty list is refused: it
 * must never come to mean everything.
 *
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

/** Longer than any scope can be, so that a hostile element is not echoed at length. */
const LONGEST_QUOTE = 65

function unknownScope(element: unknown, universe: ScopeUniverse): string {
  if (typeof element !== 'string' || element.length > LONGEST_QUOTE) {
    return 'This is not a scope of this service.'
  }
  const meant = suggest(element, scopesOf(universe, 'with wildcards'))
  return `${JSON.stringify(element)} is not a scope of this service.${meant}`
}

/**
 * Every scope of the universe: each `family:action`, and the wildcards where they are asked for.
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

/** The refusal of scopes, with every scope that there is: whoever is refused need not be able to look it up. */
export function invalidScope(errors: readonly FieldError[], universe: ScopeUniverse): Error {
  const scopes = scopesOf(universe, 'one action each')
  return kernelError('invalid_scope', { errors, details: { scopes } })
}
