import { appsFamily } from '../../daemon/families/apps/family.ts'
import { editsFamily } from '../../daemon/families/edits/family.ts'
import { createEditHandler } from '../../daemon/families/edits/run.ts'
import { runJobs, jobTimes } from '../../daemon/jobs/runner.ts'
import type { JobTimes } from '../../daemon/jobs/runner.ts'
import { webhooksFamily } from '../../daemon/families/webhooks/family.ts'
import { createLog } from '../../daemon/telemetry/log.ts'
import type { EditOperation, Editor, EditTask } from '../../plugins/edits/contract.ts'
import type { EditScript } from '../../plugins/edits/memory.ts'
import { createMemoryEditor } from '../../plugins/edits/memory.ts'
import { until } from './daemon.ts'
import { requireDeclared } from './declared-events.ts'
import type { AnyBody, Answer, World } from './world.ts'
import { createWorld } from './world.ts'

export interface Edit extends AnyBody {
  readonly id: string
  readonly status: string
  readonly result_revision: number | null
}

/** An app of the blank template. */
export async function createApp(
  world: World,
  body: AnyBody = {},
): Promise<{ readonly id: string }> {
  const given = { body: { template_id: 'blank', ...body } }
  return (await world.request<{ id: string }>('POST', '/v1/apps', given)).body
}

/** The text of a file of the current revision. */
export async function readFile(world: World, app: string, path: string): Promise<unknown> {
  return (await world.request('GET', `/v1/apps/${app}/content?path=${path}`)).body['content']
}

/** The account's events, oldest first. */
export async function eventsOf(world: World) {
  const { rows } = await world.platform.store.events.list({
    account_id: world.account.id,
    types: null,
    since: null,
    until: null,
    apps: null,
    order: 'asc',
    bodies: true,
    after: null,
    limit: 100,
  })
  const events = rows.map(({ type, app_id, body }) => {
    const { data } = JSON.parse(Buffer.from(body).toString()) as { data: AnyBody }
    return { type, app_id, data }
  })
  requireDeclared(events)
  return events
}

/** Asks for a change in words. */
export function ask(world: World, app: string, prompt: string, query = ''): Promise<Answer<Edit>> {
  return world.request<Edit>('POST', `/v1/apps/${app}/edits${query}`, { body: { prompt } })
}

/** The edit once it has ended. */
export async function untilEnded(world: World, edit: Edit): Promise<Edit> {
  await world.request('GET', `${at(edit)}/status?wait=25`)
  return (await world.request<Edit>('GET', at(edit))).body
}

/** A worker of its own, which the test may stop before its end. */
export function startWorker(
  t: { teardown(handler: () => Promise<void>): void },
  world: World,
  times: Partial<JobTimes> = {},
  log = createLog('silent'),
): { stop(): Promise<void> } {
  const worker = runJobs(
    world.platform,
    log,
    createEditHandler,
    { ...jobTimes('edit'), ...times },
    50,
  )
  t.teardown(() => worker.stop())
  return worker
}

/** A world with apps and edits, and an editor where one is given. */
export function editWorld(
  t: Parameters<typeof createWorld>[0],
  editor?: Editor,
  models: readonly string[] = [],
): Promise<World> {
  const families = [appsFamily, editsFamily, webhooksFamily]
  return createWorld(t, { families, models, ...(editor === undefined ? {} : { editor }) })
}

/** Where an edit is. */
export function at({ app_id, id }: Edit): string {
  return `/v1/apps/${String(app_id)}/edits/${id}`
}

/** Every edit event, as `<edit> <type or code>`. */
export async function endsOf(world: World): Promise<readonly string[]> {
  return (await eventsOf(world))
    .filter(({ type }) => type.startsWith('edit.'))
    .map(({ type, data }) => {
      const { code } = (data['error'] ?? {}) as { readonly code?: string }
      return `${String(data['edit_id'])} ${code ?? type}`
    })
}

/** An editor that writes each prompt to a file, once it is let; it notes what it was given. */
export function createHeldEditor() {
  const begun: EditTask[] = []
  const aborted: string[] = []
  const held = new Map<string, () => void>()
  const script: EditScript = async (task, { signal }) => {
    begun.push(task)
    signal.addEventListener('abort', () => aborted.push(task.prompt))
    await new Promise<void>((resolve) => held.set(task.prompt, resolve))
    return operationsOf(task)
  }
  return {
    editor: createMemoryEditor({ script }),
    begun: () => begun.map(({ prompt }) => prompt),
    aborted,
    /** Lets one go on, once it has begun. */
    async release(prompt: string): Promise<void> {
      await until(`${prompt} is begun`, () => held.has(prompt))
      held.get(prompt)?.()
      held.delete(prompt)
    },
    until: (prompt: string) => until(`${prompt} is begun`, () => held.has(prompt)),
  }
}

/** A file that is named after the prompt. */
export function operationsOf({ prompt }: EditTask): readonly EditOperation[] {
  return [{ op: 'write', path: `${prompt}.txt`, content: prompt }]
}
