import { IDENTIFIERS } from '../../daemon/events/types.ts'
import { webhooksFamily } from '../../daemon/families/webhooks/family.ts'
import type { Family } from '../../daemon/operations/family.ts'
import type { Answer, ReceivedRequest, Receiver } from './receiver.ts'
import { answerWith, startReceiver } from './receiver.ts'
import { signal } from './signal.ts'
import type { AnyBody, Asker, World, WorldOptions } from './world.ts'
import { createWorld } from './world.ts'

/** What a fixture needs of a test. */
interface Scope {
  testdir(): string
  teardown(handler: () => Promise<void>): void
}

/** What tests read of a webhook's record. */
export interface Webhook extends AnyBody {
  readonly id: string
  readonly secret: string
}

export interface Delivery extends AnyBody {
  readonly id: string
  readonly event_id: string
  readonly status: string
  readonly attempts: readonly unknown[]
}

export interface Page<T> {
  readonly data: readonly T[]
  readonly has_more: boolean
  readonly next_cursor: string | null
}

export const OK = answerWith('HTTP/1.1 204 No Content\r\n\r\n')
export const FAILS = answerWith('HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n')

/** A family of which only the types of its events matter here. */
const shop: Family = {
  name: 'shop',
  scopes: {},
  events: [
    { type: 'app.deployed', scope: IDENTIFIERS, description: 'An app is deployed.', sample: {} },
  ],
  errors: { rows: {} },
  operations: [],
}

/** A world with webhooks and something to tell them of; families given are mounted beside. */
export function shopWorld(t: Scope, options: WorldOptions = {}): Promise<World> {
  const families = [webhooksFamily, shop, ...(options.families ?? [])]
  return createWorld(t, { ...options, families })
}

/** Revokes a key when the next replay or retry, of whomever, has its turn. */
export function revokeInTurn({ platform }: World, keyId: string): void {
  const { store, clock, queues } = platform
  const { replays } = queues
  Object.assign(queues, {
    replays: ((turn, work) =>
      replays(turn, async () => {
        await store.write((tx) => tx.keys.revoke(keyId, clock.now()))
        return work()
      })) satisfies typeof replays,
  })
}

export async function receiverFor(
  t: Scope,
  answer: Answer = OK,
): Promise<Receiver & { url: string }> {
  const receiver = await startReceiver(answer)
  t.teardown(() => receiver.close())
  return Object.assign(receiver, { url: `http://127.0.0.1:${receiver.port}/in` })
}

/** Answers when it is told to, so that an attempt stays under way until then. */
export function heldAnswer(): {
  readonly answer: Answer
  letGo(): void
  readonly asked: Promise<void>
} {
  const go: (() => void)[] = []
  const { promise: asked, resolve: told } = signal()
  return {
    asked,
    answer(socket, request) {
      go.push(() => {
        OK(socket, request)
      })
      told()
    },
    letGo() {
      for (const answer of go.splice(0)) answer()
    },
  }
}

export async function register(
  world: World,
  body: AnyBody,
  as: Asker = world.user,
): Promise<Webhook> {
  const given = { events: ['app.deployed'], ...body }
  const made = await world.request<Webhook>('POST', '/v1/webhooks', { as, body: given })
  if (made.status !== 201) throw new Error(JSON.stringify(made.body))
  return made.body
}

export async function publish(world: World, appId: string | null = null): Promise<string> {
  const { engine } = world.platform
  const data = { app_id: appId }
  const event = engine.newEvent(world.account.id, 'app.deployed', data, Date.now(), appId)
  await engine.outbox.publish([event])
  return event.id
}

/** Asks again until the delivery of an event stands as it should. */
export async function deliveryOf(
  world: World,
  webhook: Pick<Webhook, 'id'>,
  eventId: string,
  isDone: (delivery: Delivery) => boolean,
): Promise<Delivery> {
  const path = `/v1/webhooks/${webhook.id}/deliveries?event_id=${eventId}`
  for (;;) {
    const [delivery] = (await world.request<Page<Delivery>>('GET', path)).body.data
    if (delivery !== undefined && isDone(delivery)) return delivery
  }
}

export const hasStatus =
  (status: string) =>
  (delivery: Delivery): boolean =>
    delivery.status === status

export function headersOf({ head }: ReceivedRequest): Readonly<Record<string, string>> {
  const lines = head.split('\r\n').slice(1)
  return Object.fromEntries(lines.map((line) => line.split(/: (.*)/, 2) as [string, string]))
}
