import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { api } from '../api/client.ts'
import { Loaded } from '../parts/loaded.tsx'
import { AddFile } from './add-file.tsx'
import { useApp } from './app.ts'
import { FileEditor } from './file-editor.tsx'
import { Preview } from './preview.tsx'

/** The files of the current revision, one of them to edit, and the result. */
export function Page() {
  const { id: app_id, current_revision: revision } = useApp()
  const { path } = useSearch({ from: '/inside/apps/$appId/files' })
  const tree = useQuery({
    queryKey: ['apps', 'tree', app_id, revision],
    queryFn: () => api.apps.tree({ app_id }),
    enabled: revision !== null,
  })
  if (revision === null) return <p className="quiet">The files appear when the app is made.</p>
  return (
    <Loaded query={tree}>
      {({ files, revision: base }) => (
        <div className="workbench with-files">
          <div>
            <nav aria-label="Files" className="file-tree">
              {files.map((file) => (
                <Link
                  key={file.path}
                  to="/apps/$appId/files"
                  params={{ appId: app_id }}
                  search={{ path: file.path }}
                  aria-current={file.path === path ? 'page' : undefined}
                >
                  {file.path}
                </Link>
              ))}
            </nav>
            <AddFile app={app_id} base={base} />
          </div>
          {path === undefined || !files.some((file) => file.path === path) ? (
            <p className="quiet">
              {path === undefined
                ? 'Choose a file to read and edit it.'
                : `Revision ${base} has no ${path}.`}
            </p>
          ) : (
            <FileEditor key={path} app={app_id} path={path} base={base} />
          )}
          <Preview />
        </div>
      )}
    </Loaded>
  )
}
