import { Link } from '@tanstack/react-router'
import type { Account } from '../api/client.ts'
import { operatorApi } from '../api/client.ts'
import { Instant } from '../parts/instant.tsx'
import { Empty, PageFrame } from '../parts/page.tsx'
import { State } from '../parts/state.tsx'
import type { Column } from '../parts/table.tsx'
import { List } from '../parts/table.tsx'

const COLUMNS: readonly Column<Account>[] = [
  {
    name: 'Account',
    cell: ({ id, name }) => (
      <>
        <Link to="/operator/accounts/$accountId" params={{ accountId: id }} className="row-link">
          {name}
        </Link>
        <code className="quiet below">{id}</code>
      </>
    ),
  },
  { name: 'Plan', cell: ({ plan }) => plan },
  {
    name: 'State',
    cell: ({ suspended_at }) => <State of={suspended_at === null ? 'active' : 'suspended'} />,
  },
  { name: 'Created', wide: true, cell: ({ created_at }) => <Instant at={created_at} /> },
]

export function Page() {
  return (
    <PageFrame title="Accounts">
      <List
        label="Accounts"
        queryKey={['operator', 'accounts']}
        read={(query, options) => operatorApi().accounts.list(query, options)}
        columns={COLUMNS}
        empty={
          <Empty command="keyhook owner create --email owner@example.com --password-stdin">
            Accounts of users and of your backend appear here.
          </Empty>
        }
      />
    </PageFrame>
  )
}
