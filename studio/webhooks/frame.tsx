import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useState } from 'react'
import type { Webhook } from '../api/client.ts'
import { api } from '../api/client.ts'
import { Loaded } from '../parts/loaded.tsx'
import { PageFrame } from '../parts/page.tsx'
import { State } from '../parts/state.tsx'
import { useReach } from '../shell/reach.ts'
import { stateOf } from './cause.ts'
import { Disable, Enable } from './enable.tsx'
import { RetryFailed } from './retry-failed.tsx'

const WEBHOOKS = [{ name: 'Webhooks', to: '/webhooks' }]

const TABS = [
  ['Overview', '/webhooks/$webhookId', 'webhooks:read'],
  ['Receiver code', '/webhooks/$webhookId/receiver', 'webhooks:read'],
  ['Settings', '/webhooks/$webhookId/settings', 'webhooks:write'],
] as const

/** A destination such as a queue has no receiver. */
function tabsOf(
  { type }: Webhook,
  may: (scope: string) => boolean,
): readonly (typeof TABS)[number][] {
  return TABS.filter(
    ([name, , scope]) => may(scope) && (type === 'https' || name !== 'Receiver code'),
  )
}

/** Title, state, actions and tabs of a webhook, around one of its pages. */
export function WebhookFrame({ children }: { readonly children: (webhook: Webhook) => ReactNode }) {
  const { webhookId: webhook_id = '' } = useParams({ strict: false })
  const query = useQuery({
    queryKey: ['webhooks', 'get', webhook_id],
    queryFn: () => api.webhooks.get({ webhook_id }),
    refetchInterval: 10_000,
  })
  const { may } = useReach()
  const [open, setOpen] = useState<'enable' | 'disable' | 'retry'>()
  const webhook = query.data
  const close = (): void => setOpen(undefined)
  return (
    <PageFrame
      title={webhook?.description ?? webhook?.url ?? 'Webhook'}
      crumbs={WEBHOOKS}
      state={webhook && <State of={stateOf(webhook)} />}
      actions={
        !may('webhooks:write') ? undefined : webhook?.status === 'disabled' ? (
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
      {webhook !== undefined && (
        <nav aria-label="Webhook" className="tabs">
          {tabsOf(webhook, may).map(([name, to]) => (
            <Link
              key={to}
              to={to}
              params={{ webhookId: webhook.id }}
              activeOptions={{ exact: true, includeSearch: false }}
            >
              {name}
            </Link>
          ))}
        </nav>
      )}
      <Loaded query={query}>{children}</Loaded>
      {webhook && open === 'enable' && (
        <Enable of={webhook} close={close} then={() => setOpen('retry')} />
      )}
      {webhook && open === 'disable' && <Disable of={webhook} close={close} />}
      {webhook && open === 'retry' && <RetryFailed of={webhook} close={close} />}
    </PageFrame>
  )
}
