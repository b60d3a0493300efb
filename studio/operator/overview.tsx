import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { ServiceStatus } from '../api/client.ts'
import { operatorApi } from '../api/client.ts'
import { Icon } from '../parts/icon.tsx'
import { Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Empty, Facts, PageFrame, Section } from '../parts/page.tsx'
import type { Column } from '../parts/table.tsx'
import { Table } from '../parts/table.tsx'
import { bytesOf, durationOf, verdictOf } from './figures.ts'

const EVERY = 5000

type FailedAttempt = ServiceStatus['last_errors'][number] & { readonly id: string }

const COLUMNS: readonly Column<FailedAttempt>[] = [
  {
    name: 'Account',
    cell: ({ account_id }) => (
      <Link
        to="/operator/accounts/$accountId"
        params={{ accountId: account_id }}
        className="row-link"
      >
        <code>{account_id}</code>
      </Link>
    ),
  },
  { name: 'Webhook', wide: true, cell: ({ webhook_id }) => <code>{webhook_id}</code> },
  {
    name: 'Cause',
    cell: ({ status_code, reason, error }) =>
      status_code === null ? (reason ?? error) : `The receiver responded ${status_code}`,
  },
  { name: 'When', cell: ({ at }) => <Instant at={at} /> },
]

/** Is the service healthy? */
export function Page() {
  const status = useQuery({
    queryKey: ['operator', 'status'],
    queryFn: () => operatorApi().operator.status(),
    refetchInterval: EVERY,
  })
  return (
    <PageFrame title="Overview">
      <Loaded query={status}>{(data) => <Health of={data} />}</Loaded>
    </PageFrame>
  )
}

function Health({ of: status }: { readonly of: ServiceStatus }) {
  const before = useBefore(status)
  const { isGood, sentence } = verdictOf(status)
  return (
    <>
      <p className="verdict" data-tone={isGood ? 'good' : 'bad'}>
        <Icon name={isGood ? 'done' : 'failed'} />
        {sentence}
      </p>
      <Facts
        of={[
          ['Unfinished deliveries', count(status.unfinished_deliveries)],
          ['Oldest due', durationOf(status.oldest_due_seconds)],
          ['Webhooks with a backlog', count(status.webhooks_with_backlog)],
          ['Failing webhooks', count(status.webhooks_failing)],
          ['Delivery attempts', rateOf('attempts_total', status, before)],
          ['Events', rateOf('events_total', status, before)],
          ['Requests', rateOf('requests_total', status, before)],
        ]}
      />
      <Section title="Latest failed attempts">
        {status.last_errors.length === 0 ? (
          <Empty>No attempt of this process has failed since its start.</Empty>
        ) : (
          <Table
            label="Failed attempts"
            columns={COLUMNS}
            rows={status.last_errors.map((one) => ({ ...one, id: `${one.delivery_id} ${one.at}` }))}
          />
        )}
      </Section>
      <Section title="Process">
        <Facts
          of={[
            ['Version', status.version],
            ['Node', status.node_version],
            ['Up for', durationOf(status.uptime_seconds)],
            ['Database', databaseOf(status)],
            [
              'Disk of the data folder',
              `${bytesOf(status.disk.free_bytes)} free of ${bytesOf(status.disk.total_bytes)}`,
            ],
          ]}
        />
      </Section>
    </>
  )
}

/** The status that was shown before this one. */
function useBefore(status: ServiceStatus): ServiceStatus | undefined {
  const [shown, setShown] = useState<readonly [ServiceStatus, ServiceStatus | undefined]>([
    status,
    undefined,
  ])
  useEffect(() => {
    setShown(([last, before]) => (last.at === status.at ? [last, before] : [status, last]))
  }, [status])
  return shown[1]
}

function rateOf(
  name: 'attempts_total' | 'events_total' | 'requests_total',
  now: ServiceStatus,
  before: ServiceStatus | undefined,
): string {
  const total = now[name] ?? 0
  const since = `${total.toLocaleString()} since the start`
  if (before === undefined || before.uptime_seconds > now.uptime_seconds) return since
  const seconds = Math.max(0.001, (Date.parse(now.at) - Date.parse(before.at)) / 1000)
  return `${((total - (before[name] ?? 0)) / seconds).toFixed(1)} per second, ${since}`
}

function count(value: number | null): string {
  return value === null ? 'Unknown: the database does not answer' : value.toLocaleString()
}

function databaseOf({ database: { kind, bytes } }: ServiceStatus): string {
  if (kind === 'postgres') return 'PostgreSQL'
  return bytes === null ? 'SQLite' : `SQLite, ${bytesOf(bytes)}`
}
