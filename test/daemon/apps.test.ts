import t from 'tap'
import { appsFamily } from '../../daemon/families/apps/family.ts'
import { MAX_APPS } from '../../daemon/families/apps/service.ts'
import { webhooksFamily } from '../../daemon/families/webhooks/family.ts'
import { eventsOf } from '../support/edits.ts'
import type { Answer, AnyBody, World, WorldOptions } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

interface App extends AnyBody {
  readonly id: string
  readonly alias: string | null
  readonly name: string
}

interface Tree {
  readonly revision: number
  readonly files: readonly { readonly path: string; readonly size: number }[]
  readonly config: AnyBody
}

function appWorld(t: Parameters<typeof createWorld>[0], options: WorldOptions = {}) {
  return createWorld(t, { families: [appsFamily, webhooksFamily], ...options })
}

function create(world: World, body: AnyBody = {}): Promise<Answer<App>> {
  return world.request<App>('POST', '/v1/apps', { body: { template_id: 'notes', ...body } })
}

void t.test('an app is made from a template, with its files, and tells of it once', async (t) => {
  const world = await appWorld(t)
  const asking = {
    body: { template_id: 'notes', name: 'My notes', alias: 'my-notes', metadata: { team: 'a' } },
    headers: { 'idempotency-key': 'one' },
  }
  const made = await world.request<App>('POST', '/v1/apps', asking)
  t.match(made, {
    status: 201,
    body: {
      id: /^[0-9a-z]{12}$/,
      name: 'My notes',
      alias: 'my-notes',
      status: 'ready',
      source: { kind: 'template', template_id: 'notes', cloned_from: null },
      current_revision: 1,
      metadata: { team: 'a' },
      archived_at: null,
    },
  })
  const { id } = made.body
  t.same((await world.request('POST', '/v1/apps', asking)).body, made.body, 'asked again')
  t.same((await world.request('GET', `/v1/apps/${id}`)).body, made.body)
  t.same((await world.request('GET', '/v1/apps')).body['data'], [made.body])

  const tree = await world.request<Tree>('GET', `/v1/apps/${id}/tree`)
  t.equal(tree.body.revision, 1)
  t.ok(tree.body.files.some(({ path }) => path === 'index.html'))
  t.notOk(tree.body.files.some(({ path }) => path === 'template.json'))
  const page = await world.request('GET', `/v1/apps/${id}/content?path=index.html`)
  t.match(page.body, { path: 'index.html', content: /^<!doctype html>/i, content_base64: null })

  t.match(await eventsOf(world), [
    {
      type: 'app.created',
      app_id: id,
      data: { app_id: id, alias: 'my-notes', source_kind: 'template' },
    },
  ])
})

void t.test('what cannot be made is refused, and leaves nothing', async (t) => {
  const world = await appWorld(t)
  await create(world, { alias: 'taken' })
  const refusals: readonly (readonly [AnyBody, number, string])[] = [
    [{ template_id: 'nothing' }, 404, 'template_not_found'],
    [{ alias: 'taken' }, 409, 'alias_taken'],
    [{ alias: 'Shop' }, 400, 'invalid_request'],
    [{ alias: 'a--b' }, 400, 'invalid_request'],
    [{ alias: 'ab' }, 400, 'invalid_request'],
    [{ alias: 'studio' }, 400, 'alias_reserved'],
    [{ name: ' ' }, 400, 'invalid_request'],
    [{ metadata: { 'a b': '' } }, 400, 'invalid_request'],
    [{ prompt: 'A shop' }, 400, 'invalid_source'],
  ]
  for (const [body, status, code] of refusals) {
    t.match(await create(world, body), { status, body: { error: { code } } }, JSON.stringify(body))
  }
  t.equal((await world.request<{ data: [] }>('GET', '/v1/apps')).body.data.length, 1)
  t.equal((await eventsOf(world)).length, 1)
})

void t.test('of many that ask for one alias at once, one has it', async (t) => {
  const world = await appWorld(t)
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => create(world, { alias: 'wanted' })),
  )
  t.same(
    answers.map(({ status }) => status).sort((a, b) => a - b),
    [201, ...Array<number>(7).fill(409)],
  )
})

