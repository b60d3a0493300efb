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
      const [keys, webhooks, events, apps, wallet] = await Promise.all([
        api.keys.list({ limit: 100 }),
        api.webhooks.list({ limit: 100 }),
        api.events.list({ limit: 1 }),
        api.apps.list({ limit: 1 }),
        api.billing.wallet(),
      ])
      const isPart = keys.has_more || webhooks.has_more
      return {
        keys: keys.data,
        webhooks: webhooks.data,
        events: events.data,
        apps: apps.data,
        isLow: wallet.is_low,
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
  readonly apps: readonly unknown[]
  /** Whether the credit is below the threshold. */
  readonly isLow: boolean
  /** Whether there are older ones, which were not looked at. */
  readonly isPart: boolean
  readonly at: number
}

function Overview({ keys, webhooks, events, apps, isLow, isPart, at }: Known) {
  // What a person disabled needs nobody.
  const failing = webhooks.filter(
    (webhook) => stateOf(webhook) !== 'active' && webhook.disabled_reason !== 'manual',
  )
  const endOf = endsIn(keys)
  const expiring = keys.filter((key) => endOf(key) - at < 7 * DAY)
  const isFirstDay = [keys, webhooks, events, apps].some(({ length }) => length === 0)
  return (
    <>
      <Section title="Needs you">
        {failing.length === 0 && expiring.length === 0 && !isLow && (
          <p className="clear">
            <Icon name="done" />{' '}
            {isPart ? 'Of the newest 100 keys and webhooks, nothing' : 'All clear: nothing'} fails,
            and no key expires within 7 days.
          </p>
        )}
        <ul className="cards">
          {isLow && (
            <li>
              <Link to="/billing">Billing</Link>
              <p>The credit is low.</p>
            </li>
          )}
          {failing.map((webhook) => (
            <li key={webhook.id}>
              <Link to="/webhooks/$webhookId" params={{ webhookId: webhook.id }}>
                {webhook.description ?? webhook.url}
              </Link>
              <p>{causeOf(webhook, undefined)}</p>
            </li>
          ))}
          {expiring.map(({ id, name, parent_key_id: parent, expires_at: end }) => (
            <li key={id}>
              <Link to="/keys/$keyId" params={{ keyId: id }}>
                {name}
              </Link>
              <p>
                {parent !== null && (end === null || Date.parse(end) - at >= 7 * DAY)
                  ? 'A key above this one expires within 7 days, and this one ends with it.'
                  : 'This key expires within 7 days.'}
              </p>
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
            <Step done={apps.length > 0}>
              <Link to="/apps/new">Create an app</Link>, and publish it.
            </Step>
          </ol>
        </Section>
      )}
    </>
  )
}

type Key = Known['keys'][number]

/** When a key ends: as it says itself, or with the first key above it. */
function endsIn(keys: readonly Key[]): (key: Key) => number {
  const byId = new Map(keys.map((key) => [key.id, key]))
  return function endOf({ expires_at, parent_key_id: parent }: Key): number {
    const own = expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at)
    const above = byId.get(parent ?? '')
    return above === undefined ? own : Math.min(own, endOf(above))
  }
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
