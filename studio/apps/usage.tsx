import { TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { api } from '../api/client.ts'
import { Columns } from '../parts/columns.tsx'
import { Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Facts, Section } from '../parts/page.tsx'
import { useApp } from './app.ts'
import { sizeOf } from './drop-zone.tsx'

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
            <Section title="Of the published app">
              <Facts
                of={meters.map(({ meter, unit, published: { total } }) => [
                  NAMES[meter],
                  unit === 'bytes' ? sizeOf(total) : total.toLocaleString(),
                ])}
              />
            </Section>
            <Section title="Requests by day">
              <Columns
                label="Requests by day"
                unit="requests"
                of={daily.map(({ date, published: { requests } }) => ({
                  name: date,
                  value: requests,
                }))}
              />
              <p className="quiet">
                {as_of === null ? (
                  'Nobody asked for it yet.'
                ) : (
                  <>
                    Counted <Instant at={as_of} />.
                  </>
                )}{' '}
                Previews are not in it.
              </p>
            </Section>
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
