import { Button } from '@mantine/core'
import type { Webhook } from '../api/client.ts'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import type { Leaving } from '../parts/leaving.tsx'
import { AskBeforeLeaving } from '../parts/leaving.tsx'
import { Problem } from '../parts/problem.tsx'

const LOST =
  'The signing secret was neither copied nor downloaded, and is not shown again. The page of the webhook can replace it by a new one.'

/** A webhook that was not started is kept or deleted, and a secret is not left behind unseen. */
export function LeavingNew({
  of: webhook,
  isKept,
}: {
  readonly of: Webhook
  /** Whether the secret was copied or downloaded. */
  readonly isKept: boolean
}) {
  const isStarted = webhook.status === 'active'
  return isStarted ? (
    <AskBeforeLeaving when={!isKept} title="Leave without the secret?" leave="Leave without it">
      <p>{LOST}</p>
    </AskBeforeLeaving>
  ) : (
    <AskBeforeLeaving
      when
      title="Keep the webhook?"
      leave="Keep it disabled"
      more={(way) => <Delete of={webhook} way={way} />}
    >
      <p>
        It is disabled, so no event is sent to it. Enable it on its page once the receiver works, or
        delete it.
      </p>
      {!isKept && <p>{LOST}</p>}
    </AskBeforeLeaving>
  )
}

function Delete({ of: webhook, way }: { readonly of: Webhook; readonly way: Leaving }) {
  const end = useAct<void, unknown>(
    () => api.webhooks.delete({ webhook_id: webhook.id }),
    way.leave,
  )
  return (
    <>
      {end.error !== null && <Problem error={end.error} />}
      <Button color="red" loading={end.isPending} onClick={() => end.mutate()}>
        Delete webhook
      </Button>
    </>
  )
}
