import { TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { api } from '../api/client.ts'
import { Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Section } from '../parts/page.tsx'
import { useApp } from './app.ts'
import { sizeOf } from './drop-zone.tsx'
import { UsageChart } from './usage-chart.tsx'

/** What visitors asked of an app in a month, day by day. */
export function Page() {
  const { id: app_id } = useApp()
  const { month } = useSearch({ from: '/inside/apps/$appId/usage' })
  const navigate = useNavigate()
  const query = useQuery({
    queryKey: ['apps', 'hosting_usage', app_id, month],
    queryFn: () => api.apps.hostingUsage({ app_id, ...(month === undefined ? {} : { month }) }),
    refetchInterval: 30_000,
  })
  return (
    <>
      <TextInput
        type="month"
        label="Month (UTC)"
        className="month"
        value={month ?? new Date().toISOString().slice(0, 7)}
        onChange={({ currentTarget: { value } }) =>
          void navigate({
            to: '.',
            search: (value === '' ? {} : { month: value }) as never,
            replace: true,
          })
        }
      />
      <Loaded query={query}>
        {({ meters, daily, as_of }) => (
          <>
            <table className="table" aria-label="Meters of the month">
              <thead>
                <tr>
                  <th scope="col">Meter</th>
                  <th scope="col" className="number">
                    Published
                  </th>
                  <th scope="col" className="number">
                    Preview
                  </th>
                </tr>
              </thead>
              <tbody>
                {meters.map(({ meter, unit, published, preview }) => (
                  <tr key={meter}>
                    <td>{NAMES[meter]}</td>
                    <td className="number">{PRINTED[unit](published.total)}</td>
                    <td className="number">{PRINTED[unit](preview.total)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
            <p className="quiet counted">
              {as_of === null ? (
                'Nobody asked for it yet.'
              ) : (
                <>
                  Counted <Instant at={as_of} />.
                </>
              )}
            </p>
            {meters.map(({ meter, unit }) => (
              <Section key={meter} title={`${NAMES[meter]} by day`}>
                <UsageChart name={NAMES[meter]} meter={meter} daily={daily} print={PRINTED[unit]} />
              </Section>
            ))}
          </>
        )}
      </Loaded>
    </>
  )
}

const NAMES = {
  requests: 'Requests',
  errors: 'Failed (500 or more)',
  not_found: 'Not found (404)',
  egress_bytes: 'Sent',
} as const

const PRINTED = {
  requests: (value: number): string => value.toLocaleString(),
  bytes: sizeOf,
} as const
