import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { KnowledgeFile } from '../api/client.ts'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import { Loaded } from '../parts/loaded.tsx'
import { Empty } from '../parts/page.tsx'
import { Problem } from '../parts/problem.tsx'
import { State } from '../parts/state.tsx'
import type { Column } from '../parts/table.tsx'
import { Table } from '../parts/table.tsx'
import { sizeOf } from './drop-zone.tsx'

const COLUMNS: readonly Column<KnowledgeFile>[] = [
  {
    name: 'Name',
    cell: ({ name, content_type, error }) => (
      <>
        {name}
        <span className="quiet below">{error?.message ?? content_type}</span>
      </>
    ),
  },
  {
    name: 'State',
    cell: ({ status, progress, stage }) => (
      <>
        <State of={status} />
        {stage !== null && (
          <span className="quiet below">
            {stage}
            {progress !== null && progress.total !== null && (
              <>
                {' '}
                {progress.done} of {progress.total}
              </>
            )}
          </span>
        )}
      </>
    ),
  },
  { name: 'Passages', wide: true, cell: ({ chunks }) => chunks ?? 'None yet' },
  { name: 'Size', wide: true, cell: ({ size_bytes }) => sizeOf(size_bytes) },
  { name: 'Actions', cell: (file) => <Actions of={file} /> },
]

/** Documents of the app with their states; those that are processed now are followed. */
export function KnowledgeFiles({ app: app_id }: { readonly app: string }) {
  const query = useQuery({
    queryKey: ['files', 'list', app_id],
    queryFn: () => api.files.list({ app_id, limit: 100 }),
    refetchInterval: ({ state: { data } }) =>
      data?.data.some(({ status }) => status === 'queued' || status === 'processing') === true
        ? 5000
        : 30_000,
  })
  return (
    <Loaded query={query}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty command="keyhook file upload <app> menu.pdf">
            What the app should know, the model reads from here when a prompt edits the app.
          </Empty>
        ) : (
          <Table label="Knowledge files" columns={COLUMNS} rows={data} />
        )
      }
    </Loaded>
  )
}

function Actions({ of: { app_id, id: file_id, name, status } }: { readonly of: KnowledgeFile }) {
  const remove = useAct(() => api.files.delete({ app_id, file_id }))
  const retry = useAct(() => api.files.retry({ app_id, file_id }))
  const error = remove.error ?? retry.error
  return (
    <div className="row-actions">
      {status === 'failed' && (
        <Button
          size="xs"
          variant="default"
          aria-label={`Retry ${name}`}
          loading={retry.isPending}
          onClick={() => retry.mutate(undefined)}
        >
          Retry
        </Button>
      )}
      <Button
        size="xs"
        variant="default"
        aria-label={`Delete ${name}`}
        loading={remove.isPending}
        onClick={() => remove.mutate(undefined)}
      >
        Delete
      </Button>
      {error !== null && <Problem error={error} />}
    </div>
  )
}
