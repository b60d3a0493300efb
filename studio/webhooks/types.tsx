import { Checkbox } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { Loaded } from '../parts/loaded.tsx'
import { Tokens } from '../parts/tokens.tsx'
import { useReach } from '../shell/reach.ts'

/** Names and descriptions of the event types that webhooks may name, by name. */
export const eventTypes = queryOptions({
  queryKey: ['events', 'list_types', 'names'],
  staleTime: 300_000,
  async queryFn() {
    const all = []
    for await (const one of api.events.listTypes.all({ limit: 100, fields: 'names' })) all.push(one)
    return all
  },
})

type EventType = Awaited<ReturnType<typeof api.events.listTypes>>['data'][number]

/** `order.*` for `order.paid`; what is not built in. */
function familiesOf(types: readonly EventType[]): readonly string[] {
  const names = types.flatMap(({ type, built_in }) => (built_in ? [] : [`${type.split('.')[0]}.*`]))
  return [...new Set(names)]
}

/** The event types that a webhook receives. */
export function EventTypes({
  chosen,
  choose,
}: {
  readonly chosen: readonly string[]
  readonly choose: (types: readonly string[]) => void
}) {
  const readsTypes = useReach().may('events:read')
  const query = useQuery({ ...eventTypes, enabled: readsTypes })
  const toggle = (type: string): void =>
    choose(chosen.includes(type) ? chosen.filter((one) => one !== type) : [...chosen, type])
  const isAll = chosen.includes('*')
  return (
    <fieldset>
      <legend>Event types</legend>
      {!readsTypes && (
        <Checkbox
          label="Every built-in type, also later ones"
          checked={isAll}
          onChange={() => toggle('*')}
        />
      )}
      {readsTypes && (
        <Loaded query={query}>
          {(types) => (
            <>
              {chosen.length > 0 && (
                <p className="chosen">
                  Chosen: <code>{chosen.join(', ')}</code>
                </p>
              )}
              <div className="types" tabIndex={0} role="group" aria-label="Event types">
                <Checkbox
                  label="Every built-in type, also later ones"
                  checked={isAll}
                  onChange={() => toggle('*')}
                />
                {types.map(({ type, built_in, description }) => (
                  <Checkbox
                    key={type}
                    label={<code>{type}</code>}
                    description={description}
                    checked={chosen.includes(type) || (isAll && built_in)}
                    disabled={isAll && built_in}
                    onChange={() => toggle(type)}
                  />
                ))}
              </div>
              <Tokens
                label="Families"
                description="order.* is every declared type that begins with order, also later ones."
                example="order.*"
                most={100}
                values={chosen.filter(
                  (one) => one !== '*' && !types.some(({ type }) => type === one),
                )}
                proposed={familiesOf(types).map((value) => ({ value }))}
                change={(others) =>
                  choose([
                    ...new Set([
                      ...chosen.filter(
                        (one) => one === '*' || types.some(({ type }) => type === one),
                      ),
                      ...others,
                    ]),
                  ])
                }
              />
            </>
          )}
        </Loaded>
      )}
    </fieldset>
  )
}
