import { Button, Modal, NativeSelect } from '@mantine/core'
import { useState } from 'react'
import type { Webhook } from '../api/client.ts'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import { Dialog } from '../parts/dialog.tsx'
import { FullInstant } from '../parts/instant.tsx'
import { STAYS, ShownOnce } from '../parts/shown-once.tsx'
import { State } from '../parts/state.tsx'
import { useReach } from '../shell/reach.ts'

const OVERLAPS = [
  ['0', 'Not at all: it ends at once'],
  ['3600', '1 hour'],
  ['86400', '24 hours'],
  ['604800', '7 days'],
] as const

/** Until when the previous secret also signs; undefined where none does. */
function overlapOf({ previous_secret_valid_until: until }: Webhook): string | undefined {
  return until !== null && Date.parse(until) > Date.now() ? until : undefined
}

/** The secret in force, a rotation in progress, and the way to rotate it. */
export function SigningSecret({ of: webhook }: { readonly of: Webhook }) {
  const [isOpen, setOpen] = useState(false)
  const { may } = useReach()
  const until = overlapOf(webhook)
  return (
    <>
      <span className="row-actions">
        <code>{webhook.secret_prefix}</code>
        {may('webhooks:write') && (
          <Button size="xs" variant="default" onClick={() => setOpen(true)}>
            Rotate secret…
          </Button>
        )}
      </span>
      {until !== undefined && (
        <span className="overlap">
          <State of="rotating" /> <Overlap until={until} />
        </span>
      )}
      {isOpen && <Rotate of={webhook} close={() => setOpen(false)} />}
    </>
  )
}

function Overlap({ until }: { readonly until: string }) {
  return (
    <span>
      The previous secret also signs until <FullInstant at={until} />.
    </span>
  )
}

/** A new secret; the ones before also sign for the chosen time. */
function Rotate({ of: webhook, close }: { readonly of: Webhook; readonly close: () => void }) {
  const [overlap, setOverlap] = useState('86400')
  const rotate = useAct<void, Webhook & { readonly secret: string }>(() =>
    api.webhooks.rotateSecret({ webhook_id: webhook.id, overlap_seconds: Number(overlap) }),
  )
  if (rotate.data !== undefined) return <Rotated of={rotate.data} close={close} />
  const until = overlapOf(webhook)
  return (
    <Dialog
      title="Rotate the signing secret"
      action="Rotate secret"
      act={rotate}
      close={close}
      dangerous={overlap === '0'}
    >
      <p>
        Deliveries are signed with a new secret. As long as the old one also signs, a receiver that
        knows either accepts them.
      </p>
      {until !== undefined && (
        <p>
          <Overlap until={until} /> It ends with this rotation’s overlap, if that is sooner.
        </p>
      )}
      <NativeSelect
        label="The old secret also signs for"
        value={overlap}
        data={OVERLAPS.map(([value, label]) => ({ value, label }))}
        onChange={(event) => setOverlap(event.currentTarget.value)}
      />
      <p className="result" role="status">
        {overlap === '0'
          ? 'Every delivery fails until the receiver has the new secret, and is retried by the schedule.'
          : 'Give the receiver the new secret within that time.'}
      </p>
    </Dialog>
  )
}

function Rotated({
  of: webhook,
  close,
}: {
  readonly of: Webhook & { readonly secret: string }
  readonly close: () => void
}) {
  const until = overlapOf(webhook)
  return (
    <Modal opened onClose={close} {...STAYS} title="New signing secret" size="lg">
      <ShownOnce what="signing secret" value={webhook.secret} variable="WEBHOOK_SECRETS">
        <Button variant="default" onClick={close}>
          Done
        </Button>
      </ShownOnce>
      <p className="result">
        {until === undefined ? (
          'The old secret signs nothing any more.'
        ) : (
          <>
            <Overlap until={until} /> Put the new one next to it, with a comma between them, or in
            its place.
          </>
        )}
      </p>
    </Modal>
  )
}
