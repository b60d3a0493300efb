import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import type { Wallet } from '../api/client.ts'
import { api } from '../api/client.ts'
import { FullInstant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Facts, PageFrame, Section } from '../parts/page.tsx'
import { Limits } from './limits.tsx'
import { amountOf } from './money.ts'
import { Payment } from './payment.tsx'
import { Prices } from './prices.tsx'
import { Spending } from './spending.tsx'

/** What is left, what is held for work under way, and what it goes to. */
export function Page() {
  const { from } = useSearch({ from: '/inside/billing' })
  const wallet = useQuery({
    queryKey: ['billing', 'wallet'],
    queryFn: () => api.billing.wallet(),
    refetchInterval: from === 'payment' ? 5000 : 30_000,
  })
  return (
    <PageFrame title="Billing">
      <Loaded query={wallet}>
        {(data) => (
          <>
            <Balance of={data} />
            {data.mode !== 'none' && (
              <Section title="Payment">
                <Payment of={data} />
              </Section>
            )}
          </>
        )}
      </Loaded>
      <Section title="This month">
        <Spending />
      </Section>
      <Section title="Limits">
        <Limits />
      </Section>
      <Section title="Prices">
        <Prices />
      </Section>
    </PageFrame>
  )
}

function Balance({ of: wallet }: { readonly of: Wallet }) {
  const { currency, available_micros: available, held_micros: held, debt_micros: debt } = wallet
  if (available === null) {
    return <p className="cause">This service charges nothing. The plan is {wallet.plan}.</p>
  }
  const [soonest] = wallet.expiring
  return (
    <>
      <p className="cause">
        {amountOf(available, currency)} can be spent{wallet.is_low && ', which is low'}.{' '}
        {held > 0 && `${amountOf(held, currency)} is held for work that has not ended. `}
        {debt > 0 && `${amountOf(debt, currency)} is your debt: the next credit pays it.`}
      </p>
      <Facts
        of={[
          ['Balance', amountOf(wallet.balance_micros, currency)],
          ['Held', amountOf(held, currency)],
          ['Plan', wallet.plan],
          [
            'Expires next',
            soonest === undefined ? (
              'Nothing'
            ) : (
              <>
                {amountOf(soonest.amount_micros, currency)} on{' '}
                <FullInstant at={soonest.expires_at} />
              </>
            ),
          ],
          [
            'Transactions',
            <Link key="ledger" to="/billing/ledger">
              Show the ledger
            </Link>,
          ],
          [
            'Invoices',
            <Link key="invoices" to="/billing/invoices">
              Show invoices
            </Link>,
          ],
        ]}
      />
    </>
  )
}
