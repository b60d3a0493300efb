import { Link, useSearch } from '@tanstack/react-router'
import type { AuditEntry } from '../api/client.ts'
import { api } from '../api/client.ts'
import { Filters } from '../parts/filters.tsx'
import { Instant } from '../parts/instant.tsx'
import { Empty, PageFrame } from '../parts/page.tsx'
import type { Column } from '../parts/table.tsx'
import { List } from '../parts/table.tsx'

const COLUMNS: readonly Column<AuditEntry>[] = [
  {
    name: 'Action',
    cell: ({ action, request_id }) => (
      <>
        <code>{action}</code>
        <code className="quiet below wide">{request_id}</code>
      </>
    ),
  },
  { name: 'By', cell: (entry) => <Actor of={entry} /> },
  { name: 'On', cell: (entry) => <Target of={entry} /> },
  { name: 'Through', wide: true, cell: (entry) => <Way of={entry} /> },
  { name: 'When', cell: ({ at }) => <Instant at={at} /> },
]

const ACTORS: Readonly<Record<string, string>> = {
  key: 'Key',
  user: 'User',
  operator: 'Operator',
  processor: 'Payment processor',
}

function Actor({ of: { actor } }: { readonly of: AuditEntry }) {
  const name = ACTORS[actor.type] ?? actor.type
  if (actor.id === null) return <span className="word">{name}</span>
  return (
    <>
      {actor.type === 'key' ? (
        <Link to="/keys/$keyId" params={{ keyId: actor.id }}>
          {name}
        </Link>
      ) : (
        <span className="word">{name}</span>
      )}
      <code className="quiet below wide">{actor.id}</code>
    </>
  )
}

/** Where a record is shown, by its type. */
const SHOWN_AT: Readonly<Record<string, readonly [to: string, param: string]>> = {
  key: ['/keys/$keyId', 'keyId'],
  webhook: ['/webhooks/$webhookId', 'webhookId'],
  app: ['/apps/$appId', 'appId'],
}

function Target({ of: { target } }: { readonly of: AuditEntry }) {
  const [to, param] = SHOWN_AT[target.type] ?? []
  return (
    <>
      {to === undefined || param === undefined ? (
        <span className="word">{target.type}</span>
      ) : (
        <Link to={to} params={{ [param]: target.id }}>
          {target.type}
        </Link>
      )}
      <code className="quiet below wide">{target.id}</code>
    </>
  )
}

/** Only a browser has a session of a user: what it did is Studio's own traffic. */
function Way({ of: { actor, protocol, client, ip } }: { readonly of: AuditEntry }) {
  const isStudio = actor.type === 'user' && protocol === 'rest'
  return (
    <>
      {isStudio ? <span className="tag">Studio</span> : (protocol ?? 'the service itself')}
      <span className="quiet below">
        {[isStudio ? null : client, ip].filter((part) => part !== null).join(', ')}
      </span>
    </>
  )
}

/** Who changed what, and when. */
export function Page() {
  const { action, actor, target } = useSearch({ from: '/inside/audit' })
  const filters = {
    ...(action === undefined ? {} : { action }),
    ...(actor === undefined ? {} : { actor_id: actor }),
    ...(target === undefined ? {} : { target_id: target }),
  }
  const isFiltered = Object.keys(filters).length > 0
  return (
    <PageFrame title="Audit">
      <Filters
        of={[
          { name: 'action', label: 'Action', example: 'key.revoked' },
          { name: 'actor', label: 'By id', example: 'id of a key or user' },
          { name: 'target', label: 'On id', example: 'id of what was changed' },
        ]}
      />
      <List
        label="Audit entries"
        queryKey={['audit', 'list', filters]}
        read={(query, options) => api.audit.list({ ...filters, ...query }, options)}
        columns={COLUMNS}
        empty={
          <Empty>
            {isFiltered
              ? 'No entry matches these filters.'
              : 'Every change of this account appears here.'}
          </Empty>
        }
      />
    </PageFrame>
  )
}