void t.test('name, alias and metadata change by themselves', async (t) => {
  const world = await appWorld(t)
  const { id } = (await create(world, { alias: 'one' })).body
  await create(world, { alias: 'two' })
  const patch = (body: AnyBody) => world.request<App>('PATCH', `/v1/apps/${id}`, { body })
  t.match(await patch({ name: 'New' }), { status: 200, body: { name: 'New', alias: 'one' } })
  t.match(await patch({ alias: 'two' }), { status: 409, body: { error: { code: 'alias_taken' } } })
  t.match(await patch({ alias: 'one' }), { status: 200 }, 'its own is not taken')
  t.match(await patch({ alias: null, metadata: { a: '1' } }), {
    status: 200,
    body: { name: 'New', alias: null, metadata: { a: '1' } },
  })
  t.match(await patch({}), { status: 400 })
  t.match(await patch({ status: 'ready' }), { status: 400 })
})

void t.test('an archived app answers reads alone, tells of it once, and comes back', async (t) => {
  const world = await appWorld(t)
  const { id } = (await create(world, { alias: 'shop' })).body
  const archived = await world.request<App>('DELETE', `/v1/apps/${id}`)
  t.match(archived, { status: 200, body: { status: 'archived', archived_at: String } })
  t.same((await world.request('DELETE', `/v1/apps/${id}`)).body, archived.body, 'once more')
  t.match(await world.request('GET', `/v1/apps/${id}`), { body: { status: 'archived' } })
  t.match(await world.request('GET', `/v1/apps/${id}/tree`), { status: 200 })
  t.same((await world.request('GET', '/v1/apps')).body['data'], [])
  const all = await world.request('GET', '/v1/apps?include_archived=true')
  t.same(all.body['data'], [archived.body])

  const refused = { status: 409, body: { error: { code: 'app_archived' } } }
  t.match(await world.request('PATCH', `/v1/apps/${id}`, { body: { name: 'a' } }), refused)
  t.match(await world.request('POST', `/v1/apps/${id}/clone`), refused)

  t.match(await create(world, { alias: 'shop' }), { status: 201 }, 'the alias is free')
  const restored = await world.request('POST', `/v1/apps/${id}/restore`)
  t.match(restored, { status: 200, body: { status: 'ready', alias: null, purge_at: null } })
  t.match(await world.request('POST', `/v1/apps/${id}/restore`), {
    status: 409,
    body: { error: { code: 'app_not_archived' } },
  })
  const types = (await eventsOf(world)).filter(({ app_id }) => app_id === id)
  t.same(
    types.map(({ type }) => type),
    ['app.created', 'app.deleted', 'app.restored'],
  )
})

void t.test('an archived app comes back only where there is room for it', async (t) => {
  const world = await appWorld(t)
  const { store } = world.platform
  const { id } = (await create(world)).body
  await world.request('DELETE', `/v1/apps/${id}`)
  const archived = await store.apps.get(world.account.id, id)
  if (archived === undefined) throw new Error('the app is gone')
  const alive = { ...archived, archived_at: null, purge_at: null }
  const others = Array.from({ length: MAX_APPS }, (_, at) => `other${String(at).padStart(7, '0')}`)
  await store.write(async (tx) => {
    for (const other of others) await tx.apps.insert({ ...alive, id: other })
  })

  const refused = (code: string) => ({ status: 409, body: { error: { code } } })
  const other = others[0] ?? ''
  t.match(await world.request('POST', `/v1/apps/${id}/restore`), refused('app_limit_reached'))
  t.match(await world.request('GET', `/v1/apps/${id}`), { body: { status: 'archived' } })
  t.match(await world.request('POST', `/v1/apps/${other}/restore`), refused('app_not_archived'))
  await world.request('DELETE', `/v1/apps/${other}`)
  t.match(await world.request('POST', `/v1/apps/${id}/restore`), {
    status: 200,
    body: { status: 'ready' },
  })
})

