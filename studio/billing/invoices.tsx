import type { Invoice } from '../api/client.ts'
import { api } from '../api/client.ts'
import { FullInstant, Instant } from '../parts/instant.tsx'
import { Empty, PageFrame } from '../parts/page.tsx'
import { State } from '../parts/state.tsx'
import type { Column } from '../parts/table.tsx'
import { List } from '../parts/table.tsx'
import { amountOf } from './money.ts'
import { isWebAddress } from './processor.ts'

const BILLING = [{ name: 'Billing', to: '/billing' }]

const COLUMNS: readonly Column<Invoice>[] = [
  {
    name: 'Invoice',
    cell: ({ id, number, hosted_url: url }) =>
      isWebAddress(url) ? (
        <a href={url} target="_blank" rel="noreferrer" className="row-link">
          {number ?? id}
        </a>
      ) : (
        (number ?? id)
      ),
  },
  { name: 'State', cell: ({ status }) => <State of={`invoice ${status}`} /> },
  {
    name: 'Amount',
    cell: ({ amount_due_micros: due, currency }) => (
      <span className="number">{amountOf(due, currency)}</span>
    ),
  },
  {
    name: 'For',
    wide: true,
    cell: ({ period }) =>
      period !== null && (
        <>
          Until <FullInstant at={period.end} />
        </>
      ),
  },
  { name: 'Created', cell: ({ created_at }) => <Instant at={created_at} /> },
]

/** The invoices of the payment processor; each leads to its page there. */
export function Page() {
  return (
    <PageFrame title="Invoices" crumbs={BILLING}>
      <List
        label="Invoices"
        queryKey={['billing', 'invoices']}
        read={(query, options) => api.billing.invoices(query, options)}
        columns={COLUMNS}
        empty={<Empty>Invoices appear here once something was paid for.</Empty>}
      />
    </PageFrame>
  )
}
