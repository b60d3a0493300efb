import { Button, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { SubmitEvent } from 'react'
import { useState } from 'react'
import { operatorApi } from '../api/client.ts'
import { amountOf } from '../billing/money.ts'
import { Loaded } from '../parts/loaded.tsx'
import { Problem } from '../parts/problem.tsx'
import { useOperatorAct } from './act.ts'

/** What an account can spend, and more of it. */
export function Credit({ of: account }: { readonly of: string }) {
  const wallet = useQuery({
    queryKey: ['operator', 'wallet', account],
    queryFn: () => operatorApi(account).billing.wallet(),
  })
  return (
    <Loaded query={wallet}>
      {({ available_micros, balance_micros, held_micros, currency }) =>
        available_micros === null ? (
          <p>This service charges nothing, so no account needs credit.</p>
        ) : (
          <>
            <p>
              {amountOf(available_micros, currency)} can be spent: a balance of{' '}
              {amountOf(balance_micros, currency)}, of which {amountOf(held_micros, currency)} is
              held.
            </p>
            <Grant to={account} />
          </>
        )
      }
    </Loaded>
  )
}

function Grant({ to: account }: { readonly to: string }) {
  const [amount, setAmount] = useState('')
  const [note, setNote] = useState('')
  // The same for another try: an answer that was lost may have granted it.
  const [idempotencyKey, setIdempotencyKey] = useState(newIdempotencyKey)
  const change = (set: (text: string) => void, text: string): void => {
    set(text)
    setIdempotencyKey(newIdempotencyKey())
  }
  const grant = useOperatorAct<void>(
    () =>
      operatorApi(account).billing.grant(
        { amount, ...(note.trim() === '' ? {} : { note: note.trim() }) },
        { idempotencyKey },
      ),
    () => {
      change(setAmount, '')
      setNote('')
    },
  )
  return (
    <form
      className="line-form"
      onSubmit={(event: SubmitEvent) => {
        event.preventDefault()
        grant.mutate()
      }}
    >
      <TextInput
        label="Amount"
        placeholder="25.00"
        inputMode="decimal"
        required
        value={amount}
        onChange={(event) => change(setAmount, event.currentTarget.value)}
      />
      <TextInput
        label="Note (optional)"
        className="grow"
        placeholder="Shown in the ledger"
        maxLength={200}
        value={note}
        onChange={(event) => change(setNote, event.currentTarget.value)}
      />
      <Button type="submit" variant="default" loading={grant.isPending}>
        Grant credit
      </Button>
      {grant.error !== null && <Problem error={grant.error} />}
    </form>
  )
}

function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join(
    '.',
  )
}
