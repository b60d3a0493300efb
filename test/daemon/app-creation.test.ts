import t from 'tap'
import { appsFamily } from '../../daemon/families/apps/family.ts'
import { editsFamily } from '../../daemon/families/edits/family.ts'
import { webhooksFamily } from '../../daemon/families/webhooks/family.ts'
import { createMemoryEditor, ENDLESS_PROMPT } from '../../plugins/edits/memory.ts'
import { until } from '../support/daemon.ts'
import { ask, createApp, eventsOf, readFile, startWorker, untilEnded } from '../support/edits.ts'
import type { Edit } from '../support/edits.ts'
import type { AnyBody, World } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

function creationWorld(t: Parameters<typeof createWorld>[0], editor = createMemoryEditor()) {
  return createWorld(t, {
    families: [appsFamily, editsFamily, webhooksFamily],
    editor,
    models: ['a-model'],
  })
}

interface Created extends AnyBody {
  readonly id: string
  readonly edit_id: string
}

function create(world: World, body: AnyBody) {
  return world.request<Created>('POST', '/v1/apps', { body })
}

/** What the scripted editor does by. */
const wishFor = (...operations: readonly object[]) => JSON.stringify(operations)
const PAGE = { op: 'write', path: 'index.html', content: '<h1>Bread</h1>' }

async function initialOf(world: World, app: string): Promise<Edit> {
  const path = `/v1/apps/${app}/edits?initial=true`
  const { body } = await world.request<{ data: readonly Edit[] }>('GET', path)
  const [edit] = body.data
  if (edit === undefined) throw new Error('the app has no initial edit')
  return edit
}

void t.test(
  'an app that is wished for is there at once, and ready when its edit ends',
  async (t) => {
    const world = await creationWorld(t)
    const asking = {
      body: { prompt: wishFor(PAGE), name: 'Bakery', alias: 'bakery', model: 'a-model' },
      headers: { 'idempotency-key': 'one' },
    }
    const made = await world.request<Created>('POST', '/v1/apps', asking)
    t.match(made, {
      status: 202,
      body: {
        name: 'Bakery',
        alias: 'bakery',
        status: 'creating',
        source: { kind: 'prompt', template_id: null },
        current_revision: 1,
        edit_id: String,
      },
    })
    const { id, edit_id } = made.body
    t.same((await world.request('POST', '/v1/apps', asking)).body, made.body, 'once more')
    t.match(await readFile(world, id, 'index.html'), /<!doctype html>/i, 'the blank template')
    t.match(await initialOf(world, id), {
      id: edit_id,
      status: 'queued',
      initial: true,
      model: 'a-model',
      queue_position: 1,
    })
    const busy = await world.request('POST', `/v1/apps/${id}/edits`, {
      body: { operations: [PAGE], base_revision: 1 },
    })
    t.match(busy, { status: 409, body: { error: { code: 'app_not_ready' } } })

    startWorker(t, world)
    const edit = await untilEnded(world, await initialOf(world, id))
    t.match(edit, { status: 'completed', base_revision: 1, result_revision: 2 })
    t.match(await world.request('GET', `/v1/apps/${id}`), {
      body: { status: 'ready', current_revision: 2 },
    })
    t.equal(await readFile(world, id, 'index.html'), PAGE.content)
    t.match(await eventsOf(world), [
      { type: 'app.created', data: { status: 'creating', source_kind: 'prompt', edit_id } },
      { type: 'edit.completed', data: { app_id: id, edit_id, initial: true } },
    ])
  },
)

void t.test('it begins with the files that are given', async (t) => {
  const world = await creationWorld(t)
  startWorker(t, world)
  const files = [
    { path: 'index.html', content: '<h1>Mine</h1>' },
    { path: 'logo.png', content_base64: '/wD/' },
  ]
  const add = { op: 'write', path: 'b.html', content: 'b' }
  const made = await create(world, { prompt: wishFor(add), files })
  t.match(made, { status: 202, body: { source: { kind: 'prompt_files' } } })
  const { id } = made.body
  t.match(await untilEnded(world, await initialOf(world, id)), { status: 'completed' })
  const { body } = await world.request<{ files: readonly { path: string; size: number }[] }>(
    'GET',
    `/v1/apps/${id}/tree`,
  )
  t.match(
    body.files.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    [
      { path: 'b.html', size: 1 },
      { path: 'index.html', size: 13 },
      { path: 'logo.png', size: 3 },
    ],
  )
})

