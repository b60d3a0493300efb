import type { Webhook } from '../api/client.ts'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import { Dialog } from '../parts/dialog.tsx'
import { causeOf } from './cause.ts'
import { SendTest } from './send-test.tsx'

/** The cause, a test and the way back in one place. */
export function Enable({
  of: webhook,
  close,
  then,
}: {
  readonly of: Webhook
  readonly close: () => void
  /** Once it is enabled: what failed meanwhile can be sent. */
  readonly then: () => void
}) {
  const enable = useAct<void, unknown>(
    () => api.webhooks.update({ webhook_id: webhook.id, status: 'active' }),
    then,
  )
  return (
    <Dialog title="Enable the webhook" action="Enable webhook" act={enable} close={close}>
      <p>{causeOf(webhook, undefined)} A test shows whether the receiver works again.</p>
      <SendTest of={webhook} />
    </Dialog>
  )
}

export function Disable({
  of: webhook,
  close,
}: {
  readonly of: Webhook
  readonly close: () => void
}) {
  const disable = useAct<void, unknown>(
    () => api.webhooks.update({ webhook_id: webhook.id, status: 'disabled' }),
    close,
  )
  return (
    <Dialog
      title="Disable the webhook"
      action="Disable webhook"
      act={disable}
      close={close}
      dangerous
    >
      <p>
        Nothing is sent to it until it is enabled again. Deliveries that wait now are skipped; you
        can retry them later.
      </p>
    </Dialog>
  )
}
