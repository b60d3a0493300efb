import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Wallet } from '../api/client.ts'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import { Dialog } from '../parts/dialog.tsx'
import { FullInstant } from '../parts/instant.tsx'
import { Problem } from '../parts/problem.tsx'
import { amountOf } from './money.ts'
import { RETURN_URL, openPage } from './processor.ts'

type Subscription = NonNullable<Wallet['subscription']>

/** The plan, when it is paid for again or ends, and what changes it. */
export function Plan({ of: { subscription } }: { readonly of: Wallet }) {
  const isLive = subscription?.status === 'active' || subscription?.status === 'past_due'
  return isLive ? <Subscribed of={subscription} /> : <Subscribe />
}

function Subscribe() {
  const { data } = useQuery({
    queryKey: ['billing', 'pricing'],
    queryFn: () => api.billing.pricing(),
  })
  const subscribe = useAct<void, { readonly checkout_url: string }>(
    () => api.billing.subscribe({ plan: 'pro', success_url: RETURN_URL, cancel_url: RETURN_URL }),
    ({ checkout_url }) => openPage(checkout_url),
  )
  const pro = data?.plans.find(({ id }) => id === 'pro')
  return (
    <div>
      {pro !== undefined && (
        <p>
          Pro costs {amountOf(pro.price_micros, data?.currency ?? null)} a month. With it come keys,
          published apps and {amountOf(pro.monthly_credit_micros, null)} of credit each month.
        </p>
      )}
      <Button variant="default" loading={subscribe.isPending} onClick={() => subscribe.mutate()}>
        Subscribe to Pro
      </Button>
      {subscribe.error !== null && <Problem error={subscribe.error} />}
    </div>
  )
}

function Subscribed({ of: subscription }: { readonly of: Subscription }) {
  const { current_period_end: until, cancel_at: end, past_due_until: due } = subscription
  const [isAsking, setAsking] = useState(false)
  return (
    <div>
      <p>
        Pro{' '}
        {end !== null ? (
          <>
            ends on <FullInstant at={end} />.
          </>
        ) : until === null ? (
          'is subscribed.'
        ) : (
          <>
            renews on <FullInstant at={until} />.
          </>
        )}
        {due !== null && (
          <>
            {' '}
            The last invoice is not paid: without it Pro ends on <FullInstant at={due} />.
          </>
        )}
      </p>
      {end === null && (
        <Button variant="default" onClick={() => setAsking(true)}>
          End subscription
        </Button>
      )}
      {isAsking && <End of={subscription} close={() => setAsking(false)} />}
    </div>
  )
}

function End({
  of: { current_period_end: until },
  close,
}: {
  readonly of: Subscription
  readonly close: () => void
}) {
  const end = useAct<void, unknown>(() => api.billing.cancel(), close)
  return (
    <Dialog
      title="End the subscription?"
      action="End subscription"
      act={end}
      close={close}
      dangerous
    >
      <p>
        Pro stays until{' '}
        {until === null ? 'the end of what is paid for' : <FullInstant at={until} />}. After that no
        key can be created; existing keys and published apps go on working.
      </p>
    </Dialog>
  )
}
