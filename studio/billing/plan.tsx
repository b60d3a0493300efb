import { Button } from '@mantine/core'
import { useState } from 'react'
import type { Wallet } from '../api/client.ts'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import { Dialog } from '../parts/dialog.tsx'
import { FullInstant } from '../parts/instant.tsx'
import { Problem } from '../parts/problem.tsx'
import { amountOf } from './money.ts'
import { usePricing } from './prices.tsx'
import { LEAVE_FOR, RETURN_URL, requireWebAddress } from './processor.ts'

type Subscription = NonNullable<Wallet['subscription']>

const LIVE: ReadonlySet<string> = new Set(['active', 'past_due'])

/** The plan, when it is paid for again or ends, and what changes it. */
export function Plan({ of: { subscription } }: { readonly of: Wallet }) {
  return subscription !== null && isLive(subscription) ? (
    <Subscribed of={subscription} />
  ) : (
    <Subscribe />
  )
}

function isLive({ status, cancel_at: end }: Subscription): boolean {
  return LIVE.has(status) && (end === null || Date.parse(end) > Date.now())
}

function Subscribe() {
  const { data } = usePricing()
  const subscribe = useAct<void, string>(async () => {
    const urls = { success_url: RETURN_URL, cancel_url: RETURN_URL }
    const { checkout_url } = await api.billing.subscribe({ plan: 'pro', ...urls })
    return requireWebAddress(checkout_url)
  })
  const pro = data?.plans.find(({ id }) => id === 'pro')
  return (
    <div>
      {pro !== undefined && (
        <p>
          Pro costs {amountOf(pro.price_micros, data?.currency ?? null)} a month. With it come keys,
          published apps and {amountOf(pro.monthly_credit_micros, null)} of credit each month.
        </p>
      )}
      <Button
        variant="default"
        loading={subscribe.isPending}
        onClick={() => subscribe.mutate(undefined, LEAVE_FOR)}
      >
        Subscribe to Pro
      </Button>
      {subscribe.error !== null && <Problem error={subscribe.error} />}
    </div>
  )
}

function Subscribed({ of: subscription }: { readonly of: Subscription }) {
  const { current_period_end: until, past_due_until: due } = subscription
  const [isAsking, setAsking] = useState(false)
  // The wallet says so only once the payment processor has confirmed it.
  const [ended, setEnded] = useState<string | null>(null)
  const end = subscription.cancel_at ?? ended
  return (
    <div>
      <p>
        Pro{' '}
        {end !== null ? (
          <>
            ends on <FullInstant at={end} />.
          </>
        ) : until === null ? (
          'is active.'
        ) : (
          <>
            renews on <FullInstant at={until} />.
          </>
        )}
        {due !== null && (
          <>
            {' '}
            The last invoice is not paid. If it stays unpaid, Pro ends on <FullInstant at={due} />.
          </>
        )}
      </p>
      {end === null && (
        <Button variant="default" onClick={() => setAsking(true)}>
          End subscription
        </Button>
      )}
      {isAsking && <End of={subscription} close={() => setAsking(false)} ended={setEnded} />}
    </div>
  )
}

function End({
  of: { current_period_end: until },
  close,
  ended,
}: {
  readonly of: Subscription
  readonly close: () => void
  readonly ended: (at: string | null) => void
}) {
  const end = useAct<void, Subscription>(
    () => api.billing.cancel(),
    ({ cancel_at }) => {
      ended(cancel_at)
      close()
    },
  )
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
