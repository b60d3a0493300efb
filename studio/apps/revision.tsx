import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import { Loaded } from '../parts/loaded.tsx'
import { Section } from '../parts/page.tsx'
import { Problem } from '../parts/problem.tsx'
import { useApp } from './app.ts'
import { Diff } from './diff.tsx'

/** What would change if this revision came back, and the way to bring it back. */
export function Page() {
  const { revision: given } = useParams({ from: '/inside/apps/$appId/revisions/$revision' })
  const { id: app_id, current_revision: current } = useApp()
  const revision = Number(given)
  const navigate = useNavigate()
  const restore = useAct(
    () => api.edits.restoreRevision({ app_id, revision }),
    () => void navigate({ to: '/apps/$appId/revisions', params: { appId: app_id } }),
  )
  const diff = useQuery({
    queryKey: ['edits', 'compare', app_id, current, revision],
    queryFn: () => api.edits.compare({ app_id, from: current ?? 1, to: revision }),
    enabled: current !== null && current !== revision,
  })
  return (
    <Section title={`Revision ${given}`}>
      <p>
        <Link to="/apps/$appId/revisions" params={{ appId: app_id }}>
          All revisions
        </Link>
      </p>
      {current === revision ? (
        <p>This is the current revision.</p>
      ) : (
        <>
          <p>
            Restoring it makes revision {(current ?? 0) + 1} with its files and its configuration.
            What came between stays in the list.
          </p>
          {restore.error !== null && <Problem error={restore.error} />}
          <div className="buttons start">
            <Button loading={restore.isPending} onClick={() => restore.mutate(undefined)}>
              Restore revision {given}
            </Button>
          </div>
          <Section title="What restoring it changes">
            <Loaded query={diff}>{(data) => <Diff of={data} />}</Loaded>
          </Section>
        </>
      )}
    </Section>
  )
}
