import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import type { Deployment } from '../api/client.ts'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import { Copyable } from '../parts/copyable.tsx'
import { FullInstant, Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Facts, Section } from '../parts/page.tsx'
import { Problem } from '../parts/problem.tsx'
import { State } from '../parts/state.tsx'
import { ReleaseProgress } from './release-progress.tsx'

const RUNNING: ReadonlySet<Deployment['status']> = new Set(['queued', 'building', 'deploying'])

/** A release: what it served, how it went, and the way back to it. */
export function Page() {
  const { appId: app_id, deploymentId: deployment_id } = useParams({
    from: '/inside/apps/$appId/releases/$deploymentId',
  })
  const query = useQuery({
    queryKey: ['deploy', 'get', deployment_id],
    queryFn: () => api.deploy.get({ app_id, deployment_id }),
    refetchInterval: 10_000,
  })
  return <Loaded query={query}>{(deployment) => <Detail of={deployment} />}</Loaded>
}

function Detail({ of: deployment }: { readonly of: Deployment }) {
  const { id, release, status, error, revision, live_at, created_at } = deployment
  return (
    <Section title={`Release ${release}`}>
      <p className="cause">
        <State of={status} /> {error?.message}
      </p>
      {RUNNING.has(status) && <ReleaseProgress of={deployment} />}
      {deployment.available_actions.includes('rollback') && <Back of={deployment} />}
      <Facts
        of={[
          ['Id', <Copyable key="id" text={id} what="id" />],
          ['Revision', revision ?? 'None: the app went offline'],
          ['Message', deployment.message ?? 'None'],
          ['Requested', <FullInstant key="created" at={created_at} />],
          ['Live', live_at === null ? 'Never' : <FullInstant key="live" at={live_at} />],
        ]}
      />
      <Section title="Log">
        <Log of={deployment} />
      </Section>
    </Section>
  )
}

function Back({ of: { app_id, id: deployment_id, release } }: { readonly of: Deployment }) {
  const navigate = useNavigate()
  const rollback = useAct(
    () => api.deploy.rollback({ app_id, deployment_id }),
    () => void navigate({ to: '/apps/$appId/releases', params: { appId: app_id } }),
  )
  return (
    <>
      {rollback.error !== null && <Problem error={rollback.error} />}
      <div className="buttons start">
        <Button loading={rollback.isPending} onClick={() => rollback.mutate(undefined)}>
          Roll back to release {release}
        </Button>
        <span className="quiet">
          The same files are served again, without building.{' '}
          <Link to="/apps/$appId/releases" params={{ appId: app_id }}>
            All releases
          </Link>
        </span>
      </div>
    </>
  )
}

function Log({ of: { app_id, id: deployment_id, status } }: { readonly of: Deployment }) {
  const query = useQuery({
    queryKey: ['deploy', 'logs', deployment_id, status],
    queryFn: () => api.deploy.logs({ app_id, deployment_id, limit: 100 }),
  })
  return (
    <Loaded query={query}>
      {({ data }) => (
        <ol className="log" aria-label="Log">
          {data.map(({ number, at, message }) => (
            <li key={number}>
              {message}{' '}
              <span className="quiet">
                <Instant at={at} />
              </span>
            </li>
          ))}
        </ol>
      )}
    </Loaded>
  )
}
