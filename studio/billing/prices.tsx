import type { UseQueryResult } from '@tanstack/react-query'
import { useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { Loaded } from '../parts/loaded.tsx'
import { amountOf } from './money.ts'

type Pricing = Awaited<ReturnType<typeof api.billing.pricing>>

/** The prices in effect. */
export function usePricing(): UseQueryResult<Pricing> {
  return useQuery({ queryKey: ['billing', 'pricing'], queryFn: () => api.billing.pricing() })
}

/** What each charged operation costs now. */
export function Prices() {
  const query = usePricing()
  return (
    <Loaded query={query}>
      {({ operations, currency, version }) => (
        <>
          <table className="table" aria-label="Prices">
            <thead>
              <tr>
                <th scope="col">Operation</th>
                <th scope="col" className="number">
                  Price
                </th>
                <th scope="col">For</th>
              </tr>
            </thead>
            <tbody>
              {operations.map(({ operation, meter, per, price_micros, billable }) => (
                <tr key={operation}>
                  <td>
                    <code>{operation}</code>
                  </td>
                  <td className="number">{billable ? amountOf(price_micros, currency) : 'Free'}</td>
                  <td>{per === 1 ? 'Each' : `${per.toLocaleString()} ${meter}`}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <p className="quiet list-end">Version {version}. Work that fails is free.</p>
        </>
      )}
    </Loaded>
  )
}
