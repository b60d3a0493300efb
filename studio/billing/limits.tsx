import { useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { amountOf } from './money.ts'

const WINDOWS = { minute: 'a minute', month: 'a month' } as const

/** Limits of money; the others are numbers of things. */
const IS_MONEY = /^(balance|topup\.|budget\.)/

function shown(name: string, value: number): string {
  return IS_MONEY.test(name) ? amountOf(value, null) : value.toLocaleString()
}

/** What is left of each limit. */
export function Limits() {
  const query = useQuery({
    queryKey: ['billing', 'limits'],
    queryFn: () => api.billing.limits(),
  })
  return (
    <Loaded query={query}>
      {({ data }) => (
        <table className="table" aria-label="Limits">
          <thead>
            <tr>
              <th scope="col">Limit</th>
              <th scope="col" className="number">
                Used
              </th>
              <th scope="col" className="number">
                Of
              </th>
              <th scope="col" className="wide">
                Begins again
              </th>
            </tr>
          </thead>
          <tbody>
            {data.map(({ name, limit, used, window, resets_at: at, source_id }) => (
              <tr key={`${name} ${source_id}`}>
                <td>
                  <code>{name}</code>
                </td>
                <td className="number">{used === null ? 'Not counted' : shown(name, used)}</td>
                <td className="number">
                  {limit === null ? 'No limit' : shown(name, limit)}
                  {limit !== null && window !== null && ` ${WINDOWS[window]}`}
                </td>
                <td className="wide">{at === null ? 'Never' : <Instant at={at} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Loaded>
  )
}
