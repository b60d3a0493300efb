import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { Edit } from '../api/client.ts'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import { Copyable } from '../parts/copyable.tsx'
import { FullInstant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Facts, Section } from '../parts/page.tsx'
import { Problem } from '../parts/problem.tsx'
import { State } from '../parts/state.tsx'
import { Diff } from './diff.tsx'
import { EditProgress } from './edit-progress.tsx'
import { hasEnded, titleOf } from './edits.tsx'

/** What was asked for, what became of it, and what it changed. */
export function Page() {
  const { appId: app_id, editId: edit_id } = useParams({
    from: '/inside/apps/$appId/edits/$editId',
  })
  const query = useQuery({
    queryKey: ['edits', 'get', edit_id],
    queryFn: () => api.edits.get({ app_id, edit_id }),
    refetchInterval: ({ state: { data } }) =>
      data === undefined || hasEnded(data) ? false : 10_000,
  })
  return <Loaded query={query}>{(edit) => <Detail of={edit} />}</Loaded>
}

function Detail({ of: edit }: { readonly of: Edit }) {
  const { id, model, usage, base_revision, result_revision, finished_at } = edit
  return (
    <Section title="Edit">
      <p className="cause">{titleOf(edit)}</p>
      <p>
        <State of={edit.status} /> {outcomeOf(edit)}
      </p>
      {hasEnded(edit) ? <Undo of={edit} /> : <Stop of={edit} />}
      <Facts
        of={[
          ['Id', <Copyable key="id" text={id} what="id" />],
          ['Revision', `${base_revision ?? 'none'} → ${result_revision ?? 'unchanged'}`],
          ['Model', model ?? (edit.kind === 'prompt' ? 'The default' : 'None: by operations')],
          [
            'Tokens',
            usage === null ? 'None' : `${usage.input_tokens} read, ${usage.output_tokens} written`,
          ],
          [
            'Finished',
            finished_at === null ? 'Not yet' : <FullInstant key="at" at={finished_at} />,
          ],
        ]}
      />
      {edit.summary !== null && <p className="summary">{edit.summary}</p>}
      {edit.status === 'completed' && <Changes of={edit} />}
    </Section>
  )
}

/** A failed edit says why, and that nothing is to be paid. */
function outcomeOf({ status, error, kind }: Edit): string {
  if (status === 'canceled') return 'It was canceled: nothing changed, and nothing is charged.'
  if (status !== 'failed') return ''
  const reason = error?.message ?? 'It failed.'
  return kind === 'prompt' ? `${reason} Nothing changed, and nothing is charged.` : reason
}

function Stop({ of: edit }: { readonly of: Edit }) {
  const { app_id, id: edit_id } = edit
  const cancel = useAct(() => api.edits.cancel({ app_id, edit_id }))
  return (
    <>
      <EditProgress of={edit} />
      {cancel.error !== null && <Problem error={cancel.error} />}
      <div className="buttons start">
        <Button
          variant="default"
          loading={cancel.isPending}
          onClick={() => cancel.mutate(undefined)}
        >
          Cancel edit
        </Button>
      </div>
    </>
  )
}

function Undo({ of: { app_id, id: edit_id, status, base_revision } }: { readonly of: Edit }) {
  const revert = useAct(() => api.edits.revert({ app_id, edit_id }))
  if (status !== 'completed' || base_revision === null) return null
  return (
    <>
      {revert.error !== null && <Problem error={revert.error} />}
      <div className="buttons start">
        <Button
          variant="default"
          loading={revert.isPending}
          onClick={() => revert.mutate(undefined)}
        >
          Undo this edit
        </Button>
        <span className="quiet" role="status">
          {revert.data === undefined ? (
            'Later edits stay.'
          ) : (
            <>
              It was undone:{' '}
              <Link
                to="/apps/$appId/edits/$editId"
                params={{ appId: app_id, editId: revert.data.id }}
              >
                revision {revert.data.result_revision}
              </Link>
            </>
          )}
        </span>
      </div>
    </>
  )
}

function Changes({ of: { app_id, id: edit_id } }: { readonly of: Edit }) {
  const diff = useQuery({
    queryKey: ['edits', 'diff', edit_id],
    queryFn: () => api.edits.diff({ app_id, edit_id }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <Section title="What changed">
      <Loaded query={diff}>{(data) => <Diff of={data} />}</Loaded>
    </Section>
  )
}
