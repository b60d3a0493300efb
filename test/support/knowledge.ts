import { appsFamily } from '../../daemon/families/apps/family.ts'
import { filesFamily } from '../../daemon/families/files/family.ts'
import { requireDeclared } from './declared-events.ts'
import type { Answer, AnyBody, Asker, World, WorldOptions } from './world.ts'
import { createWorld } from './world.ts'

export interface KnowledgeFile extends AnyBody {
  readonly id: string
  readonly name: string
  readonly status: string
}

export interface Uploaded {
  readonly data: readonly KnowledgeFile[]
  readonly errors: readonly { readonly name: string; readonly code: string }[]
}

/** Names and contents. */
export type SentFiles = readonly (readonly [name: string, content: string | Uint8Array])[]

export function formOf(files: SentFiles): FormData {
  const form = new FormData()
  for (const [name, content] of files) form.append('file', new File([content], name))
  return form
}

export interface Knowledge extends World {
  /** An app of the account. */
  readonly app: string
  newApp(): Promise<string>
  /** What was told of files, oldest first. */
  events(): Promise<readonly { readonly type: string; readonly data: AnyBody }[]>
  upload(
    files: SentFiles,
    to?: { readonly app?: string; readonly as?: Asker },
  ): Promise<Answer<Uploaded>>
}

/** A world with an app that takes files. */
export async function createKnowledge(
  t: Parameters<typeof createWorld>[0],
  options: WorldOptions = {},
): Promise<Knowledge> {
  const families = [appsFamily, filesFamily, ...(options.families ?? [])]
  const world = await createWorld(t, { ...options, families })
  const newApp = async (): Promise<string> => {
    const body = { template_id: 'blank' }
    return String((await world.request('POST', '/v1/apps', { body })).body['id'])
  }
  const app = await newApp()
  return {
    ...world,
    app,
    newApp,
    events: () => eventsOf(world),
    upload: (files, { app: to = app, as = world.user } = {}) =>
      world.request<Uploaded>('POST', `/v1/apps/${to}/files`, { as, form: formOf(files) }),
  }
}

async function eventsOf({ platform, account }: World) {
  const { rows } = await platform.store.events.list({
    account_id: account.id,
    types: ['file.processed', 'file.failed'],
    since: null,
    until: null,
    apps: null,
    order: 'asc',
    bodies: true,
    after: null,
    limit: 100,
  })
  const events = rows.map(({ type, body }) => {
    const { data } = JSON.parse(Buffer.from(body).toString()) as { data: AnyBody }
    return { type, data }
  })
  requireDeclared(events)
  return events
}
