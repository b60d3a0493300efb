import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Deployment } from '../api/client.ts'
import { api } from '../api/client.ts'
import { Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Empty, Section } from '../parts/page.tsx'
import { State } from '../parts/state.tsx'
import type { Column } from '../parts/table.tsx'
import { List } from '../parts/table.tsx'
import { useApp } from './app.ts'
import { Publish } from './publish.tsx'
import { ReleaseProgress } from './release-progress.tsx'

const KINDS = { publish: 'Publish', rollback: 'Roll back', unpublish: 'Take offline' } as const

const COLUMNS: readonly Column<Deployment>[] = [
  {
    name: 'Release',
    cell: ({ id, app_id, release, kind, message }) => (
      <>
        <Link
          to="/apps/$appId/releases/$deploymentId"
          params={{ appId: app_id, deploymentId: id }}
          className="row-link"
        >
          Release {release}
        </Link>
        <span className="quiet below">
          {KINDS[kind]}
          {message !== null && `: ${message}`}
        </span>
      </>
    ),
  },
  { name: 'State', cell: ({ status }) => <State of={status} /> },
  { name: 'Revision', wide: true, cell: ({ revision }) => revision ?? 'None' },
  { name: 'Requested', wide: true, cell: ({ created_at }) => <Instant at={created_at} /> },
]

/** What is live, what publishing would change, and everything that was live before. */
export function Page() {
  const { id: app_id, current_revision: current } = useApp()
  const status = useQuery({
    queryKey: ['deploy', 'status', app_id],
    queryFn: () => api.deploy.status({ app_id }),
    refetchInterval: 10_000,
  })
  return (
    <>
      <Loaded query={status}>
        {({ live, in_progress: running, production_url: url, last_failed: failed }) => (
          <Section title={live === null ? 'Not published' : `Release ${live.release} is live`}>
            {live !== null && url !== null && (
              <p>
                <a href={url} target="_blank" rel="noopener noreferrer">
                  {url}
                </a>{' '}
                serves revision {live.revision}.
              </p>
            )}
            {failed !== null && isLatest(failed, live) && (
              <p className="cause">
                <State of="failed" /> Release {failed.release}: {failed.error?.message} What was
                live stays live.
              </p>
            )}
            {running === null ? (
              <Publish
                app={app_id}
                live={live?.revision ?? null}
                current={current}
                hasPrevious={live !== null && live.previous_deployment_id !== null}
              />
            ) : (
              <ReleaseProgress of={running} />
            )}
          </Section>
        )}
      </Loaded>
      <Section title="Releases">
        <List
          label="Releases"
          queryKey={['deploy', 'list', app_id]}
          read={(query, options) => api.deploy.list({ app_id, ...query }, options)}
          columns={COLUMNS}
          every={10_000}
          empty={<Empty>Publishing makes a release, which never changes and can come back.</Empty>}
        />
      </Section>
    </>
  )
}

function isLatest(failed: Deployment, live: Deployment | null): boolean {
  return live === null || failed.release > live.release
}
