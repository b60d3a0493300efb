import { useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { Json } from '../parts/json.tsx'
import { Loaded } from '../parts/loaded.tsx'

/** What is sent of an event: every attempt sends the same bytes. */
export function Request({
  event: event_id,
  url,
}: {
  readonly event: string
  readonly url: string | undefined
}) {
  const query = useQuery({
    queryKey: ['events', 'get', event_id],
    queryFn: () => api.events.get({ event_id }),
  })
  return (
    <>
      <p>
        <code>POST {url ?? '…'}</code>
      </p>
      <Loaded query={query}>
        {({ id, type, created_at, data }) => (
          <Json label="Request body" of={{ id, type, created_at, data }} />
        )}
      </Loaded>
    </>
  )
}
