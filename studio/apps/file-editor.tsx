import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Suspense, lazy, useState } from 'react'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import { Loaded } from '../parts/loaded.tsx'
import { Problem } from '../parts/problem.tsx'
import { draftOf, keepDraft } from './drafts.ts'
import { sizeOf } from './drop-zone.tsx'

/** The editor is large, and needed on this page alone. */
const CodeEditor = lazy(() => import('./code-editor.tsx'))

interface Opened {
  readonly app: string
  readonly path: string
  /** Revision that a change applies to. */
  readonly base: number
}

/** Reads a file, and saves it as a structured edit. */
export function FileEditor({ app: app_id, path, base }: Opened) {
  const query = useQuery({
    queryKey: ['apps', 'content', app_id, base, path],
    queryFn: () => api.apps.content({ app_id, path, revision: base }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <section className="editor" aria-label={`File ${path}`}>
      <Loaded query={query}>
        {({ content, size }) =>
          content === null ? (
            <p className="quiet">
              {path} is not text: {sizeOf(size)}.
            </p>
          ) : (
            <TextEditor key={base} app={app_id} path={path} base={base} saved={content} />
          )
        }
      </Loaded>
    </section>
  )
}

function TextEditor({ app: app_id, path, base, saved }: Opened & { readonly saved: string }) {
  const [text, setText] = useState(() => draftOf(app_id, path) ?? saved)
  const navigate = useNavigate()
  const isChanged = text !== saved
  const type = (next: string): void => {
    setText(next)
    keepDraft(app_id, path, next === saved ? undefined : next)
  }
  const save = useAct(
    () =>
      api.edits.create({
        app_id,
        operations: [{ op: 'write', path, content: text }],
        base_revision: base,
        message: `Changed ${path}`,
      }),
    () => keepDraft(app_id, path, undefined),
  )
  const remove = useAct(
    () =>
      api.edits.create({
        app_id,
        operations: [{ op: 'delete', path }],
        base_revision: base,
        message: `Deleted ${path}`,
      }),
    () => {
      keepDraft(app_id, path, undefined)
      void navigate({ to: '/apps/$appId/files', params: { appId: app_id } })
    },
  )
  const error = save.error ?? remove.error
  return (
    <>
      <div className="editor-bar">
        <code>{path}</code>
        <span className="quiet" role="status">
          {isChanged ? 'Not saved' : `As in revision ${base}`}
        </span>
        <Button
          size="xs"
          variant="default"
          loading={remove.isPending}
          onClick={() => remove.mutate(undefined)}
        >
          Delete file
        </Button>
        <Button
          size="xs"
          disabled={!isChanged}
          loading={save.isPending}
          onClick={() => save.mutate(undefined)}
        >
          Save file
        </Button>
      </div>
      {error !== null && <Problem error={error} />}
      <Suspense fallback={<p className="quiet">Opening the editor…</p>}>
        <CodeEditor label={`Text of ${path}`} path={path} text={text} type={type} />
      </Suspense>
    </>
  )
}
