import { Link, useSearch } from '@tanstack/react-router'
import type { Delivery } from '../api/client.ts'
import { api } from '../api/client.ts'
import { Filters } from '../parts/filters.tsx'
import { Instant } from '../parts/instant.tsx'
import { Empty } from '../parts/page.tsx'
import { FIRST_EVENT } from '../parts/shell.ts'
import { State } from '../parts/state.tsx'
import type { Column } from '../parts/table.tsx'
import { List } from '../parts/table.tsx'
import { reasonOf } from './cause.ts'

const STATES = [
  ['', 'Any outcome'],
  ['succeeded', 'Delivered'],
  ['pending', 'Waiting'],
  ['delivering', 'Being sent'],
  ['exhausted', 'Failed'],
  ['blocked', 'Refused address'],
  ['skipped', 'Skipped'],
  ['canceled', 'Canceled'],
] as const

const COLUMNS: readonly Column<Delivery>[] = [
  {
    name: 'Event',
    cell: ({ id, webhook_id, event_type, event_id }) => (
      <>
        <Link
          to="/webhooks/$webhookId/deliveries/$deliveryId"
          params={{ webhookId: webhook_id, deliveryId: id }}
          className="row-link"
        >
          {event_type}
        </Link>
        <code className="quiet below">{event_id}</code>
      </>
    ),
  },
  { name: 'Outcome', cell: ({ status }) => <State of={status} /> },
  { name: 'Cause', wide: true, cell: (delivery) => reasonOf(delivery) },
  { name: 'Attempts', wide: true, cell: ({ attempt_count }) => attempt_count },
  { name: 'Created', wide: true, cell: ({ created_at }) => <Instant at={created_at} /> },
]

/** The deliveries of a webhook; the service filters, and the filters are in the address. */
export function Deliveries({ webhook: webhook_id }: { readonly webhook: string }) {
  const { status, type, event } = useSearch({ from: '/inside/webhooks/$webhookId' })
  const state = STATES.find(([value]) => value !== '' && value === status)?.[0]
  const filters = {
    ...(state === undefined || state === '' ? {} : { status: state }),
    ...(type === undefined ? {} : { event_type: type }),
    ...(event === undefined ? {} : { event_id: event }),
  }
  const isFiltered = Object.keys(filters).length > 0
  return (
    <>
      <Filters
        of={[
          { name: 'status', label: 'Outcome', choices: STATES },
          { name: 'type', label: 'Event type', example: 'order.paid' },
          { name: 'event', label: 'Event id', example: 'evt_…' },
        ]}
      />
      <List
        label="Deliveries"
        queryKey={['webhooks', 'list_deliveries', webhook_id, filters]}
        read={(query, options) =>
          api.webhooks.listDeliveries({ webhook_id, ...filters, ...query }, options)
        }
        columns={COLUMNS}
        every={10_000}
        empty={
          isFiltered ? (
            <Empty>No delivery matches these filters.</Empty>
          ) : (
            <Empty command={FIRST_EVENT}>
              Deliveries appear here as soon as an event of one of its types is published.
            </Empty>
          )
        }
      />
    </>
  )
}
