import { Button } from '@mantine/core'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import { Problem } from '../parts/problem.tsx'
import { Progress } from '../parts/progress.tsx'
import { DropZone } from './drop-zone.tsx'

/** Uploads documents; those that are refused are named, each with the reason. */
export function UploadFiles({ app: app_id }: { readonly app: string }) {
  const [files, setFiles] = useState<readonly File[]>([])
  const upload = useAct(
    () => api.files.upload({ app_id, file: files }),
    () => setFiles([]),
  )
  const count = files.length === 1 ? '1 file' : `${files.length} files`
  return (
    <div>
      <DropZone
        label="Knowledge files"
        hint="PDF, Word, Excel, HTML, Markdown, CSV, JSON or text; 25 MiB each, 20 at a time."
        chosen={files}
        choose={setFiles}
      />
      {upload.error !== null && <Problem error={upload.error} />}
      {upload.data !== undefined && upload.data.errors.length > 0 && (
        <ul aria-label="Refused files" className="refused">
          {upload.data.errors.map(({ name, message }, at) => (
            <li key={at}>
              {name}: {message}
            </li>
          ))}
        </ul>
      )}
      {upload.isPending && <Progress label="Progress of the upload" words={`Sending ${count}.`} />}
      {files.length > 0 && (
        <div className="buttons start">
          <Button loading={upload.isPending} onClick={() => upload.mutate(undefined)}>
            Upload {count}
          </Button>
        </div>
      )}
    </div>
  )
}