void t.test('what is no source is refused, and leaves nothing', async (t) => {
  const world = await creationWorld(t)
  const prompt = wishFor(PAGE)
  const files = [{ path: 'a.html', content: 'a' }]
  const refusals: readonly (readonly [AnyBody, string])[] = [
    [{}, 'invalid_source'],
    [{ name: 'Nothing' }, 'invalid_source'],
    [{ template_id: 'blank', prompt }, 'invalid_source'],
    [{ template_id: 'blank', files }, 'invalid_source'],
    [{ template_id: 'blank', model: 'any' }, 'invalid_source'],
    [{ prompt: ' ' }, 'invalid_request'],
    [{ prompt, files: [] }, 'invalid_request'],
    [{ prompt, files: [{ path: 'a.html' }] }, 'invalid_request'],
    [{ prompt, files: [{ path: '../a.html', content: '' }] }, 'path_not_allowed'],
    [{ prompt, files: [...files, { path: 'A.html', content: '' }] }, 'path_not_allowed'],
  ]
  for (const [body, code] of refusals) {
    const answer = await create(world, body)
    t.match(answer, { status: 400, body: { error: { code } } }, JSON.stringify(body))
  }
  t.same((await world.request('GET', '/v1/apps')).body['data'], [])
  t.same(await eventsOf(world), [])
})

void t.test('files of an app that may not be recorded are looked through later', async (t) => {
  const world = await creationWorld(t)
  const { platform } = world
  const { id } = await createApp(world)
  const { store, workAvailable } = platform
  const { write } = store
  const told: string[] = []
  Object.assign(workAvailable, { bytes: (app: string) => told.push(app) })
  Object.assign(store, {
    write: (async (work) => {
      await write(work)
      throw new Error('the connection was lost')
    }) satisfies typeof write,
  })
  for (const [path, body] of [
    ['/v1/apps', { template_id: 'blank' }],
    [`/v1/apps/${id}/clone`, {}],
  ] as const) {
    await t.rejects(world.request('POST', path, { body }), { cause: { message: /was lost/ } })
  }
  Object.assign(store, { write })
  const { body } = await world.request<{ data: readonly { id: string }[] }>('GET', '/v1/apps')
  const made = body.data.map((app) => app.id).filter((app) => app !== id)
  t.same(told.sort(), made.sort(), 'here they were recorded, and none was deleted')
  t.equal(told.length, 2)
})

void t.test('without a language model nothing is made', async (t) => {
  const world = await createWorld(t, { families: [appsFamily, editsFamily] })
  const refused = { status: 501, body: { error: { code: 'model_not_configured' } } }
  t.match(await create(world, { prompt: 'A bakery' }), refused)
  t.same((await world.request('GET', '/v1/apps')).body['data'], [])
  const { id } = await createApp(world)
  t.match(await ask(world, id, 'Add a page'), refused)
  t.same((await world.request('GET', `/v1/apps/${id}/edits`)).body['data'], [])
})

void t.test(
  'an app whose making fails is made anew by another prompt, or by operations',
  async (t) => {
    const world = await creationWorld(t)
    startWorker(t, world)
    const failing = async () => {
      const { id } = (await create(world, { prompt: 'no operations' })).body
      const edit = await untilEnded(world, await initialOf(world, id))
      t.match(edit, { status: 'failed', error: { code: 'model_answer_invalid' } })
      t.match(await world.request('GET', `/v1/apps/${id}`), { body: { status: 'failed' } })
      return id
    }
    const wished = await failing()
    const again = await ask(world, wished, wishFor(PAGE))
    t.match(again, { status: 202, body: { initial: true } })
    t.match(await untilEnded(world, again.body), { status: 'completed', result_revision: 2 })
    t.match(await world.request('GET', `/v1/apps/${wished}`), { body: { status: 'ready' } })

    const written = await failing()
    const given = { body: { operations: [PAGE], base_revision: 1 } }
    t.match(await world.request('POST', `/v1/apps/${written}/edits`, given), { status: 201 })
    t.match(await world.request('GET', `/v1/apps/${written}`), {
      body: { status: 'ready', current_revision: 2 },
    })
  },
)

void t.test('canceled or archived while it is made, an app has failed', async (t) => {
  const world = await creationWorld(t)
  const { id } = (await create(world, { prompt: ENDLESS_PROMPT })).body
  const edit = await initialOf(world, id)
  t.match(await world.request('POST', `/v1/apps/${id}/edits/${edit.id}/cancel`), { status: 200 })
  t.match(await world.request('GET', `/v1/apps/${id}`), { body: { status: 'failed' } })

  startWorker(t, world)
  const other = (await create(world, { prompt: ENDLESS_PROMPT })).body.id
  const isRunning = async () => (await initialOf(world, other)).status === 'running'
  await until('it is being made', isRunning)
  await world.request('DELETE', `/v1/apps/${other}`)
  t.match(await untilEnded(world, await initialOf(world, other)), { status: 'canceled' })
  t.match(await world.request('POST', `/v1/apps/${other}/restore`), { body: { status: 'failed' } })
  const failed = (await eventsOf(world)).filter(({ type }) => type === 'edit.failed')
  t.equal(failed.length, 2)
})

void t.test('an app is named after its prompt where it is given no name', async (t) => {
  const world = await creationWorld(t)
  const named = async (prompt: string) => (await create(world, { prompt })).body['name']
  t.equal(await named('A bakery\nin town'), 'A bakery in town')
  t.equal(
    await named(`A bakery in the old town with bread, cakes and ${'very '.repeat(20)}good coffee`),
    'A bakery in the old town with bread, cakes and very very…',
  )
})
