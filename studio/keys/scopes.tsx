import { Checkbox } from '@mantine/core'
import { covers, useReach } from '../shell/reach.ts'

/** Purposes that many keys have, as sets of scopes. */
export const PRESETS: readonly (readonly [name: string, scopes: readonly string[]])[] = [
  ['Read everything', ['*:read']],
  ['Publish events', ['events:write']],
  ['Manage webhooks', ['webhooks:*', 'events:read']],
  ['Deploy apps', ['apps:read', 'deploy:*']],
  ['Full access', ['*:*']],
]

/** Actions by family, in the order of the service. */
function familiesOf(scopes: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const families = new Map<string, string[]>()
  for (const scope of scopes) {
    const [family = '', action = ''] = scope.split(':')
    families.set(family, [...(families.get(family) ?? []), action])
  }
  return families
}

/** The tree of scopes: families, and the actions of each. What a wider scope grants is checked and fixed. */
export function ScopeTree({
  all,
  chosen,
  choose,
}: {
  /** Every scope of the service. */
  readonly all: readonly string[]
  readonly chosen: ReadonlySet<string>
  readonly choose: (scopes: ReadonlySet<string>) => void
}) {
  const { may } = useReach()
  const toggle = (scope: string, within: readonly string[] = []): void => {
    const next = new Set(chosen)
    if (next.delete(scope)) return choose(next)
    for (const one of within) next.delete(one)
    choose(next.add(scope))
  }
  return (
    <fieldset className="scopes">
      <legend>Scopes</legend>
      {[...familiesOf(all)].map(([family, actions]) => {
        const whole = `${family}:*`
        const single = actions.map((action) => `${family}:${action}`)
        return (
          <div key={family} role="group" aria-label={family} className="scope-family">
            {/* Who may not give actions of later releases gives each by itself. */}
            {may(whole) ? (
              <Checkbox
                label={<code>{family}</code>}
                aria-label={`${family}: every action`}
                checked={covers(chosen, whole)}
                disabled={chosen.has('*:*')}
                indeterminate={!covers(chosen, whole) && single.some((one) => covers(chosen, one))}
                onChange={() => toggle(whole, single)}
              />
            ) : (
              <code>{family}</code>
            )}
            {single.map((scope, at) => (
              <Checkbox
                key={scope}
                label={actions[at]}
                aria-label={scope}
                checked={covers(chosen, scope)}
                disabled={covers(chosen, scope) && !chosen.has(scope)}
                onChange={() => toggle(scope)}
              />
            ))}
          </div>
        )
      })}
    </fieldset>
  )
}
