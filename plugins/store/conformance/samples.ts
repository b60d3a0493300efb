import { isFinal } from '../../../lib/delivery/state.ts'
import type { AttemptTrigger, DeliveryState } from '../../../lib/delivery/state.ts'
import type {
  Claim,
  ClaimedDelivery,
  DeliveryRecord,
  NewEvent,
  Publication,
  SettledAttempt,
} from '../../../lib/engine/ports.ts'
import type { KeySecret } from '../../../lib/key/lifecycle.ts'
import type { KeyRecord } from '../../../lib/key/record.ts'
import { readScopes } from '../../../lib/scope/canonical.ts'
import type { Instant } from '../../../lib/time.ts'
import { serializeEvent } from '../../../lib/webhook/event.ts'
import { createdOrigin } from '../../../lib/webhook/origin.ts'
import type { WebhookRecord } from '../../../lib/webhook/record.ts'
import type { AccountRecord, UserRecord } from '../contract/accounts.ts'
import type { EventListQuery } from '../contract/events.ts'
import type { Store } from '../contract.ts'

/** When the samples were made: before anything that a case does. */
export const BORN: Instant = 1_700_000_000_000

export const ACCOUNT = 'acc_1'
export const STRANGER = 'acc_2'

export function sampleAccount(changes: Partial<AccountRecord> = {}): AccountRecord {
  return {
    id: ACCOUNT,
    name: 'Acme',
    plan: 'free',
    key_limit: null,
    suspended_at: null,
    created_at: BORN,
    updated_at: BORN,
    ...changes,
  }
}

export function sampleUser(changes: Partial<UserRecord> = {}): UserRecord {
  return {
    id: 'usr_1',
    account_id: ACCOUNT,
    email: 'owner@example.com',
    password: 'scrypt$1',
    created_at: BORN,
    updated_at: BORN,
    ...changes,
  }
}

export function sampleSecret(hash: string, changes: Partial<KeySecret> = {}): KeySecret {
  return {
    hash,
    display: 'service_dk_aBcDeFgH',
    version: 1,
    created_at: BORN,
    not_after: null,
    ...changes,
  }
}

/** A root key whose only value hashes to `hash of <id>`. */
export function sampleKey(id: string, changes: Partial<KeyRecord> = {}): KeyRecord {
  return {
    id,
    account_id: ACCOUNT,
    name: 'CI',
    scopes: readScopes('apps:* keys:read'),
    pins: 'all',
    parent_id: null,
    depth: 0,
    expires_at: null,
    revoked_at: null,
    created_by: { type: 'user', id: 'usr_1' },
    created_at: BORN,
    updated_at: BORN,
    last_used_at: null,
    monthly_budget_micros: null,
    version: 1,
    secrets: [sampleSecret(`hash of ${id}`)],
    ...changes,
  }
}

export function sampleWebhook(id: string, changes: Partial<WebhookRecord> = {}): WebhookRecord {
  return {
    id,
    account_id: ACCOUNT,
    url: 'https://receiver.example.com/hooks',
    events: ['order.paid', 'order.shipped'],
    description: null,
    apps: null,
    status: 'active',
    disabled_reason: null,
    disabled_at: null,
    consecutive_failures: 0,
    first_failure_at: null,
    failing_at: null,
    last_success_at: null,
    last_delivery_at: null,
    standard_headers: false,
    trace_headers: false,
    headers: null,
    rate_limit: null,
    concurrency: null,
    created_by: { type: 'key', id: 'key_1' },
    created_at: BORN,
    updated_at: BORN,
    ...createdOrigin({ type: 'key', id: 'key_1' }, BORN),
    secrets: [],
    ...changes,
  }
}

/** An event whose id was made by the service; its body says its id, type, instant and `data`. */
export function sampleEvent(
  id: string,
  changes: Partial<NewEvent> & { readonly data?: object } = {},
): NewEvent {
  const { data = { total: 12 }, ...columns } = changes
  const event = {
    id,
    account_id: ACCOUNT,
    app_id: null,
    type: 'order.paid',
    created_at: BORN,
    supplied: false,
    ...columns,
  }
  return { body: serializeEvent({ ...event, data }), ...event }
}

