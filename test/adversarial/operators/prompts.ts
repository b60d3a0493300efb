import type { Test } from 'tap'
import { appsFamily } from '../../../daemon/families/apps/family.ts'
import { editsFamily } from '../../../daemon/families/edits/family.ts'
import { createFileHandler } from '../../../daemon/families/files/process.ts'
import { filesFamily } from '../../../daemon/families/files/family.ts'
import { webhooksFamily } from '../../../daemon/families/webhooks/family.ts'
import { createLog } from '../../../daemon/telemetry/log.ts'
import { runJobs, jobTimes } from '../../../daemon/jobs/runner.ts'
import type { Passage } from '../../../plugins/edits/contract.ts'
import { createMemoryEditor } from '../../../plugins/edits/memory.ts'
import { until } from '../../support/daemon.ts'
import type { Edit } from '../../support/edits.ts'
import { at, createApp, startWorker, untilEnded } from '../../support/edits.ts'
import type { World, WorldOptions } from '../../support/world.ts'
import { createWorld } from '../../support/world.ts'
import type { Checks } from '../run.ts'

const SECRET = 'The safe opens with 1234.'
const WRITE = [{ op: 'write', path: 'a.html', content: 'a' }] as const

interface Stage {
  readonly world: World
  readonly app: string
  /** Passages that the model was shown, one list for each edit that ran. */
  readonly shown: readonly (readonly Passage[])[]
  /** Asks for an edit about the secret; it waits until the worker starts. */
  ask(key: string): Promise<Edit>
  /** Carries out what waits and answers the edit's record. */
  run(edit: Edit): Promise<Edit>
}

/** An app with one knowledge file that holds the secret, and a model that asks for it. */
async function stageOf(t: Test, options: WorldOptions = {}): Promise<Stage> {
  const shown: (readonly Passage[])[] = []
  const editor = createMemoryEditor({
    async script(_task, tools) {
      shown.push(await tools.passages('safe', 3))
      return WRITE
    },
  })
  const families = [appsFamily, editsFamily, filesFamily, webhooksFamily]
  const world = await createWorld(t, { families, editor, ...options })
  const { id: app } = await createApp(world)
  await addKnowledge(t, world, app)
  let worker: ReturnType<typeof startWorker> | undefined
  return {
    world,
    app,
    shown,
    async ask(key) {
      const asking = { as: key, body: { prompt: 'Repeat what opens the safe.' } }
      const { status, body } = await world.request<Edit>('POST', `/v1/apps/${app}/edits`, asking)
      t.equal(status, 202)
      return body
    },
    run(edit) {
      worker ??= startWorker(t, world)
      return untilEnded(world, edit)
    },
  }
}

async function addKnowledge(t: Test, world: World, app: string): Promise<void> {
  const worker = runJobs(
    world.platform,
    createLog('silent'),
    createFileHandler,
    jobTimes('file'),
    50,
  )
  t.teardown(() => worker.stop())
  const form = new FormData()
  form.append('file', new Blob([SECRET]), 'safe.md')
  await world.request('POST', `/v1/apps/${app}/files`, { form })
  const files = (): Promise<{ body: { data: readonly { status: string }[] } }> =>
    world.request('GET', `/v1/apps/${app}/files`)
  await until(
    'the file can be found',
    async () => (await files()).body.data[0]?.status === 'processed',
  )
}

export const PROMPT_CHECKS: Checks = {
  async P01(t, saw) {
    const { world, ask, run, shown } = await stageOf(t)
    const { key } = await world.mintKey({ scopes: ['edits:*'] })
    const edit = await run(await ask(key))
    t.match(edit, { status: 'completed', knowledge: 'withheld' })
    saw(String(edit['knowledge']))
    const { body } = await world.request('GET', `${at(edit)}/logs`)
    t.match(JSON.stringify(body['data']), /lacks files:read/)

    const reader = await world.mintKey({ scopes: ['edits:*', 'files:read'] })
    t.match(await run(await ask(reader.key)), { knowledge: 'allowed' })
    t.match(shown, [[], [{ text: SECRET }]], 'who may read it still has it used')
    saw(shown[0]?.length === 0 ? 'no passage' : 'passages')
  },

  async P02(t, saw) {
    const { world, ask, run, shown } = await stageOf(t)
    const { id, key } = await world.mintKey({ scopes: ['edits:*', 'files:read'] })
    const edit = await ask(key)
    t.match(edit, { knowledge: 'allowed' })
    const narrowed = { body: { scopes: ['edits:*'] } }
    t.match(await world.request('PATCH', `/v1/keys/${id}`, narrowed), { status: 200 })
    const ended = await run(edit)
    t.match(ended, { status: 'completed' })
    saw(String(ended['knowledge']))
    t.same(shown, [[]])
    saw(shown.flat().length === 0 ? 'no passage' : 'passages')
  },

  async P03(t, saw) {
    const { world, run } = await stageOf(t)
    const { key } = await world.mintKey({ scopes: ['apps:*', 'edits:*'] })
    const asking = { as: key, body: { prompt: 'Repeat what opens the safe.' } }
    const { body } = await world.request<Edit>('POST', '/v1/apps', asking)
    const edit = { ...body, app_id: body.id, id: String(body['edit_id']) }
    const ended = await run(edit)
    t.match(ended, { initial: true, status: 'completed' })
    saw(String(ended['knowledge']))
  },

  async P04(t, saw) {
    const { world, app } = await stageOf(t, { models: ['small', 'large'] })
    const body = { prompt: 'Change it.', model: 'gpt-expensive' }
    for (const path of [`/v1/apps/${app}/edits`, '/v1/apps']) {
      const refused = await world.request<{ error: { code: string; message: string } }>(
        'POST',
        path,
        { body },
      )
      saw(`${refused.status} ${refused.body.error.code}`)
      t.match(refused.body, { error: { details: { allowed_models: ['small', 'large'] } } })
      t.match(refused.body.error.message, /small, large/)
      t.match(await world.request('POST', path, { body: { ...body, model: 'large' } }), {
        status: 202,
      })
    }
    const { body: edits } = await world.request<{ data: Edit[] }>('GET', `/v1/apps/${app}/edits`)
    t.match(edits.data, [{ model: 'large' }])
    t.equal(edits.data.length, 1)
  },

  async P05(t, saw) {
    const { world, app, run, shown } = await stageOf(t, { models: ['small', 'large'] })
    const body = { prompt: 'Change it.', model: 'large' }
    const { body: edit } = await world.request<Edit>('POST', `/v1/apps/${app}/edits`, { body })
    Object.assign(world.platform, { models: ['small'] })
    const ended = await run(edit)
    t.match(ended, { status: 'failed' })
    saw((ended['error'] as { readonly code: string }).code)
    t.same(shown, [])
  },
}
