import { Button, NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { Account } from '../api/client.ts'
import { operatorApi } from '../api/client.ts'
import { Copyable } from '../parts/copyable.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Facts, PageFrame, Section } from '../parts/page.tsx'
import { Problem } from '../parts/problem.tsx'
import { State } from '../parts/state.tsx'
import { useOperatorAct } from './act.ts'
import { Credit } from './credit.tsx'

const CRUMBS = [{ name: 'Accounts', to: '/operator/accounts' }]

/** One account: its state, plan and credit. */
export function Page() {
  const { accountId } = useParams({ from: '/operating/operator/accounts/$accountId' })
  const account = useQuery({
    queryKey: ['operator', 'accounts', accountId],
    queryFn: () => operatorApi().accounts.get({ account_id: accountId }),
  })
  const [isAsked, setAsked] = useState(false)
  const { data } = account
  return (
    <PageFrame
      title={data?.name ?? 'Account'}
      crumbs={CRUMBS}
      state={data && <State of={data.suspended_at === null ? 'active' : 'suspended'} />}
      actions={
        data && (
          <Button variant="default" onClick={() => setAsked(true)}>
            {data.suspended_at === null ? 'Suspend…' : 'Resume…'}
          </Button>
        )
      }
    >
      <Loaded query={account}>
        {(found) => (
          <>
            <Facts
              of={[
                ['Id', <Copyable key="id" text={found.id} what="account id" />],
                ['Plan', <Plan key="plan" of={found} />],
                ['Limit of live keys', found.key_limit ?? 'That of the service'],
                ['Created', <Instant key="created" at={found.created_at} />],
              ]}
            />
            <Section title="Credit">
              <Credit of={found.id} />
            </Section>
            {isAsked && <Suspend of={found} close={() => setAsked(false)} />}
          </>
        )}
      </Loaded>
    </PageFrame>
  )
}

function Plan({ of: { id, plan } }: { readonly of: Account }) {
  const change = useOperatorAct<Account['plan']>((wanted) =>
    operatorApi().accounts.update({ account_id: id, plan: wanted }),
  )
  return (
    <>
      <NativeSelect
        aria-label="Plan"
        className="choice"
        value={plan}
        disabled={change.isPending}
        data={['free', 'pro']}
        onChange={({ currentTarget: { value } }) => change.mutate(value === 'pro' ? 'pro' : 'free')}
      />
      {change.error !== null && <Problem error={change.error} />}
    </>
  )
}

function Suspend({ of, close }: { readonly of: Account; readonly close: () => void }) {
  const { id, name, suspended_at } = of
  const { accounts } = operatorApi()
  const isActive = suspended_at === null
  const act = useOperatorAct<void>(
    () => (isActive ? accounts.suspend({ account_id: id }) : accounts.resume({ account_id: id })),
    close,
  )
  return (
    <Dialog
      title={`${isActive ? 'Suspend' : 'Resume'} ${name}`}
      action={isActive ? 'Suspend account' : 'Resume account'}
      act={act}
      close={close}
      dangerous={isActive}
    >
      <p>
        {isActive
          ? 'Its keys and users are refused at once, until it is resumed. Nothing is deleted.'
          : 'Its keys and users are admitted again.'}
      </p>
    </Dialog>
  )
}
