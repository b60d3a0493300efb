import { Button, TextInput } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import type { SubmitEvent } from 'react'
import { useState } from 'react'
import type { EventRecord } from '../api/client.ts'
import { api } from '../api/client.ts'
import { Instant } from '../parts/instant.tsx'
import { PageFrame } from '../parts/page.tsx'
import type { Column } from '../parts/table.tsx'
import { List } from '../parts/table.tsx'
import { Nothing } from './nothing.tsx'
import { queryOf, useEventSearch } from './search-of.ts'
import { SearchEvents } from './search.tsx'

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
  const search = useEventSearch()
  const filters = queryOf(search)
  // Nothing is added to what is over.
  const isOver = search.until !== undefined && Date.parse(search.until) < Date.now()
  return (
    <PageFrame title="Events" actions={<FindById />}>
      <SearchEvents />
      <List
        label="Events"
        queryKey={['events', 'list', filters]}
        read={(query, options) => api.events.list({ ...filters, ...query }, options)}
        columns={COLUMNS}
        every={isOver ? undefined : 10_000}
        empty={<Nothing of={search} />}
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
