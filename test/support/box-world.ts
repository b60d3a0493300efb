import { createBoxes } from './boxes.ts'
import type { AnyBody, Answer, World, WorldOptions } from './world.ts'
import { createWorld } from './world.ts'

/** Where a box is filled. */
export const PATH = '/v1/boxes/b1/fill'

/** A world with boxes, and a key that may fill them. */
export async function boxWorld(
  t: Parameters<typeof createWorld>[0],
  limits: Parameters<typeof createBoxes>[0] = {},
  options: WorldOptions = {},
) {
  const boxes = createBoxes(limits)
  const world = await createWorld(t, { ...options, families: [boxes.family] })
  const { id, key } = await world.mintKey({ scopes: ['boxes:write', 'keys:write'] })
  return { ...boxes, world, key, keyId: id, bearer: { authorization: `Bearer ${key}` } }
}

/** Sends a body as it is. */
export async function send(
  { baseUrl }: Pick<World, 'baseUrl'>,
  body: Uint8Array | FormData,
  headers: Readonly<Record<string, string>>,
): Promise<Answer<AnyBody>> {
  const response = await fetch(baseUrl + PATH, { method: 'POST', headers, body })
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as AnyBody,
  }
}