/** Every event of the account, as a feed. */
export const FEED: EventListQuery = {
  account_id: ACCOUNT,
  types: null,
  since: null,
  until: null,
  apps: null,
  order: 'asc',
  bodies: true,
  after: null,
  limit: 100,
}

/** A delivery that was just born: pending and due, or as `changes` say. */
export function sampleDelivery(id: string, changes: Partial<DeliveryRecord> = {}): DeliveryRecord {
  const final = isFinal(changes.status ?? 'pending')
  return {
    id,
    account_id: ACCOUNT,
    webhook_id: 'wh_1',
    event_id: `evt_${id}`,
    event_type: 'order.paid',
    app_id: null,
    status: 'pending',
    attempts: 0,
    automatic: 0,
    trigger: 'event',
    next_at: final ? null : BORN,
    end_reason: null,
    created_at: BORN,
    done_at: final ? BORN : null,
    claim: changes.status === 'delivering' ? 'claim on creation' : null,
    ...changes,
  }
}

/** An event of its own for each delivery. */
export function publicationOf(delivery: DeliveryRecord): Publication {
  const { event_id, account_id, event_type, app_id } = delivery
  const event = sampleEvent(event_id, { account_id, type: event_type, app_id })
  return { event, deliveries: [delivery] }
}

/** Publishes deliveries, each with its event; their webhooks are not made. */
export async function publishDeliveries(
  store: Store,
  ...deliveries: readonly DeliveryRecord[]
): Promise<void> {
  await store.publish(() => deliveries.map(publicationOf))
}

export async function insertWebhooks(
  store: Store,
  ...webhooks: readonly WebhookRecord[]
): Promise<void> {
  await store.write(async (tx) => {
    for (const webhook of webhooks) await tx.webhooks.insert(webhook)
  })
}

export async function insertKeys(store: Store, ...keys: readonly KeyRecord[]): Promise<void> {
  await store.write(async (tx) => {
    for (const key of keys) await tx.keys.insert(key)
  })
}

/** Asks for a claim of up to ten deliveries of `wh_1`, leased for a minute. */
export function sampleClaim(now: Instant, changes: Partial<Claim> = {}): () => Claim {
  return () => ({
    queues: [{ webhook_id: 'wh_1', limit: 10 }],
    now,
    lease_until: now + 60_000,
    renews: false,
    token: 'claim 1',
    ...changes,
  })
}

export function idsOf(claimed: readonly ClaimedDelivery[]): readonly string[] {
  return claimed.map(({ delivery }) => delivery.id).sort()
}

export async function deliveryOf(
  store: Store,
  id: string,
  webhookId = 'wh_1',
): Promise<DeliveryRecord | undefined> {
  return (await store.deliveries.get(ACCOUNT, webhookId, id))?.delivery
}

/** The outcome of a claimed delivery's first attempt: it succeeded, or is to be as `after` says. */
export function outcomeOf(
  { id, webhook_id, claim, trigger }: DeliveryRecord,
  now: Instant,
  after: Partial<DeliveryState> = {},
): SettledAttempt {
  const state: DeliveryState = {
    status: 'succeeded',
    attempts: 1,
    automatic: 1,
    trigger,
    next_at: null,
    end_reason: null,
    ...after,
  }
  const failed = state.status !== 'succeeded'
  return {
    delivery_id: id,
    webhook_id,
    claim: claim ?? '',
    verdict: failed ? 'failed' : 'succeeded',
    after: state,
    done_at: isFinal(state.status) ? now : null,
    attempt: sampleAttempt(state.attempts, trigger, now, failed),
  }
}

function sampleAttempt(
  number: number,
  trigger: AttemptTrigger,
  started_at: Instant,
  failed: boolean,
): SettledAttempt['attempt'] {
  return {
    number,
    trigger,
    started_at,
    duration: 35,
    status_code: failed ? 500 : 204,
    error: failed ? 'http_status' : null,
    response: failed ? 'überlastet' : null,
  }
}
