import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { App } from '../api/client.ts'
import { api } from '../api/client.ts'
import { Icon } from '../parts/icon.tsx'
import { Instant } from '../parts/instant.tsx'
import { Empty, PageFrame } from '../parts/page.tsx'
import { State } from '../parts/state.tsx'
import type { Column } from '../parts/table.tsx'
import { List } from '../parts/table.tsx'
import { stateOf } from './app.ts'

const COLUMNS: readonly Column<App>[] = [
  {
    name: 'Name',
    cell: ({ id, name, production_url: url }) => (
      <>
        <Link to="/apps/$appId" params={{ appId: id }} className="row-link">
          {name}
        </Link>
        <span className="quiet below">{url ?? 'No address: apps are not served here'}</span>
      </>
    ),
  },
  { name: 'State', cell: (app) => <State of={stateOf(app)} /> },
  { name: 'Revision', wide: true, cell: ({ current_revision: number }) => number ?? 'None yet' },
  { name: 'Changed', wide: true, cell: ({ updated_at }) => <Instant at={updated_at} /> },
]

export function Page() {
  return (
    <PageFrame
      title="Apps"
      actions={
        <Button component={Link} to="/apps/new" leftSection={<Icon name="add" />}>
          Create app
        </Button>
      }
    >
      <List
        label="Apps"
        queryKey={['apps', 'list']}
        read={(query, options) => api.apps.list(query, options)}
        columns={COLUMNS}
        every={10_000}
        empty={
          <Empty
            action={
              <Button component={Link} to="/apps/new">
                Create app
              </Button>
            }
            command="keyhook app create --template-id landing"
          >
            An app is a small website: made from a template or a prompt, changed here, and published
            at its own address.
          </Empty>
        }
      />
    </PageFrame>
  )
}
