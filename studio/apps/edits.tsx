import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Edit } from '../api/client.ts'
import { api } from '../api/client.ts'
import { Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { State } from '../parts/state.tsx'
import { useApp } from './app.ts'
import { EditProgress } from './edit-progress.tsx'

/** The latest edits of the app, newest first; those in progress with their progress. */
export function Edits() {
  const { id: app_id } = useApp()
  const query = useQuery({
    queryKey: ['edits', 'list', app_id],
    queryFn: () => api.edits.list({ app_id, limit: 20 }),
    refetchInterval: 10_000,
  })
  return (
    <Loaded query={query}>
      {({ data }) =>
        data.length === 0 ? (
          <p className="quiet">
            None yet. Every change of the app appears here, and can be undone.
          </p>
        ) : (
          <ol className="edits" aria-label="Edits">
            {data.map((edit) => (
              <li key={edit.id}>
                <Link
                  to="/apps/$appId/edits/$editId"
                  params={{ appId: app_id, editId: edit.id }}
                  className="clipped"
                >
                  {titleOf(edit)}
                </Link>
                {hasEnded(edit) ? (
                  <p className="quiet">
                    <State of={edit.status} />{' '}
                    {edit.result_revision !== null && `Revision ${edit.result_revision} · `}
                    <Instant at={edit.created_at} />
                  </p>
                ) : (
                  <EditProgress of={edit} />
                )}
              </li>
            ))}
          </ol>
        )
      }
    </Loaded>
  )
}

export function hasEnded({ status }: Pick<Edit, 'status'>): boolean {
  return status !== 'queued' && status !== 'running'
}

/** What was asked for, or what it is about. */
export function titleOf({ prompt, message, kind, changed_files: files }: Edit): string {
  const paths = files.map(({ path }) => path).join(', ')
  return prompt ?? message ?? (paths === '' ? `A ${kind} edit` : `Changed ${paths}`)
}
