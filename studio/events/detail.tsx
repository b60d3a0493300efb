import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { api } from '../api/client.ts'
import { CopyLink } from '../parts/copy-link.tsx'
import { Copyable } from '../parts/copyable.tsx'
import { FullInstant } from '../parts/instant.tsx'
import { Json } from '../parts/json.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Empty, Facts, PageFrame, Section } from '../parts/page.tsx'
import type { ReadPage } from '../parts/pages.ts'
import { List } from '../parts/table.tsx'

const EVENTS = [{ name: 'Events', to: '/events' }]

export function Page() {
  const { eventId: event_id } = useParams({ from: '/inside/events/$eventId' })
  const query = useQuery({
    queryKey: ['events', 'get', event_id],
    queryFn: () => api.events.get({ event_id }),
  })
  return (
    <PageFrame
      title={query.data?.type ?? 'Event'}
      crumbs={EVENTS}
      actions={<CopyLink what="event" />}
    >
      <Loaded query={query}>
        {({ id, created_at, app_id, data }) => (
          <>
            <Facts
              of={[
                ['Id', <Copyable key="id" text={id} what="id" />],
                ['Published', <FullInstant key="created" at={created_at} />],
                ['App', app_id === null ? 'None' : <code key="app">{app_id}</code>],
              ]}
            />
            <Section title="Data">
              <Json label="Data" of={data} />
            </Section>
            <Section title="Who was notified, and who was not">
              <Notified event={id} />
            </Section>
          </>
        )}
      </Loaded>
    </PageFrame>
  )
}

type Explanation = Awaited<ReturnType<typeof api.events.explain>>['data'][number]

type Row = Explanation & { readonly id: string }

function explain(event_id: string): ReadPage<Row> {
  return async (query, options) => {
    const page = await api.events.explain({ event_id, ...query }, options)
    return { ...page, data: page.data.map((one) => ({ ...one, id: one.webhook_id })) }
  }
}

/** Each webhook with the reasons that the service gives. */
function Notified({ event }: { readonly event: string }) {
  return (
    <List<Row>
      label="Webhooks"
      queryKey={['events', 'explain', event]}
      read={explain(event)}
      columns={[
        {
          name: 'Webhook',
          cell: ({ webhook_id, url, delivery }) =>
            delivery === null ? (
              <Link
                to="/webhooks/$webhookId"
                params={{ webhookId: webhook_id }}
                className="row-link"
              >
                {url}
              </Link>
            ) : (
              <Link
                to="/webhooks/$webhookId/deliveries/$deliveryId"
                params={{ webhookId: webhook_id, deliveryId: delivery.id }}
                className="row-link"
              >
                {url}
              </Link>
            ),
        },
        {
          name: 'Why',
          cell: ({ reasons }) =>
            reasons.map(({ code, message }) => <div key={code}>{message}</div>),
        },
      ]}
      empty={<Empty>There is no webhook that could receive it.</Empty>}
    />
  )
}
