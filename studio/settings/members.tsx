import { useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Member } from '../api/client.ts'
import { api } from '../api/client.ts'
import { Copyable } from '../parts/copyable.tsx'
import { FullInstant, Instant } from '../parts/instant.tsx'
import { Empty, PageFrame, Section } from '../parts/page.tsx'
import type { Column } from '../parts/table.tsx'
import { List } from '../parts/table.tsx'
import { session } from '../session/session.ts'
import { SettingsTabs } from './tabs.tsx'

const ROLES: Readonly<Record<Member['role'], string>> = { owner: 'Owner' }

const COLUMNS: readonly Column<Member>[] = [
  {
    name: 'Member',
    cell: ({ email, id, current }) => (
      <>
        {email} {current && <span className="tag">You</span>}
        <code className="quiet below wide">{id}</code>
      </>
    ),
  },
  { name: 'Role', cell: ({ role }) => <span className="word">{ROLES[role]}</span> },
  { name: 'Since', wide: true, cell: ({ joined_at }) => <FullInstant at={joined_at} /> },
  {
    name: 'Last sign-in',
    cell: ({ signed_in_at: at }) => (at === null ? 'Never' : <Instant at={at} />),
  },
  {
    name: 'Changes',
    wide: true,
    cell: ({ id }) => (
      <Link to="/audit" search={{ actor: id }}>
        Show in the audit log
      </Link>
    ),
  },
]

/** Who may sign in to the account. */
export function Page() {
  const { account } = useSuspenseQuery(session).data
  return (
    <PageFrame title="Members">
      <SettingsTabs />
      <p>
        Whoever may sign in to this account. Every member is an owner and may do everything in it.
      </p>
      <List
        label="Members"
        queryKey={['accounts', 'list_members']}
        read={(query, options) => api.accounts.listMembers(query, options)}
        columns={COLUMNS}
        empty={<Empty>Nobody can sign in to this account.</Empty>}
      />
      <Section title="Add a member">
        <p>Studio invites nobody. The operator of this service adds a member by this command:</p>
        <p>
          <Copyable
            what="command"
            text={`keyhook owner create --account-id ${account.id} --email … --password-stdin`}
          />
        </p>
      </Section>
    </PageFrame>
  )
}
