import { a2aProtocol } from '../../daemon/a2a/endpoint.ts'
import { appsFamily } from '../../daemon/families/apps/family.ts'
import { deployFamily } from '../../daemon/families/deploy/family.ts'
import { editsFamily } from '../../daemon/families/edits/family.ts'
import { filesFamily } from '../../daemon/families/files/family.ts'
import { observeFamily } from '../../daemon/families/observe/family.ts'
import { createHeldEditor, startWorker } from '../support/edits.ts'
import type { World, WorldOptions } from '../support/world.ts'
import { createWorld } from '../support/world.ts'
import type { A2aClient, Binding, Reply } from './client.ts'
import { createA2aClient } from './client.ts'

type Json = Readonly<Record<string, unknown>>

export interface Stage {
  readonly world: World
  readonly held: ReturnType<typeof createHeldEditor>
  readonly app: string
  readonly keyId: string
  readonly client: A2aClient
  clientOf(key: string): A2aClient
  /** A message of new id, unless it says another. */
  message(parts: readonly Json[], more?: Json): Json
  /** Sends it and expects a task. */
  send(message: Json, configuration?: Json): Promise<WireTask>
  refused(message: Json): Promise<Reply>
  /** A task that is completed at once. */
  read(more?: Json): Promise<WireTask>
  /** A task whose edit waits for `held.release(prompt)`. */
  edit(prompt: string, more?: Json): Promise<WireTask>
  /** A task that asks which skill is meant. */
  ask(more?: Json): Promise<WireTask>
}

export interface WireTask extends Json {
  readonly id: string
  readonly contextId: string
  readonly status: { readonly state: string; readonly message?: Json; readonly timestamp: string }
  readonly artifacts?: readonly Json[]
  readonly history?: readonly (Json & { readonly messageId: string })[]
}

export const SCOPES = ['apps:*', 'edits:*', 'deploy:*', 'files:*', 'observe:*']

export interface StageOptions extends WorldOptions {
  /** Of the key. Default `SCOPES`. */
  readonly scopes?: readonly string[]
}

/** An app, a key for it and a worker that makes edits as they are released. */
export async function createStage(
  t: Parameters<typeof createWorld>[0],
  binding: Binding,
  { scopes = SCOPES, families: more = [], ...options }: StageOptions = {},
): Promise<Stage> {
  const held = createHeldEditor()
  const families = [appsFamily, editsFamily, filesFamily, deployFamily, observeFamily]
  const all = [...families, ...more]
  const protocols = [a2aProtocol(all)]
  const world = await createWorld(t, { families: all, protocols, editor: held.editor, ...options })
  startWorker(t, world, { beat: 200 })
  const body = { template_id: 'blank', name: 'Bakery' }
  const app = (await world.request<{ id: string }>('POST', '/v1/apps', { body })).body.id
  const { key, id: keyId } = await world.mintKey({ scopes })
  const client = createA2aClient(world, key, binding)
  let sent = 0
  const message: Stage['message'] = (parts, more = {}) => ({
    messageId: `message-${sent++}`,
    role: 'ROLE_USER',
    parts,
    ...more,
  })
  const send: Stage['send'] = async (one, configuration) => {
    const { result, text } = await client.ask('SendMessage', {
      message: one,
      ...(configuration && { configuration }),
    })
    if (result === undefined) throw new Error(text)
    return result['task'] as WireTask
  }
  return {
    world,
    held,
    app,
    keyId,
    client,
    clientOf: (other) => createA2aClient(world, other, binding),
    message,
    send,
    refused: (one) => client.ask('SendMessage', { message: one }),
    read: (more) => {
      const metadata = { skill: 'observe_health' }
      return send(message([{ text: 'How is it?' }], { metadata, ...more }))
    },
    edit: (prompt, more) =>
      send(message([{ text: prompt }], { metadata: { skill: 'edits_create' }, ...more }), {
        returnImmediately: true,
      }),
    ask: (more) => send(message([{ text: 'Make it green' }], more)),
  }
}
