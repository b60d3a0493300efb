import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useParams, useRouterState } from '@tanstack/react-router'
import { Loaded } from '../parts/loaded.tsx'
import { PageFrame } from '../parts/page.tsx'
import { State } from '../parts/state.tsx'
import { appQuery, stateOf } from './app.ts'

const APPS = [{ name: 'Apps', to: '/apps' }]

const TABS = [
  ['Build', '/apps/$appId'],
  ['Files', '/apps/$appId/files'],
  ['Revisions', '/apps/$appId/revisions'],
  ['Releases', '/apps/$appId/releases'],
  ['Knowledge', '/apps/$appId/knowledge'],
  ['Domains', '/apps/$appId/domains'],
  ['Settings', '/apps/$appId/settings'],
  ['Usage', '/apps/$appId/usage'],
] as const

/** Title, state, address and tabs of an app; its pages are below them. */
export function AppFrame() {
  const { appId } = useParams({ from: '/inside/apps/$appId' })
  const query = useQuery(appQuery(appId))
  const app = query.data
  const path = useRouterState({ select: ({ location }) => location.pathname })
  // An edit is opened from there.
  const isEdit = path.includes('/edits/')
  return (
    <PageFrame
      title={app?.name ?? 'App'}
      crumbs={APPS}
      state={app && <State of={stateOf(app)} />}
      actions={
        app && (
          <>
            {app.publish_state === 'published' && app.production_url !== null && (
              <Button
                component="a"
                variant="default"
                href={app.production_url}
                target="_blank"
                rel="noopener noreferrer"
              >
                Open app
              </Button>
            )}
            <Button variant="default" component={Link} to={`/apps/${app.id}/releases`}>
              Publish…
            </Button>
          </>
        )
      }
    >
      <nav aria-label="App" className="tabs">
        {TABS.map(([name, to]) => (
          <Link
            key={to}
            to={to}
            params={{ appId }}
            activeOptions={{ exact: name === 'Build' }}
            aria-current={name === 'Build' && isEdit ? 'page' : undefined}
          >
            {name}
          </Link>
        ))}
      </nav>
      <Loaded query={query}>{() => <Outlet />}</Loaded>
    </PageFrame>
  )
}
