import { eventsFamily } from '../../daemon/families/events/family.ts'
import { webhooksFamily } from '../../daemon/families/webhooks/family.ts'
import type { VirtualClock } from './clock.ts'
import { createClock } from './clock.ts'
import type { Answer, AnyBody, Asker, Asking, MintedKey, World, WorldOptions } from './world.ts'
import { createWorld } from './world.ts'

export const START = Date.parse('2030-01-31T12:00:00.000Z')
const families = [webhooksFamily, eventsFamily]

/** A world whose time goes on when the test says so. */
export async function keysWorld(
  t: Parameters<typeof createWorld>[0],
  options: WorldOptions = {},
): Promise<World & { readonly clock: VirtualClock }> {
  const clock = createClock(START)
  return { ...(await createWorld(t, { families, clock, ...options })), clock }
}

/** The status, and the code of a refusal: `201` or `403 insufficient_scope`. */
export function told({ status, body }: { readonly status: number; readonly body: object }): string {
  const { error } = body as { readonly error?: { readonly code: string } }
  return error === undefined ? String(status) : `${status} ${error.code}`
}

/** What the holder of a value is told when it asks about itself. */
export async function standing({ request }: World, value: string): Promise<string> {
  return told(await request('GET', '/v1/keys/self', { as: value }))
}

/** Asks for a key with what stands in `given`. */
export function mint(
  world: World,
  as: Asker,
  given: AnyBody,
): Promise<Answer<MintedKey & AnyBody>> {
  const body = { name: 'a child', ...given }
  return world.request<MintedKey & AnyBody>('POST', '/v1/keys', { as, body })
}

export async function rotate(world: World, id: string, asking: Asking = {}): Promise<string> {
  const { status, body } = await world.request('POST', `/v1/keys/${id}/rotate`, asking)
  if (status !== 201) throw new Error(JSON.stringify(body))
  return String(body['key'])
}

export const patch = (
  world: World,
  id: string,
  body: unknown,
  as: Asker = world.user,
): Promise<string> => world.request('PATCH', `/v1/keys/${id}`, { as, body }).then(told)
