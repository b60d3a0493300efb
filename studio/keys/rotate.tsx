import { Button, Modal, NativeSelect } from '@mantine/core'
import { useState } from 'react'
import type { KeyDetail } from '../api/client.ts'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Instant } from '../parts/instant.tsx'
import { STAYS, ShownOnce } from '../parts/shown-once.tsx'

const GRACES = [
  ['0', 'Not at all: it ends at once'],
  ['3600', '1 hour'],
  ['21600', '6 hours'],
  ['86400', '24 hours'],
] as const

/** A new value; the old one works for the chosen time. */
export function Rotate({ of: key, close }: { readonly of: KeyDetail; readonly close: () => void }) {
  const [grace, setGrace] = useState('86400')
  const rotate = useAct<
    void,
    Awaited<ReturnType<typeof api.keys.rotate>> & { readonly key: string }
  >(() => api.keys.rotate({ key_id: key.id, grace_seconds: Number(grace) }))
  if (rotate.data !== undefined) {
    return (
      <Modal opened onClose={close} {...STAYS} title={`${key.name}: new value`} size="lg">
        <ShownOnce what="key" value={rotate.data.key} variable="KEYHOOK_KEY">
          <Button variant="default" onClick={close}>
            Done
          </Button>
        </ShownOnce>
      </Modal>
    )
  }
  return (
    <Dialog title={`Rotate ${key.name}`} action="Rotate key" act={rotate} close={close}>
      <p>
        The key keeps its id, scopes and webhooks, and gets a new value. The value{' '}
        <code>{key.prefix}…</code> was last used{' '}
        {key.last_used_at === null ? 'never' : <Instant at={key.last_used_at} />}.
      </p>
      <NativeSelect
        label="The old value works for"
        value={grace}
        data={GRACES.map(([value, label]) => ({ value, label }))}
        onChange={(event) => setGrace(event.currentTarget.value)}
      />
    </Dialog>
  )
}
