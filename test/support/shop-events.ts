/** A shop that publishes, and how its events are published and read in tests. */
import { eventsFamily } from '../../daemon/families/events/family.ts'
import { webhooksFamily } from '../../daemon/families/webhooks/family.ts'
import type { Page } from './webhooks.ts'
import type { Answer, AnyBody, Asker, Asking, World } from './world.ts'
import { createWorld } from './world.ts'

export interface Event extends AnyBody {
  readonly id: string
  readonly type: string
}

/** What one item of a batch is answered. */
export interface Item extends AnyBody {
  readonly status: string
  readonly error?: { readonly code: string; readonly errors: readonly { location: string }[] }
}

/** A world whose account has declared `order.paid` and `order.sent`. */
export async function shopWorld(t: Parameters<typeof createWorld>[0]): Promise<World> {
  const world = await createWorld(t, { families: [webhooksFamily, eventsFamily] })
  for (const type of ['order.paid', 'order.sent']) await declare(world, type)
  return world
}

export function declare(
  { request }: World,
  type: string,
  body: unknown = {},
  as?: Asker,
): Promise<Answer<AnyBody>> {
  return request('PUT', `/v1/event-types/${type}`, { body, ...(as === undefined ? {} : { as }) })
}

/** The status, and the code of a refusal: `202` or `400 undeclared_event_type`. */
export function told({ status, body }: { readonly status: number; readonly body: object }): string {
  const { error } = body as { readonly error?: { readonly code: string } }
  return error === undefined ? String(status) : `${status} ${error.code}`
}

/** Publishes one event of the type `order.paid`, unless told otherwise. */
export function publish(
  { request }: World,
  event: AnyBody = {},
  asking: Asking = {},
): Promise<Answer<Event>> {
  const body = { type: 'order.paid', data: {}, ...event }
  return request('POST', '/v1/events', { ...asking, body })
}

export async function publishAll(
  { request }: World,
  events: readonly unknown[],
  asking: Asking = {},
): Promise<readonly Item[]> {
  const answer = await request<{ readonly data: readonly Item[] }>('POST', '/v1/events', {
    ...asking,
    body: { events },
  })
  if (answer.status !== 202) throw new Error(JSON.stringify(answer.body))
  return answer.body.data
}

export const listed = async (
  world: World,
  query = '',
  as: Asker = world.user,
): Promise<Page<Event>> =>
  (await world.request<Page<Event>>('GET', `/v1/events${query}`, { as })).body
