import { useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { Loaded } from '../parts/loaded.tsx'
import { amountOf } from './money.ts'

/** What was charged this month, by operation. */
export function Spending() {
  const query = useQuery({
    queryKey: ['billing', 'usage', 'operation'],
    queryFn: () => api.billing.usage({ group_by: 'operation', limit: 100 }),
  })
  return (
    <Loaded query={query}>
      {({ data, currency, totals }) =>
        data.length === 0 ? (
          <p className="quiet">Nothing was charged.</p>
        ) : (
          <table className="table" aria-label="Charged this month">
            <thead>
              <tr>
                <th scope="col">Operation</th>
                <th scope="col" className="number">
                  Times
                </th>
                <th scope="col" className="number">
                  Charged
                </th>
              </tr>
            </thead>
            <tbody>
              {data.map(({ group: { operation }, count, charged_micros }) => (
                <tr key={operation}>
                  <td>
                    <code>{operation}</code>
                  </td>
                  <td className="number">{count}</td>
                  <td className="number">{amountOf(charged_micros, currency)}</td>
                </tr>
              ))}
              <tr>
                <th scope="row">In all</th>
                <td className="number">{totals.count}</td>
                <td className="number">{amountOf(totals.charged_micros, currency)}</td>
              </tr>
            </tbody>
          </table>
        )
      }
    </Loaded>
  )
}
