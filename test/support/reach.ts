/**
 * What a credential can do, told by trying out every case of a small world: each family with each
 * action in each app. One name of each kind stands for those still unknown, so that a list of
 * everything known never passes for a wildcard. Written apart from the product's algebra, which it
 * judges.
 *
 * @module
 */
import { SPEC_SCOPES } from '../../lib/scope/syntax.ts'

/** What a key was given, as its record and its answers write it. */
export interface Given {
  readonly scopes: readonly string[]
  /** Null: every app. */
  readonly apps: readonly string[] | null
  /** Milliseconds; null: never. */
  readonly expires_at: number | null
}

export interface Reach {
  /** `family:action app` of every case that is allowed. */
  readonly cases: ReadonlySet<string>
  /** The first instant at which nothing is allowed any more. */
  readonly until: number
}

export const APPS = ['a1', 'a2', 'a3', 'a4'] as const

const EVERY_FAMILY: readonly string[] = [...Object.keys(SPEC_SCOPES), 'family_to_come']
const EVERY_ACTION: readonly string[] = ['read', 'write', 'action_to_come']
const EVERY_APP: readonly string[] = [...APPS, 'app_to_come']

/** What all links of a chain allow together: every one of them must allow a case by itself. */
export function reachOf(chain: readonly Given[]): Reach {
  const allowed = chain.map(casesOf)
  const cases = [...(allowed[0] ?? [])].filter((one) => allowed.every((link) => link.has(one)))
  return {
    cases: new Set(cases),
    until: Math.min(...chain.map(({ expires_at }) => expires_at ?? Infinity)),
  }
}

/** What the inner reach has beyond the outer one; nothing when it lies within. */
export function beyond(inner: Reach, outer: Reach): readonly string[] {
  const cases = [...inner.cases].filter((one) => !outer.cases.has(one))
  if (inner.cases.size === 0 || inner.until <= outer.until) return cases
  return [...cases, `until ${inner.until}`]
}

/** Whether a reach allows what needs the scope in some app of its own. */
export function allowsSomewhere({ cases }: Reach, scope: string): boolean {
  return EVERY_APP.some((app) => cases.has(`${scope} ${app}`))
}

/** Whether every one of these apps is one that the reach can do anything in. */
export function holdsApps({ cases }: Reach, apps: readonly string[] | null): boolean {
  const held = new Set([...cases].map((one) => one.slice(one.indexOf(' ') + 1)))
  return (apps ?? EVERY_APP).every((app) => held.has(app))
}

const known = new Map<string, ReadonlySet<string>>()

function casesOf({ scopes, apps }: Given): ReadonlySet<string> {
  const name = JSON.stringify([scopes, apps])
  const cases = known.get(name) ?? new Set(tryEveryCase(scopes, apps))
  known.set(name, cases)
  return cases
}

function tryEveryCase(scopes: Given['scopes'], apps: Given['apps']): string[] {
  const pairs = EVERY_FAMILY.flatMap((family) =>
    EVERY_ACTION.filter((action) => scopes.some((scope) => matches(scope, family, action))).map(
      (action) => `${family}:${action}`,
    ),
  )
  const places = EVERY_APP.filter((app) => apps === null || apps.includes(app))
  return pairs.flatMap((pair) => places.map((app) => `${pair} ${app}`))
}

function matches(scope: string, family: string, action: string): boolean {
  const [givenFamily, givenAction] = scope.split(':')
  return (
    (givenFamily === '*' || givenFamily === family) &&
    (givenAction === '*' || givenAction === action)
  )
}
