import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { api } from '../api/client.ts'
import { Icon } from '../parts/icon.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { PageFrame, Section } from '../parts/page.tsx'
import { FIRST_EVENT } from '../parts/shell.ts'
import { causeOf, stateOf } from '../webhooks/cause.ts'

const DAY = 86_400_000

/** Whether anything needs the person; on the first day, the first steps. */
export function Page() {
  const query = useQuery({
    queryKey: ['home'],
    async queryFn() {
      const [keys, webhooks, events] = await Promise.all([
        api.keys.list({ limit: 100 }),
        api.webhooks.list({ limit: 100 }),
        api.events.list({ limit: 1 }),
      ])
      const isPart = keys.has_more || webhooks.has_more
      return {
        keys: keys.data,
        webhooks: webhooks.data,
        events: events.data,
        isPart,
        at: Date.now(),
      }
    },
    refetchInterval: 30_000,
  })
  return (
    <PageFrame title="Home">
      <Loaded query={query}>{(data) => <Overview {...data} />}</Loaded>
    </PageFrame>
  )
}

interface Known {
  readonly keys: Awaited<ReturnType<typeof api.keys.list>>['data']
  readonly webhooks: Awaited<ReturnType<typeof api.webhooks.list>>['data']
  readonly events: readonly unknown[]
  /** Whether there are older ones, which were not looked at. */
  readonly isPart: boolean
  readonly at: number
}

function Overview({ keys, webhooks, events, isPart, at }: Known) {
  // What a person disabled needs nobody.
  const failing = webhooks.filter(
    (webhook) => stateOf(webhook) !== 'active' && webhook.disabled_reason !== 'manual',
  )
  const expiring = keys.filter(
    ({ expires_at }) => expires_at !== null && Date.parse(expires_at) - at < 7 * DAY,
  )
  const isFirstDay = keys.length === 0 || webhooks.length === 0 || events.length === 0
  return (
    <>
      <Section title="Needs you">
        {failing.length === 0 && expiring.length === 0 && (
          <p className="clear">
            <Icon name="done" />{' '}
            {isPart ? 'Of the newest 100 keys and webhooks, nothing' : 'All clear: nothing'} fails,
            and no key expires within 7 days.
          </p>
        )}
        <ul className="cards">
          {failing.map((webhook) => (
            <li key={webhook.id}>
              <Link to="/webhooks/$webhookId" params={{ webhookId: webhook.id }}>
                {webhook.description ?? webhook.url}
              </Link>
              <p>{causeOf(webhook, undefined)}</p>
            </li>
          ))}
          {expiring.map(({ id, name }) => (
            <li key={id}>
              <Link to="/keys/$keyId" params={{ keyId: id }}>
                {name}
              </Link>
              <p>This key expires within 7 days.</p>
            </li>
          ))}
        </ul>
      </Section>
      {isFirstDay && (
        <Section title="First steps">
          <ol className="steps">
            <Step done={keys.length > 0}>
              <Link to="/keys/new">Create a key</Link>, with which programs use the API.
            </Step>
            <Step done={webhooks.length > 0}>
              <Link to="/webhooks/new">Add a webhook</Link>, and send it a test.
            </Step>
            <Step done={events.length > 0}>
              Publish an event: <code>{FIRST_EVENT}</code>
            </Step>
          </ol>
        </Section>
      )}
    </>
  )
}

function Step({ done, children }: { readonly done: boolean; readonly children: ReactNode }) {
  return (
    <li data-done={done || undefined}>
      <Icon name={done ? 'done' : 'waiting'} />
      <span>
        {children}
        <span className="hidden">{done ? ' Done.' : ' Not done yet.'}</span>
      </span>
    </li>
  )
}
