import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { Delivery } from '../api/client.ts'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import { Copyable } from '../parts/copyable.tsx'
import { FullInstant, Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Facts, PageFrame, Section } from '../parts/page.tsx'
import { Problem } from '../parts/problem.tsx'
import { State } from '../parts/state.tsx'
import { useReach } from '../shell/reach.ts'
import { AttemptView } from './attempt.tsx'
import { outcomeOf } from './cause.ts'
import { Request } from './request.tsx'

const ENDED: ReadonlySet<Delivery['status']> = new Set([
  'succeeded',
  'exhausted',
  'blocked',
  'skipped',
  'canceled',
])

export function Page() {
  const { webhookId: webhook_id, deliveryId: delivery_id } = useParams({
    from: '/inside/webhooks/$webhookId/deliveries/$deliveryId',
  })
  const webhook = useQuery({
    queryKey: ['webhooks', 'get', webhook_id],
    queryFn: () => api.webhooks.get({ webhook_id }),
  })
  const query = useQuery({
    queryKey: ['webhooks', 'get_delivery', delivery_id],
    queryFn: () => api.webhooks.getDelivery({ webhook_id, delivery_id }),
    // What is on its way is followed; what has ended stays.
    refetchInterval: ({ state }) =>
      state.data === undefined || ENDED.has(state.data.status) ? false : 5000,
  })
  const { may } = useReach()
  const retry = useAct(() => api.webhooks.retryDelivery({ webhook_id, delivery_id }))
  const delivery = query.data
  return (
    <PageFrame
      title={delivery?.event_type ?? 'Delivery'}
      crumbs={[
        { name: 'Webhooks', to: '/webhooks' },
        {
          name: webhook.data?.description ?? webhook.data?.url ?? 'Webhook',
          to: '/webhooks/$webhookId',
          params: { webhookId: webhook_id },
        },
      ]}
      state={delivery && <State of={delivery.status} />}
      actions={
        delivery &&
        may('webhooks:write') &&
        ENDED.has(delivery.status) && (
          <Button loading={retry.isPending} onClick={() => retry.mutate(undefined)}>
            Resend delivery
          </Button>
        )
      }
    >
      {retry.error !== null && <Problem error={retry.error} />}
      <Loaded query={query}>{(data) => <Detail of={data} url={webhook.data?.url} />}</Loaded>
    </PageFrame>
  )
}

function Detail({
  of: delivery,
  url,
}: {
  readonly of: Delivery
  readonly url: string | undefined
}) {
  const { isStudio } = useReach()
  const { id, event_id, attempts, next_attempt_at: next } = delivery
  return (
    <>
      <p className="cause" role="status">
        {outcomeOf(delivery)}
        {next !== null && (
          <>
            {' '}
            The next attempt is <Instant at={next} />.
          </>
        )}
      </p>
      <Facts
        of={[
          ['Id', <Copyable key="id" text={id} what="id" />],
          [
            'Event',
            isStudio ? (
              <Link key="event" to="/events/$eventId" params={{ eventId: event_id }}>
                {event_id}
              </Link>
            ) : (
              <Copyable key="event" text={event_id} what="event id" />
            ),
          ],
          ['Created', <FullInstant key="created" at={delivery.created_at} />],
        ]}
      />
      <div className="sides">
        <Section title="Attempts and responses">
          {attempts.length === 0 && <p className="quiet">No attempt was made.</p>}
          <ol className="timeline" aria-label="Attempts">
            {attempts.toReversed().map((attempt) => (
              <li key={attempt.number}>
                <AttemptView of={attempt} />
              </li>
            ))}
          </ol>
        </Section>
        <Section title="Request">
          <Request event={event_id} url={url} />
        </Section>
      </div>
    </>
  )
}