void t.test('a clone has the files of its app, and is another app', async (t) => {
  const world = await appWorld(t)
  const { id } = (await create(world, { alias: 'shop', metadata: { a: '1' } })).body
  const cloned = await world.request<App>('POST', `/v1/apps/${id}/clone`, {
    body: { name: 'Second' },
  })
  t.match(cloned, {
    status: 201,
    body: {
      name: 'Second',
      alias: null,
      source: { kind: 'clone', template_id: 'notes', cloned_from: id },
      current_revision: 1,
      metadata: { a: '1' },
    },
  })
  t.not(cloned.body.id, id)
  const [first, second] = await Promise.all(
    [id, cloned.body.id].map((app) => world.request<Tree>('GET', `/v1/apps/${app}/tree`)),
  )
  t.same(second?.body.files, first?.body.files)
  const missing = await world.request('POST', `/v1/apps/${id}/clone`, { body: { revision: 9 } })
  t.match(missing, { status: 404, body: { error: { code: 'revision_not_found' } } })
})

void t.test('foreign apps, and apps beyond the pins of a key, are not found', async (t) => {
  const world = await appWorld(t)
  const mine = (await create(world)).body.id
  const other = (await create(world)).body.id
  const stranger = world.userOf(await world.addAccount({ id: 'acc_other' }))
  const pinned = (await world.mintKey({ scopes: ['apps:*'], apps: [mine] })).key
  const routes = [
    ['GET', ''],
    ['PATCH', '', { name: 'a' }],
    ['DELETE', ''],
    ['POST', '/restore'],
    ['GET', '/revisions'],
    ['GET', '/tree'],
    ['GET', '/content?path=index.html'],
  ] as const
  for (const [method, path, body] of routes) {
    const notFound = { status: 404, body: { error: { code: 'app_not_found' } } }
    for (const [as, id] of [
      [stranger, mine],
      [pinned, other],
      [pinned, 'nowhere'],
    ] as const) {
      t.match(await world.request(method, `/v1/apps/${id}${path}`, { as, body }), notFound)
    }
  }
  const list = await world.request<{ data: App[] }>('GET', '/v1/apps', { as: pinned })
  t.same(
    list.body.data.map(({ id }) => id),
    [mine],
  )
  const refused = { status: 403, body: { error: { code: 'key_pinned' } } }
  const body = { template_id: 'notes' }
  t.match(await world.request('POST', '/v1/apps', { as: pinned, body }), refused)
  t.match(await world.request('POST', `/v1/apps/${mine}/clone`, { as: pinned }), refused)
})

void t.test('templates are listed, and every one of them makes an app', async (t) => {
  const world = await appWorld(t)
  const { body } = await world.request<{ data: { id: string; files: number }[] }>(
    'GET',
    '/v1/templates',
  )
  t.ok(body.data.length >= 3)
  for (const { id, files } of body.data) {
    const made = await create(world, { template_id: id })
    const tree = await world.request<Tree>('GET', `/v1/apps/${made.body.id}/tree`)
    t.equal(tree.body.files.length, files, id)
  }
})

void t.test('revisions and files that are not there are not found', async (t) => {
  const world = await appWorld(t)
  const { id } = (await create(world)).body
  const codes: readonly (readonly [string, number, string])[] = [
    ['tree?revision=2', 404, 'revision_not_found'],
    ['tree?revision=0', 400, 'invalid_request'],
    ['content?path=nothing.html', 404, 'path_not_found'],
    ['content?path=../index.html', 404, 'path_not_found'],
    ['content', 400, 'invalid_request'],
  ]
  for (const [path, status, code] of codes) {
    const answer = await world.request('GET', `/v1/apps/${id}/${path}`)
    t.match(answer, { status, body: { error: { code } } }, path)
  }
  const revisions = await world.request<{ data: AnyBody[] }>('GET', `/v1/apps/${id}/revisions`)
  t.match(revisions.body.data, [{ app_id: id, revision: 1, edit_id: null }])
})
