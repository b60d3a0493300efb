import type { Scope, ScopeSet } from '../../lib/scope/canonical.ts'
import { canonical, printScopes } from '../../lib/scope/canonical.ts'
import { SPEC_SCOPES, createUniverse, parseScope } from '../../lib/scope/syntax.ts'

export const universe = createUniverse(SPEC_SCOPES)

export function scope(text: string): Scope {
  const parsed = parseScope(text, universe)
  if (parsed === undefined) throw new Error(`not in the grammar: ${text}`)
  return parsed
}

export const set = (...texts: readonly string[]): ScopeSet => canonical(texts.map(scope))

// The model: a scope is the set of points it matches, where one family and one action stand for
// all that later releases may add.
const FAMILIES = ['apps', 'keys', 'later_family']
const ACTIONS = ['read', 'write', 'later_action']
export const POINTS = FAMILIES.flatMap((family) => ACTIONS.map((action) => ({ family, action })))
export const GRAMMAR = [
  'apps:read',
  'apps:write',
  'apps:*',
  'keys:read',
  'keys:write',
  'keys:*',
  '*:read',
  '*:*',
].map(scope)

export function denotation(scopes: Iterable<string>): number {
  let mask = 0
  for (const text of scopes) {
    const [family, action] = text.split(':')
    for (const [bit, point] of POINTS.entries()) {
      const matches =
        (family === '*' || family === point.family) && (action === '*' || action === point.action)
      if (matches) mask |= 1 << bit
    }
  }
  return mask
}

/** Every subset of the grammar over two families and two actions, with what it denotes. */
export const SUBSETS = Array.from({ length: 2 ** GRAMMAR.length }, (_, bits) => {
  const scopes = GRAMMAR.filter((_scope, at) => (bits & (1 << at)) !== 0)
  const form = canonical(scopes)
  return {
    name: `[${printScopes(scopes)}]`,
    form,
    text: printScopes(form),
    mask: denotation(scopes),
  }
})

export const everyScope = [...universe].flatMap(([family, actions]) => [
  `${family}:*`,
  ...[...actions].map((action) => `${family}:${action}`),
])
