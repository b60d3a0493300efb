import { Button } from '@mantine/core'
import { Link, useSearch } from '@tanstack/react-router'
import type { Key } from '../api/client.ts'
import { api } from '../api/client.ts'
import { Icon } from '../parts/icon.tsx'
import { Instant } from '../parts/instant.tsx'
import { Empty, PageFrame } from '../parts/page.tsx'
import { Filters } from '../parts/filters.tsx'
import { useReach } from '../shell/reach.ts'
import { State } from '../parts/state.tsx'
import type { Column } from '../parts/table.tsx'
import { List } from '../parts/table.tsx'

const COLUMNS: readonly Column<Key>[] = [
  {
    name: 'Name',
    cell: ({ id, name, prefix }) => (
      <>
        <Link to="/keys/$keyId" params={{ keyId: id }} className="row-link">
          {name}
        </Link>
        <code className="quiet below">{prefix}…</code>
      </>
    ),
  },
  { name: 'State', cell: ({ status }) => <State of={status} /> },
  { name: 'Scopes', wide: true, cell: ({ scopes }) => <code>{scopes.join(', ')}</code> },
  {
    name: 'Last used',
    wide: true,
    cell: ({ last_used_at: at }) => (at === null ? 'Never' : <Instant at={at} />),
  },
  {
    name: 'Expires',
    wide: true,
    cell: ({ expires_at: at }) => (at === null ? 'Never' : <Instant at={at} />),
  },
]

export function Page() {
  const { status } = useSearch({ from: '/inside/keys' })
  const shown = status === 'all' ? 'all' : 'live'
  const mayCreate = useReach().may('keys:write')
  return (
    <PageFrame
      title="Keys"
      actions={
        mayCreate && (
          <Button component={Link} to="/keys/new" leftSection={<Icon name="add" />}>
            Create key
          </Button>
        )
      }
    >
      <Filters
        of={[
          {
            name: 'status',
            label: 'Show',
            choices: [
              ['', 'Live keys'],
              ['all', 'All keys'],
            ],
          },
        ]}
      />
      <List
        label="Keys"
        queryKey={['keys', 'list', shown]}
        read={(query, options) => api.keys.list({ status: shown, ...query }, options)}
        columns={COLUMNS}
        empty={
          <Empty
            action={
              mayCreate && (
                <Button component={Link} to="/keys/new">
                  Create key
                </Button>
              )
            }
            command="keyhook key create --name first --scopes apps:read"
          >
            Keys let programs use the API with exactly the scopes you choose.
          </Empty>
        }
      />
    </PageFrame>
  )
}
