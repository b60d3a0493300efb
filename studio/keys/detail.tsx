import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { KeyDetail } from '../api/client.ts'
import { api } from '../api/client.ts'
import { useAct } from '../parts/act.ts'
import { Copyable } from '../parts/copyable.tsx'
import { FullInstant, Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Facts, PageFrame, Section } from '../parts/page.tsx'
import { Problem } from '../parts/problem.tsx'
import { State } from '../parts/state.tsx'
import { useReach } from '../shell/reach.ts'
import { Authority } from './authority.tsx'
import { Revoke } from './revoke.tsx'
import { Rotate } from './rotate.tsx'

const KEYS = [{ name: 'Keys', to: '/keys' }]

export function Page() {
  const { keyId: key_id } = useParams({ from: '/inside/keys/$keyId' })
  const query = useQuery({
    queryKey: ['keys', 'get', key_id],
    queryFn: () => api.keys.get({ key_id }),
  })
  const [open, setOpen] = useState<'rotate' | 'revoke'>()
  const key = query.data
  const { may } = useReach()
  const isLive = key?.status === 'active' || key?.status === 'rotating'
  return (
    <PageFrame
      title={key?.name ?? 'Key'}
      crumbs={KEYS}
      state={key && <State of={key.status} />}
      actions={
        isLive &&
        may('keys:write') && (
          <>
            <Button onClick={() => setOpen('rotate')}>Rotate…</Button>
            <Button variant="default" onClick={() => setOpen('revoke')}>
              Revoke…
            </Button>
          </>
        )
      }
    >
      <Loaded query={query}>{(data) => <Detail of={data} />}</Loaded>
      {key !== undefined && open === 'rotate' && (
        <Rotate of={key} close={() => setOpen(undefined)} />
      )}
      {key !== undefined && open === 'revoke' && (
        <Revoke of={key} close={() => setOpen(undefined)} />
      )}
    </PageFrame>
  )
}

function Detail({ of: key }: { readonly of: KeyDetail }) {
  const seesWebhooks = useReach().may('webhooks:read')
  return (
    <>
      <Facts
        of={[
          ['Id', <Copyable key="id" text={key.id} what="id" />],
          ['Value begins with', <code key="prefix">{key.prefix}…</code>],
          [
            'Last used',
            key.last_used_at === null ? 'Never' : <Instant key="used" at={key.last_used_at} />,
          ],
          ['Created', <FullInstant key="created" at={key.created_at} />],
          [
            'Expires',
            key.expires_at === null ? 'Never' : <FullInstant key="expires" at={key.expires_at} />,
          ],
        ]}
      />
      {key.previous_values.length > 0 && <Previous of={key} />}
      <Section title="What it may do">
        <Authority of={key} />
      </Section>
      <Section title="Webhooks it set">
        {key.webhooks.length === 0 && <p className="quiet">None.</p>}
        <ul>
          {key.webhooks.map((id) => (
            <li key={id}>
              {seesWebhooks ? (
                <Link to="/webhooks/$webhookId" params={{ webhookId: id }}>
                  {id}
                </Link>
              ) : (
                <code>{id}</code>
              )}
            </li>
          ))}
        </ul>
      </Section>
    </>
  )
}

/** Earlier values that still work, and the way to end them. */
function Previous({ of: { id, previous_values } }: { readonly of: KeyDetail }) {
  const { may } = useReach()
  const end = useAct(() => api.keys.endPrevious({ key_id: id }))
  return (
    <Section title="Previous values that still work">
      <ul>
        {previous_values.map(({ prefix, valid_until }) => (
          <li key={prefix}>
            <code>{prefix}…</code>, until <FullInstant at={valid_until} />
          </li>
        ))}
      </ul>
      {end.error !== null && <Problem error={end.error} />}
      {may('keys:write') && (
        <Button
          variant="default"
          size="xs"
          loading={end.isPending}
          onClick={() => end.mutate(undefined)}
        >
          End previous values now
        </Button>
      )}
    </Section>
  )
}
