import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { Delivery, Webhook } from '../api/client.ts'
import { api } from '../api/client.ts'
import { Copyable } from '../parts/copyable.tsx'
import { FullInstant, Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Facts, PageFrame, Section } from '../parts/page.tsx'
import { State } from '../parts/state.tsx'
import { causeOf, stateOf } from './cause.ts'
import { Deliveries } from './deliveries.tsx'
import { Disable, Enable } from './enable.tsx'
import { RetryFailed } from './retry-failed.tsx'
import { SendTest } from './send-test.tsx'

const WEBHOOKS = [{ name: 'Webhooks', to: '/webhooks' }]

export function Page() {
  const { webhookId: webhook_id } = useParams({ from: '/inside/webhooks/$webhookId' })
  const query = useQuery({
    queryKey: ['webhooks', 'get', webhook_id],
    queryFn: () => api.webhooks.get({ webhook_id }),
    refetchInterval: 10_000,
  })
  const latest = useQuery({
    queryKey: ['webhooks', 'list_deliveries', webhook_id, 'latest'],
    queryFn: () => api.webhooks.listDeliveries({ webhook_id, limit: 20 }),
    refetchInterval: 10_000,
  })
  const [open, setOpen] = useState<'enable' | 'disable' | 'retry'>()
  const webhook = query.data
  const close = (): void => setOpen(undefined)
  return (
    <PageFrame
      title={webhook?.description ?? webhook?.url ?? 'Webhook'}
      crumbs={WEBHOOKS}
      state={webhook && <State of={stateOf(webhook)} />}
      actions={
        webhook?.status === 'disabled' ? (
          <Button onClick={() => setOpen('enable')}>Enable…</Button>
        ) : (
          webhook && (
            <>
              <Button onClick={() => setOpen('retry')}>Retry failed…</Button>
              <Button variant="default" onClick={() => setOpen('disable')}>
                Disable…
              </Button>
            </>
          )
        )
      }
    >
      <Loaded query={query}>
        {(data) => (
          <Detail of={data} latest={latest.data?.data.find(({ error }) => error !== null)} />
        )}
      </Loaded>
      {webhook && open === 'enable' && (
        <Enable of={webhook} close={close} then={() => setOpen('retry')} />
      )}
      {webhook && open === 'disable' && <Disable of={webhook} close={close} />}
      {webhook && open === 'retry' && <RetryFailed of={webhook} close={close} />}
    </PageFrame>
  )
}

function Detail({
  of: webhook,
  latest,
}: {
  readonly of: Webhook
  readonly latest: Delivery | undefined
}) {
  const { first_failure_at: since, last_success_at: success } = webhook
  return (
    <>
      <p className="cause">
        {causeOf(webhook, latest)}
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
          ['Signing secret', <code key="secret">{webhook.secret_prefix}</code>],
        ]}
      />
      <Section title="Test">
        <SendTest webhook={webhook.id} />
      </Section>
      <Section title="Deliveries">
        <Deliveries webhook={webhook.id} />
      </Section>
    </>
  )
}
