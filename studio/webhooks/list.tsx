import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Webhook } from '../api/client.ts'
import { api } from '../api/client.ts'
import { Icon } from '../parts/icon.tsx'
import { Instant } from '../parts/instant.tsx'
import { Empty, PageFrame } from '../parts/page.tsx'
import { State } from '../parts/state.tsx'
import { useReach } from '../shell/reach.ts'
import type { Column } from '../parts/table.tsx'
import { List } from '../parts/table.tsx'
import { stateOf } from './cause.ts'

const COLUMNS: readonly Column<Webhook>[] = [
  {
    name: 'Receiver',
    cell: ({ id, url, description }) => (
      <>
        <Link to="/webhooks/$webhookId" params={{ webhookId: id }} className="row-link">
          {description ?? hostOf(url)}
        </Link>
        <span className="quiet below">{url}</span>
      </>
    ),
  },
  { name: 'State', cell: (webhook) => <State of={stateOf(webhook)} /> },
  { name: 'Types', wide: true, cell: ({ events }) => <code>{events.join(', ')}</code> },
  {
    name: 'Last delivery',
    wide: true,
    cell: ({ last_delivery_at: at }) => (at === null ? 'None yet' : <Instant at={at} />),
  },
]

function hostOf(url: string): string {
  return URL.canParse(url) && url.startsWith('http') ? new URL(url).host : url
}

export function Page() {
  const mayCreate = useReach().may('webhooks:write')
  return (
    <PageFrame
      title="Webhooks"
      actions={
        mayCreate && (
          <Button component={Link} to="/webhooks/new" leftSection={<Icon name="add" />}>
            Add webhook
          </Button>
        )
      }
    >
      <List
        label="Webhooks"
        queryKey={['webhooks', 'list']}
        read={(query, options) => api.webhooks.list(query, options)}
        columns={COLUMNS}
        every={10_000}
        empty={
          <Empty
            action={
              mayCreate && (
                <Button component={Link} to="/webhooks/new">
                  Add webhook
                </Button>
              )
            }
            command="keyhook webhook create --url https://example.com/in --events '*'"
          >
            A webhook sends events to an address of yours, signed and retried.
          </Empty>
        }
      />
    </PageFrame>
  )
}
