import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import { Problem } from '../parts/problem.tsx'
import { State } from '../parts/state.tsx'
import { outcomeOf } from './cause.ts'

/** Sends a test event now, and shows the attempt. */
export function SendTest({ webhook: webhook_id }: { readonly webhook: string }) {
  const test = useAct(() => api.webhooks.test({ webhook_id }))
  const { data } = test
  const body = data?.response?.body ?? null
  return (
    <div>
      <Button variant="default" loading={test.isPending} onClick={() => test.mutate(undefined)}>
        {data === undefined ? 'Send test' : 'Send another test'}
      </Button>
      <div role="status" className="result">
        {data !== undefined && (
          <p>
            <State of={data.status} /> {data.error !== null && outcomeOf(data)}{' '}
            <Link
              to="/webhooks/$webhookId/deliveries/$deliveryId"
              params={{ webhookId: webhook_id, deliveryId: data.id }}
            >
              Show the delivery
            </Link>
          </p>
        )}
        {body !== null && (
          <pre tabIndex={0} aria-label="Response body of the test">
            {body}
          </pre>
        )}
      </div>
      {test.error !== null && <Problem error={test.error} />}
    </div>
  )
}
