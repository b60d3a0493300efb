import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Delivery, Webhook } from '../api/client.ts'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import { Problem } from '../parts/problem.tsx'
import { State } from '../parts/state.tsx'
import { AttemptView } from './attempt.tsx'
import { reasonOf } from './cause.ts'
import { Request } from './request.tsx'
import './settings.css'

/** Sends a test event now, and shows the attempt. */
export function SendTest({ of: webhook }: { readonly of: Pick<Webhook, 'id' | 'url'> }) {
  const test = useAct(() => api.webhooks.test({ webhook_id: webhook.id }))
  return (
    <div>
      <Button variant="default" loading={test.isPending} onClick={() => test.mutate(undefined)}>
        {test.data === undefined ? 'Send test' : 'Send another test'}
      </Button>
      <TestResult of={test.data} url={webhook.url} />
      {test.error !== null && <Problem error={test.error} />}
    </div>
  )
}

/** What came of a test: in a sentence, then what was sent next to what was received. */
export function TestResult({
  of: delivery,
  url,
}: {
  readonly of: Delivery | undefined
  readonly url: string
}) {
  return (
    <>
      <div role="status" className="result">
        {delivery !== undefined && (
          <p>
            <State of={delivery.status} /> {reasonOf(delivery)}{' '}
            <Link
              to="/webhooks/$webhookId/deliveries/$deliveryId"
              params={{ webhookId: delivery.webhook_id, deliveryId: delivery.id }}
            >
              Show the delivery
            </Link>
          </p>
        )}
      </div>
      {delivery !== undefined && (
        <div className="sides" key={delivery.id}>
          <section aria-label="Request of the test">
            <h3>Request</h3>
            <Request event={delivery.event_id} url={url} />
          </section>
          <section aria-label="Response to the test">
            <h3>Response</h3>
            {delivery.attempts.map((attempt) => (
              <AttemptView key={attempt.number} of={attempt} />
            ))}
          </section>
        </div>
      )}
    </>
  )
}
