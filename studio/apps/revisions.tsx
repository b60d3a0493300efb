import { Link } from '@tanstack/react-router'
import { api } from '../api/client.ts'
import { Instant } from '../parts/instant.tsx'
import { Empty } from '../parts/page.tsx'
import type { Column } from '../parts/table.tsx'
import { List } from '../parts/table.tsx'
import { useApp } from './app.ts'
import { sizeOf } from './drop-zone.tsx'

type Revision = Awaited<ReturnType<typeof api.apps.revisions>>['data'][number] & {
  readonly id: string
}

const COLUMNS: readonly Column<Revision>[] = [
  {
    name: 'Revision',
    cell: ({ app_id, revision, message }) => (
      <>
        <Link
          to="/apps/$appId/revisions/$revision"
          params={{ appId: app_id, revision: String(revision) }}
          className="row-link"
        >
          Revision {revision}
        </Link>
        <span className="quiet below clipped">{message ?? 'No message'}</span>
      </>
    ),
  },
  { name: 'Files', wide: true, cell: ({ files }) => files },
  { name: 'Size', wide: true, cell: ({ bytes }) => sizeOf(bytes) },
  { name: 'Made', cell: ({ created_at }) => <Instant at={created_at} /> },
]

/** Every state that the app had, newest first. */
export function Page() {
  const { id: app_id, current_revision: current } = useApp()
  return (
    <List
      label="Revisions"
      queryKey={['apps', 'revisions', app_id, current]}
      read={async (query, options) => {
        const page = await api.apps.revisions({ app_id, ...query }, options)
        return { ...page, data: page.data.map((one) => ({ ...one, id: String(one.revision) })) }
      }}
      columns={COLUMNS}
      empty={<Empty>Each change of the files makes a revision. There is none yet.</Empty>}
    />
  )
}
