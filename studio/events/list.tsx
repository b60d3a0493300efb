import { Button, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { SubmitEvent } from 'react'
import { useState } from 'react'
import type { EventRecord } from '../api/client.ts'
import { api } from '../api/client.ts'
import { Filters } from '../parts/filters.tsx'
import { Instant } from '../parts/instant.tsx'
import { PageFrame } from '../parts/page.tsx'
import type { Column } from '../parts/table.tsx'
import { List } from '../parts/table.tsx'
import { eventTypes } from '../webhooks/types.tsx'
import { Nothing } from './nothing.tsx'

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

const ORDERS = [
  ['', 'Newest first'],
  ['asc', 'Oldest first'],
] as const

export function Page() {
  const { type, order } = useSearch({ from: '/inside/events' })
  const types = useQuery(eventTypes).data ?? []
  const filters = {
    ...(type === undefined ? {} : { type }),
    ...(order === 'asc' ? ({ order } as const) : {}),
  }
  return (
    <PageFrame title="Events" actions={<FindById />}>
      <Filters
        of={[
          {
            name: 'type',
            label: 'Type',
            example: 'order.paid',
            proposed: types.map((one) => one.type),
          },
          { name: 'order', label: 'Order', choices: ORDERS },
        ]}
      />
      <p role="status" className="matched">
        {type === undefined ? (
          'Events of every type'
        ) : (
          <>
            Events of the type <code>{type}</code>
          </>
        )}
        {order === 'asc' ? ', oldest first.' : ', newest first.'}{' '}
        {Object.keys(filters).length > 0 && <Link to="/events">Clear filters</Link>}
      </p>
      <List
        label="Events"
        queryKey={['events', 'list', filters]}
        read={(cursor) =>
          api.events.list({
            limit: 50,
            ...filters,
            ...(cursor === undefined ? {} : { cursor }),
          })
        }
        columns={COLUMNS}
        every={10_000}
        empty={<Nothing type={type} />}
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
