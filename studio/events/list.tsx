import { Button, TextInput } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { SubmitEvent } from 'react'
import { useState } from 'react'
import type { EventRecord } from '../api/client.ts'
import { api } from '../api/client.ts'
import { Filters } from '../parts/filters.tsx'
import { Instant } from '../parts/instant.tsx'
import { Empty, PageFrame } from '../parts/page.tsx'
import { FIRST_EVENT } from '../parts/shell.ts'
import type { Column } from '../parts/table.tsx'
import { List } from '../parts/table.tsx'

const COLUMNS: readonly Column<EventRecord>[] = [
  {
    name: 'Type',
    cell: ({ id, type }) => (
      <>
        <Link to="/events/$eventId" params={{ eventId: id }} className="row-link">
          {type}
        </Link>
        <code className="quiet below">{id}</code>
      </>
    ),
  },
  {
    name: 'Data',
    wide: true,
    cell: ({ data }) => <code className="clipped">{JSON.stringify(data)}</code>,
  },
  { name: 'Published', cell: ({ created_at }) => <Instant at={created_at} /> },
]

export function Page() {
  const { type } = useSearch({ from: '/inside/events' })
  return (
    <PageFrame title="Events" actions={<FindById />}>
      <Filters of={[{ name: 'type', label: 'Type', example: 'order.paid' }]} />
      <List
        label="Events"
        queryKey={['events', 'list', type]}
        read={(cursor) =>
          api.events.list({
            limit: 50,
            ...(type === undefined ? {} : { type }),
            ...(cursor === undefined ? {} : { cursor }),
          })
        }
        columns={COLUMNS}
        every={10_000}
        empty={
          type === undefined ? (
            <Empty command={FIRST_EVENT}>
              Everything that happens is here, newest first, and who was notified of it.
            </Empty>
          ) : (
            <Empty>
              No event of the type <code>{type}</code> is kept.
            </Empty>
          )
        }
      />
    </PageFrame>
  )
}

function FindById() {
  const [id, setId] = useState('')
  const navigate = useNavigate()
  return (
    <form
      className="find"
      onSubmit={(event: SubmitEvent) => {
        event.preventDefault()
        void navigate({ to: '/events/$eventId', params: { eventId: id.trim() } })
      }}
    >
      <TextInput
        aria-label="Event id"
        placeholder="evt_…"
        required
        value={id}
        onChange={(event) => setId(event.currentTarget.value)}
      />
      <Button type="submit" variant="default">
        Find
      </Button>
    </form>
  )
}
