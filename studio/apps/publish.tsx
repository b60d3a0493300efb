import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import { Loaded } from '../parts/loaded.tsx'
import { Section } from '../parts/page.tsx'
import { Problem } from '../parts/problem.tsx'
import { Diff } from './diff.tsx'

interface Draft {
  readonly app: string
  /** Revisions; null for none. */
  readonly live: number | null
  readonly current: number | null
}

/** One click publishes the current revision; what changes for visitors is shown first. */
export function Publish({
  app: app_id,
  live,
  current,
  hasPrevious,
}: Draft & {
  /** Whether another release was live before. */
  readonly hasPrevious: boolean
}) {
  const publish = useAct(() =>
    api.deploy.publish({ app_id, ...(current === null ? {} : { revision: current }) }),
  )
  const rollback = useAct(() => api.deploy.rollback({ app_id }))
  const unpublish = useAct(() => api.deploy.unpublish({ app_id }))
  const error = publish.error ?? rollback.error ?? unpublish.error
  const isNew = current !== null && current !== live
  return (
    <>
      {!isNew && live !== null && <p>Visitors see the current revision.</p>}
      {error !== null && <Problem error={error} />}
      <div className="buttons start">
        {isNew && (
          <Button loading={publish.isPending} onClick={() => publish.mutate(undefined)}>
            Publish revision {current}
          </Button>
        )}
        {hasPrevious && (
          <Button
            variant="default"
            loading={rollback.isPending}
            onClick={() => rollback.mutate(undefined)}
          >
            Roll back
          </Button>
        )}
        {live !== null && (
          <Button
            variant="default"
            loading={unpublish.isPending}
            onClick={() => unpublish.mutate(undefined)}
          >
            Take offline
          </Button>
        )}
      </div>
      {isNew && live !== null && <Changes app={app_id} live={live} current={current} />}
    </>
  )
}

function Changes({ app: app_id, live, current }: Draft & { readonly live: number }) {
  const diff = useQuery({
    queryKey: ['edits', 'compare', app_id, live, current],
    queryFn: () =>
      api.edits.compare({ app_id, from: live, ...(current === null ? {} : { to: current }) }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <Section title="What publishing changes">
      <Loaded query={diff}>{(data) => <Diff of={data} />}</Loaded>
    </Section>
  )
}
