import { useQuery } from '@tanstack/react-query'
import type { Webhook } from '../api/client.ts'
import { api } from '../api/client.ts'
import { Copyable } from '../parts/copyable.tsx'
import { FullInstant, Instant } from '../parts/instant.tsx'
import { Facts, Section } from '../parts/page.tsx'
import { useReach } from '../shell/reach.ts'
import { causeOf } from './cause.ts'
import { Deliveries } from './deliveries.tsx'
import { WebhookFrame } from './frame.tsx'
import { SigningSecret } from './rotate.tsx'
import { SendTest } from './send-test.tsx'

export function Page() {
  return <WebhookFrame>{(webhook) => <Detail of={webhook} />}</WebhookFrame>
}

function Detail({ of: webhook }: { readonly of: Webhook }) {
  const { may } = useReach()
  const latest = useQuery({
    queryKey: ['webhooks', 'list_deliveries', webhook.id, 'latest'],
    queryFn: () => api.webhooks.listDeliveries({ webhook_id: webhook.id, limit: 20 }),
    refetchInterval: 10_000,
  })
  const failed = latest.data?.data.find(({ error }) => error !== null)
  const { first_failure_at: since, last_success_at: success } = webhook
  return (
    <>
      <p className="cause">
        {causeOf(webhook, failed)}
        {since !== null && (
          <>
            {' '}
            It has failed since <FullInstant at={since} />.
          </>
        )}
      </p>
      <Facts
        of={[
          ['Address', <Copyable key="url" text={webhook.url} what="address" />],
          ['Id', <Copyable key="id" text={webhook.id} what="id" />],
          ['Types', <code key="types">{webhook.events.join(', ')}</code>],
          ['Last success', success === null ? 'None yet' : <Instant key="success" at={success} />],
          ['Signing secret', <SigningSecret key="secret" of={webhook} />],
        ]}
      />
      {may('webhooks:write') && (
        <Section title="Test">
          <SendTest of={webhook} />
        </Section>
      )}
      <Section title="Deliveries">
        <Deliveries webhook={webhook.id} />
      </Section>
    </>
  )
}
