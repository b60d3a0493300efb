import type { Test } from 'tap'
import { auditFamily } from '../../../daemon/families/audit/family.ts'
import { MINUTE } from '../../../lib/time.ts'
import type { Answer as ReceiverAnswer } from '../../support/receiver.ts'
import type { Delivery, Page, Webhook } from '../../support/webhooks.ts'
import { OK, deliveryOf, hasStatus, receiverFor } from '../../support/webhooks.ts'
import type { AnyBody, Asker } from '../../support/world.ts'
import type { KeyWorld } from '../keys/world.ts'
import { START, openWorld } from '../keys/world.ts'
import type { Saw } from '../run.ts'

export const LACKS_SCOPE = '403 insufficient_scope'
export const WRITES = ['webhooks:*']
export const READS_EVENTS = ['webhooks:*', 'events:read']

/** An account that declared `order.paid`, with a receiver of webhooks. */
export interface AuthorityWorld extends KeyWorld {
  /** Where webhooks go unless told otherwise. */
  readonly url: string
  /** What the receiver was sent, as event types. */
  received(): readonly string[]
  /** The user's session, whose last proof is too old. */
  readonly stale: Asker
  declare(type: string): Promise<void>
  /** Registers a webhook that must be registered; as the user unless told otherwise. */
  hook(given?: AnyBody, as?: Asker): Promise<Webhook>
  show(webhook: Pick<Webhook, 'id'>): Promise<AnyBody>
  change(webhook: Pick<Webhook, 'id'>, body: AnyBody, as?: Asker): Promise<string>
  /** Publishes an event and answers its id. */
  publish(type: string, appId?: string): Promise<string>
  /** Waits until the webhook's delivery of an event stands as it should. */
  settled(webhook: Webhook, eventId: string, status: string): Promise<Delivery>
  deliveries(webhook: Pick<Webhook, 'id'>): Promise<readonly Delivery[]>
}

export async function openAuthority(
  t: Test,
  saw: Saw,
  answer: ReceiverAnswer = OK,
): Promise<AuthorityWorld> {
  const world = await openWorld(t, saw, { families: [auditFamily] })
  const { request, user, platform, account } = world
  const receiver = await receiverFor(t, answer)
  const declare = async (type: string): Promise<void> => {
    const { status } = await request('PUT', `/v1/event-types/${type}`)
    if (status !== 200) throw new Error(`${type} was not declared`)
  }
  await declare('order.paid')
  return {
    ...world,
    url: receiver.url,
    stale: { ...user, authenticated_at: START - 11 * MINUTE },
    declare,
    received: () =>
      receiver.requests.map(({ head }) => /x-service-event: (\S+)/i.exec(head)?.[1] ?? ''),
    async hook(given = {}, as = user) {
      const body = { url: receiver.url, events: ['app.deployed'], ...given }
      const made = await request<Webhook>('POST', '/v1/webhooks', { as, body })
      if (made.status !== 201) throw new Error(`no webhook: ${JSON.stringify(made.body)}`)
      return made.body
    },
    show: async ({ id }) => (await request('GET', `/v1/webhooks/${id}`)).body,
    change: ({ id }, body, as = user) => world.ask('PATCH', `/v1/webhooks/${id}`, as, body),
    async publish(type, appId) {
      const { engine, eventTypes, clock } = platform
      const isBuiltIn = eventTypes.builtIn.has(type)
      if (!isBuiltIn && !(await eventTypes.declared(account.id)).has(type)) throw new Error(type)
      const event = engine.newEvent(account.id, type, { n: 1 }, clock.now(), appId ?? null)
      await engine.outbox.publish([event])
      return event.id
    },
    settled: (webhook, eventId, status) => deliveryOf(world, webhook, eventId, hasStatus(status)),
    async deliveries({ id }) {
      const path = `/v1/webhooks/${id}/deliveries?limit=100`
      return (await request<Page<Delivery>>('GET', path)).body.data
    },
  }
}

/** The types of deliveries. */
export const typesOf = (deliveries: readonly Delivery[]): readonly string[] =>
  deliveries.map((one) => String(one['event_type'])).sort()

/** The ids that an answer names as webhooks of a key. */
export function webhooksIn(body: AnyBody): readonly string[] {
  return [...(body['webhooks'] as readonly string[])].sort()
}

export const idsOf = (...records: readonly { readonly id: string }[]): readonly string[] =>
  records.map(({ id }) => id).sort()
