import { appsFamily } from '../../daemon/families/apps/family.ts'
import { editsFamily } from '../../daemon/families/edits/family.ts'
import { createMemoryEditor } from '../../plugins/edits/memory.ts'
import type { World } from './world.ts'
import { createWorld } from './world.ts'

/** A world in which apps are made of forms, and a key that makes them. */
export async function formWorld(t: Parameters<typeof createWorld>[0]) {
  const families = [appsFamily, editsFamily]
  const world = await createWorld(t, {
    families,
    editor: createMemoryEditor(),
    models: ['a-model'],
  })
  const { key } = await world.mintKey({ scopes: ['apps:*', 'edits:*'] })
  return { ...world, key, bearer: { authorization: `Bearer ${key}` } }
}

export type FormWorld = Awaited<ReturnType<typeof formWorld>>

/** The sizes of an app's files, by their paths. */
export async function treeOf(
  world: World,
  app: unknown,
): Promise<Readonly<Record<string, number>>> {
  const { body } = await world.request<{ files: readonly { path: string; size: number }[] }>(
    'GET',
    `/v1/apps/${String(app)}/tree`,
  )
  return Object.fromEntries(body.files.map(({ path, size }) => [path, size]))
}
