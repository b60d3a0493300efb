import { Button } from '@mantine/core'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import { Dialog } from '../parts/dialog.tsx'
import { FullInstant } from '../parts/instant.tsx'
import { Problem } from '../parts/problem.tsx'
import { useApp } from './app.ts'

/** Takes an app out of use, and back for 30 days. */
export function Archive() {
  const { id: app_id, name, status, purge_at } = useApp()
  const [isOpen, setOpen] = useState(false)
  const archive = useAct<void, unknown>(
    () => api.apps.archive({ app_id }),
    () => setOpen(false),
  )
  const restore = useAct(() => api.apps.restore({ app_id }))
  if (status === 'archived') {
    return (
      <>
        <p>
          It is archived
          {purge_at !== null && (
            <>
              , and deleted on <FullInstant at={purge_at} />
            </>
          )}
          .
        </p>
        {restore.error !== null && <Problem error={restore.error} />}
        <Button loading={restore.isPending} onClick={() => restore.mutate(undefined)}>
          Restore app
        </Button>
      </>
    )
  }
  return (
    <>
      <Button variant="default" onClick={() => setOpen(true)}>
        Archive app…
      </Button>
      {isOpen && (
        <Dialog
          title={`Archive ${name}`}
          action="Archive app"
          act={archive}
          close={() => setOpen(false)}
          dangerous
        >
          <p>It goes offline at once. It can be restored for 30 days, and is deleted then.</p>
        </Dialog>
      )}
    </>
  )
}
