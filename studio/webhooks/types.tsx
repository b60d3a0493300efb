import { Checkbox } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { Loaded } from '../parts/loaded.tsx'
import { useReach } from '../shell/reach.ts'

/** Every event type that webhooks may name, by name. */
export const eventTypes = queryOptions({
  queryKey: ['events', 'list_types'],
  // Each has a schema and a sample, which are large: no change of focus reads them again.
  staleTime: 300_000,
  async queryFn() {
    const all = []
    for await (const one of api.events.listTypes.all({ limit: 100 })) all.push(one)
    return all
  },
})

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
          )}
        </Loaded>
      )}
    </fieldset>
  )
}
