import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { api } from '../api/client.ts'
import { Icon } from '../parts/icon.tsx'
import { Instant } from '../parts/instant.tsx'
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
      const [keys, webhooks, events, apps, wallet, limits] = await Promise.all([
        api.keys.list({ limit: 100 }),
        api.webhooks.list({ limit: 100 }),
        api.events.list({ limit: 1 }),
        api.apps.list({ limit: 1 }),
        api.billing.wallet(),
        api.billing.limits(),
      ])
      const isPart = keys.has_more || webhooks.has_more
      return {
        keys: keys.data,
        webhooks: webhooks.data,
        events: events.data,
        apps: apps.data,
        isLow: wallet.is_low,
        full: limits.data.filter(isFull),
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

type Limit = Awaited<ReturnType<typeof api.billing.limits>>['data'][number]

interface Known {
  readonly keys: Awaited<ReturnType<typeof api.keys.list>>['data']
  readonly webhooks: Awaited<ReturnType<typeof api.webhooks.list>>['data']
  readonly events: readonly unknown[]
  readonly apps: readonly unknown[]
  /** Whether the credit is below the threshold. */
  readonly isLow: boolean
  /** Limits of which nothing is left. */
  readonly full: readonly Limit[]
  /** Whether there are older ones, which were not looked at. */
  readonly isPart: boolean
  readonly at: number
}

function Overview({ keys, webhooks, events, apps, isLow, full, isPart, at }: Known) {
  // What a person disabled needs nobody.
  const failing = webhooks.filter(
    (webhook) => stateOf(webhook) !== 'active' && webhook.disabled_reason !== 'manual',
  )
  const endOf = endsIn(keys)
  const expiring = keys.filter((key) => endOf(key) - at < 7 * DAY)
  // Whoever revokes a key revokes those below it.
  const parents = new Set(keys.map(({ parent_key_id: parent }) => parent))
  const unused = keys.filter(
    (key) => isUnused(key, at) && !parents.has(key.id) && !expiring.includes(key),
  )
  const cards = failing.length + expiring.length + unused.length + full.length + (isLow ? 1 : 0)
  const isFirstDay = [keys, webhooks, events, apps].some(({ length }) => length === 0)
  return (
    <>
      <Section title="Needs you">
        {cards === 0 && (
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
          {full.map(({ name }) => (
            <li key={name}>
              <Link to="/billing">{name}</Link>
              <p>Nothing is left of this limit.</p>
            </li>
          ))}
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
          {unused.map(({ id, name, created_at }) => (
            <li key={id}>
              <Link to="/keys/$keyId" params={{ keyId: id }}>
                {name}
              </Link>
              <p>
                This key was created <Instant at={created_at} /> and never used. Revoke it if
                nothing needs it.
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

/** After a week nobody waits for the first use any more. */
function isUnused({ status, last_used_at, created_at }: Key, at: number): boolean {
  return status === 'active' && last_used_at === null && at - Date.parse(created_at) > 7 * DAY
}

/** Of a balance nothing counts as used: low credit has its own card. */
function isFull({ remaining, used }: Limit): boolean {
  return remaining === 0 && (used ?? 0) > 0
}

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
