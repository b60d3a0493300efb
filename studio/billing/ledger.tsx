import { Link, useSearch } from '@tanstack/react-router'
import type { LedgerLine } from '../api/client.ts'
import { api } from '../api/client.ts'
import { Filters } from '../parts/filters.tsx'
import { Instant } from '../parts/instant.tsx'
import { Empty, PageFrame } from '../parts/page.tsx'
import type { Column } from '../parts/table.tsx'
import { List } from '../parts/table.tsx'
import { amountOf } from './money.ts'

const BILLING = [{ name: 'Billing', to: '/billing' }]

const KINDS = [
  ['', 'All transactions'],
  ['hold', 'Holds'],
  ['capture', 'Charges'],
  ['release', 'Released holds'],
  ['topup', 'Top-ups'],
  ['monthly_credit', 'Monthly credit'],
  ['grant', 'Granted credit'],
  ['expiry', 'Expired credit'],
] as const

/** The page of an app where what an operation made is found. */
const MADE_AT: Readonly<Record<string, string>> = {
  'apps.create': '/apps/$appId',
  'edits.create': '/apps/$appId',
  'files.upload': '/apps/$appId/knowledge',
}

const COLUMNS: readonly Column<LedgerLine>[] = [
  { name: 'Transaction', cell: (line) => <What of={line} /> },
  {
    name: 'Amount',
    cell: ({ amount_micros }) => <span className="number">{amountOf(amount_micros, null)}</span>,
  },
  {
    name: 'Held',
    wide: true,
    cell: ({ held_micros }) => <span className="number">{amountOf(held_micros, null)}</span>,
  },
  {
    name: 'Can be spent after',
    wide: true,
    cell: ({ available_after_micros: left }) => (
      <span className="number">{amountOf(left, null)}</span>
    ),
  },
  { name: 'When', cell: ({ created_at }) => <Instant at={created_at} /> },
]

function What({ of: { description, operation, app_id, kind } }: { readonly of: LedgerLine }) {
  const to = MADE_AT[operation ?? '']
  return (
    <>
      {app_id !== null && to !== undefined ? (
        <Link to={to} params={{ appId: app_id }} className="row-link">
          {description}
        </Link>
      ) : (
        description
      )}
      <span className="quiet below">{operation ?? kind}</span>
    </>
  )
}

/** Every transaction of the account; each leads to what it paid for. */
export function Page() {
  const { kind, app } = useSearch({ from: '/inside/billing/ledger' })
  const known = KINDS.find(([value]) => value !== '' && value === kind)?.[0]
  const filters = {
    ...(known === undefined || known === '' ? {} : { kind: known }),
    ...(app === undefined ? {} : { app_id: app }),
  }
  return (
    <PageFrame title="Ledger" crumbs={BILLING}>
      <Filters
        of={[
          { name: 'kind', label: 'Show', choices: KINDS },
          { name: 'app', label: 'App id', example: 'k3v9q2m7x4ta' },
        ]}
      />
      <List
        label="Transactions"
        queryKey={['billing', 'ledger', filters]}
        read={(query, options) => api.billing.ledger({ ...filters, ...query }, options)}
        columns={COLUMNS}
        empty={<Empty>Holds, charges and credit appear here.</Empty>}
      />
    </PageFrame>
  )
}
