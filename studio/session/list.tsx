import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { UserSession } from '../api/client.ts'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import { FullInstant, Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { PageFrame } from '../parts/page.tsx'
import { Problem } from '../parts/problem.tsx'
import type { Column } from '../parts/table.tsx'
import { Table } from '../parts/table.tsx'
import { SettingsTabs } from '../settings/tabs.tsx'

const COLUMNS: readonly Column<UserSession>[] = [
  {
    name: 'Signed in',
    cell: ({ created_at, current }) => (
      <>
        <FullInstant at={created_at} /> {current && <span className="tag">This one</span>}
      </>
    ),
  },
  { name: 'Last used', cell: ({ seen_at }) => <Instant at={seen_at} /> },
  { name: 'Ends', wide: true, cell: ({ expires_at }) => <Instant at={expires_at} /> },
  { name: 'Action', cell: (session) => !session.current && <End of={session} /> },
]

function End({ of: { id, created_at } }: { readonly of: UserSession }) {
  const end = useAct<void, unknown>(() => api.accounts.endSession({ session_id: id }))
  return (
    <>
      <Button
        size="xs"
        variant="default"
        loading={end.isPending}
        aria-label={`End session of ${created_at}`}
        onClick={() => end.mutate()}
      >
        End session
      </Button>
      {end.error !== null && <Problem error={end.error} />}
    </>
  )
}

/** The browsers that are signed in as this user. */
export function Page() {
  const sessions = useQuery({
    queryKey: ['accounts', 'list_sessions'],
    queryFn: () => api.accounts.listSessions(),
  })
  const endOthers = useAct<void, unknown>(() => api.accounts.endOtherSessions())
  const others = (sessions.data?.data.length ?? 1) - 1
  return (
    <PageFrame
      title="Sessions"
      actions={
        others > 0 && (
          <Button
            variant="default"
            loading={endOthers.isPending}
            onClick={() => endOthers.mutate()}
          >
            {others === 1 ? 'End the other session' : `End ${others} other sessions`}
          </Button>
        )
      }
    >
      <SettingsTabs />
      <p className="quiet">
        Browsers that are signed in as you. From where each signed in is in the{' '}
        <Link to="/audit" search={{ action: 'user.signed_in' }}>
          audit log
        </Link>
        . If one is not yours, end it and set a new password.
      </p>
      {endOthers.error !== null && <Problem error={endOthers.error} />}
      <Loaded query={sessions}>
        {({ data }) => <Table label="Sessions" columns={COLUMNS} rows={data} />}
      </Loaded>
    </PageFrame>
  )
}
