import { useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { Json } from '../parts/json.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { useReach } from '../shell/reach.ts'

/** What is sent of an event: every attempt sends the same bytes. */
export function Request({
  event,
  url,
}: {
  readonly event: string
  readonly url: string | undefined
}) {
  const { may } = useReach()
  return (
    <>
      <p>
        <code>POST {url ?? '…'}</code>
      </p>
      {may('events:read') ? (
        <Body of={event} />
      ) : (
        <p className="quiet">This session may not read what was sent.</p>
      )}
    </>
  )
}

function Body({ of: event_id }: { readonly of: string }) {
  const query = useQuery({
    queryKey: ['events', 'get', event_id],
    queryFn: () => api.events.get({ event_id }),
  })
  return (
    <Loaded query={query}>
      {({ id, type, created_at, data }) => (
        <Json label="Request body" of={{ id, type, created_at, data }} />
      )}
    </Loaded>
  )
}
