import { TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Webhook } from '../api/client.ts'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Loaded } from '../parts/loaded.tsx'

const DAY = 86_400_000

/** Deliveries of an outage: counted first, then sent again. */
export function RetryFailed({
  of: webhook,
  close,
}: {
  readonly of: Webhook
  readonly close: () => void
}) {
  const [local, setLocal] = useState(() =>
    toLocal(
      webhook.first_failure_at === null ? Date.now() - DAY : Date.parse(webhook.first_failure_at),
    ),
  )
  const since = new Date(local)
  const isDate = !Number.isNaN(since.getTime())
  const given = { webhook_id: webhook.id, since: isDate ? since.toISOString() : '' }
  const count = useQuery({
    queryKey: ['webhooks', 'retry_failed', given, 'dry run'],
    queryFn: () => api.webhooks.retryFailed({ ...given, dry_run: true }),
    enabled: isDate,
    gcTime: 0,
  })
  const retry = useAct<void, unknown>(() => api.webhooks.retryFailed(given), close)
  const queued = count.data?.queued ?? 0
  return (
    <Dialog
      title="Retry what failed"
      action={`Resend ${queued} ${queued === 1 ? 'delivery' : 'deliveries'}`}
      act={retry}
      close={close}
      ready={queued > 0}
    >
      <p>Failed and skipped deliveries are sent again: the same events, newly signed.</p>
      <TextInput
        type="datetime-local"
        step={1}
        label="Since (local time)"
        value={local}
        onChange={(event) => setLocal(event.currentTarget.value)}
      />
      <div role="status" className="result">
        <Loaded query={count}>
          {(data) => (
            <p>
              {data.queued === 0
                ? 'No delivery failed since then.'
                : `${data.queued} ${data.queued === 1 ? 'delivery' : 'deliveries'} failed since then.`}
            </p>
          )}
        </Loaded>
      </div>
    </Dialog>
  )
}

/** As the field of a date and time writes it, rounded down so that nothing is left out. */
function toLocal(at: number): string {
  const date = new Date(at - new Date(at).getTimezoneOffset() * 60_000)
  return date.toISOString().slice(0, 19)
}
