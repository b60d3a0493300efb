import { Button, TextInput } from '@mantine/core'
import { useSearch } from '@tanstack/react-router'
import type { SubmitEvent } from 'react'
import { useState } from 'react'
import { api } from '../api/client.ts'
import type { Wallet } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import { Problem } from '../parts/problem.tsx'
import { amountOf } from './money.ts'
import { Plan } from './plan.tsx'
import { usePricing } from './prices.tsx'
import { LEAVE_FOR, RETURN_URL, requireWebAddress } from './processor.ts'

/** Credit, the plan and the payment method: each is paid for on a page of the payment processor. */
export function Payment({ of: wallet }: { readonly of: Wallet }) {
  const { from } = useSearch({ from: '/inside/billing' })
  if (wallet.mode === 'internal') {
    return <p className="quiet">The operator of this service grants credit.</p>
  }
  const isCustomer = wallet.subscription !== null || wallet.paid_micros > 0
  return (
    <div className="stack">
      {from === 'payment' && (
        <p role="status" className="quiet">
          A payment shows here a few seconds after the payment processor confirms it.
        </p>
      )}
      <BuyCredit />
      <Plan of={wallet} />
      <PaymentMethod isCustomer={isCustomer} />
    </div>
  )
}

function BuyCredit() {
  const [amount, setAmount] = useState('')
  const { data } = usePricing()
  const buy = useAct<void, string>(async () => {
    const { checkout_url } = await api.billing.topup({ amount, return_url: RETURN_URL })
    return requireWebAddress(checkout_url)
  })
  const bounds =
    data &&
    `From ${amountOf(data.topup.min_micros, null)} to ${amountOf(data.topup.max_micros, null)}.`
  return (
    <form
      className="line-form"
      onSubmit={(event: SubmitEvent) => {
        event.preventDefault()
        buy.mutate(undefined, LEAVE_FOR)
      }}
    >
      <TextInput
        label={data?.currency ? `Amount in ${data.currency}` : 'Amount'}
        description={bounds}
        placeholder="25.00"
        inputMode="decimal"
        required
        value={amount}
        onChange={(event) => setAmount(event.currentTarget.value)}
      />
      <Button type="submit" loading={buy.isPending}>
        Buy credit
      </Button>
      {buy.error !== null && <Problem error={buy.error} />}
    </form>
  )
}

function PaymentMethod({ isCustomer }: { readonly isCustomer: boolean }) {
  const change = useAct<void, string>(async () => {
    const { setup_url } = await api.billing.paymentMethod({ return_url: RETURN_URL })
    return requireWebAddress(setup_url)
  })
  const show = useAct<void, string>(async () => {
    const { url } = await api.billing.portal({ return_url: RETURN_URL })
    return requireWebAddress(url)
  })
  return (
    <div>
      <div className="buttons start">
        <Button
          variant="default"
          loading={change.isPending}
          onClick={() => change.mutate(undefined, LEAVE_FOR)}
        >
          Change payment method
        </Button>
        {isCustomer && (
          <Button
            variant="default"
            loading={show.isPending}
            onClick={() => show.mutate(undefined, LEAVE_FOR)}
          >
            Open the payment processor’s page
          </Button>
        )}
      </div>
      {change.error !== null && <Problem error={change.error} />}
      {show.error !== null && <Problem error={show.error} />}
    </div>
  )
}
