import t from 'tap'
import { MAX_FILE_BYTES } from '../../daemon/trees/tree.ts'
import { createApp, editWorld, eventsOf, readFile, type Edit } from '../support/edits.ts'
import type { AnyBody, Asker, World } from '../support/world.ts'

function edit(world: World, app: string, body: AnyBody, as?: Asker) {
  const asking = { body, ...(as === undefined ? {} : { as }) }
  return world.request<Edit>('POST', `/v1/apps/${app}/edits`, asking)
}

const write = (path: string, content: string) => ({ op: 'write', path, content })

void t.test('operations make one revision, whole, and tell of it once', async (t) => {
  const world = await editWorld(t)
  const { id } = await createApp(world)
  const asking = {
    body: {
      operations: [
        write('about.html', '<h1>About</h1>'),
        { op: 'patch', path: 'about.html', search: 'About', replace: 'About $& us' },
        { op: 'rename', from: 'style.css', to: 'css/style.css' },
        { op: 'delete', path: 'icon.svg' },
        { op: 'write', path: 'pixel.png', content_base64: '/w==' },
        { op: 'set_config', key: 'title', value: 'Shop' },
      ],
      base_revision: 1,
      message: 'About us',
    },
    headers: { 'idempotency-key': 'one' },
  }
  const made = await world.request<Edit>('POST', `/v1/apps/${id}/edits`, asking)
  t.match(made, {
    status: 201,
    body: {
      app_id: id,
      kind: 'structured',
      initial: false,
      status: 'completed',
      message: 'About us',
      base_revision: 1,
      result_revision: 2,
      changed_files: [
        { path: 'about.html', change: 'added' },
        { path: 'css/style.css', change: 'added' },
        { path: 'icon.svg', change: 'removed' },
        { path: 'pixel.png', change: 'added' },
        { path: 'style.css', change: 'removed' },
      ],
      error: null,
      created_by: { type: 'user' },
    },
  })
  t.same((await world.request('POST', `/v1/apps/${id}/edits`, asking)).body, made.body, 'once more')
  t.same((await world.request('GET', `/v1/apps/${id}/edits/${made.body.id}`)).body, made.body)
  t.same((await world.request('GET', `/v1/apps/${id}/edits`)).body['data'], [made.body])

  t.equal(await readFile(world, id, 'about.html'), '<h1>About $& us</h1>')
  t.match(await world.request('GET', `/v1/apps/${id}/content?path=pixel.png`), {
    body: { revision: 2, content: null, content_base64: '/w==' },
  })
  t.match(await world.request('GET', `/v1/apps/${id}/tree`), {
    body: { config: { title: 'Shop' } },
  })
  t.match((await world.request('GET', `/v1/apps/${id}/revisions`)).body['data'], [
    { revision: 2, message: 'About us', edit_id: made.body.id, created_by: { type: 'user' } },
    { revision: 1, edit_id: null },
  ])
  t.match(await world.request('GET', `/v1/apps/${id}/edits/${made.body.id}/status?wait=25`), {
    status: 200,
    body: { status: 'completed', stage: null, result_revision: 2, queue_position: null },
  })
  const told = (await eventsOf(world)).filter(({ type }) => type.startsWith('edit.'))
  t.same(told, [
    {
      type: 'edit.completed',
      app_id: id,
      data: {
        app_id: id,
        edit_id: made.body.id,
        kind: 'structured',
        initial: false,
        result_revision: 2,
        charged_micros: 0,
      },
    },
  ])
})

void t.test('one operation that cannot be applied leaves nothing of any', async (t) => {
  const world = await editWorld(t)
  const { id } = await createApp(world)
  const first = write('first.html', 'kept by nobody')
  const refusals: readonly (readonly [object, string, string])[] = [
    [write('../out.html', ''), 'path_not_allowed', 'traversal'],
    [write('/etc/passwd', ''), 'path_not_allowed', 'absolute'],
    [write('.env', ''), 'path_not_allowed', 'hidden'],
    [{ op: 'rename', from: 'app.js', to: 'con' }, 'path_not_allowed', 'reserved'],
    [{ op: 'rename', from: 'app.js', to: 'style.css' }, 'patch_not_applied', 'path_taken'],
    [{ op: 'delete', path: 'nothing.html' }, 'patch_not_applied', 'path_not_found'],
    [
      { op: 'patch', path: 'app.js', search: 'is not there', replace: '' },
      'patch_not_applied',
      'no_match',
    ],
    [{ op: 'set_config', key: 'a b', value: '' }, 'config_not_allowed', 'config_key'],
  ]
  for (const [operation, code, fault] of refusals) {
    const answer = await edit(world, id, { operations: [first, operation], base_revision: 1 })
    const errors = [{ location: 'body.operations[1]', code: fault }]
    t.match(answer, { status: 400, body: { error: { code, errors } } }, fault)
  }
  const collision = { operations: [write('INDEX.html', '')], base_revision: 1 }
  t.match(await edit(world, id, collision), {
    status: 400,
    body: {
      error: {
        code: 'path_not_allowed',
        errors: [{ location: 'body.operations', code: 'path_collision', message: /INDEX\.html/ }],
      },
    },
  })
  t.match(await world.request('GET', `/v1/apps/${id}`), { body: { current_revision: 1 } })
  t.same((await world.request('GET', `/v1/apps/${id}/edits`)).body['data'], [])
})

void t.test('what is neither a prompt nor operations with their base is refused', async (t) => {
  const world = await editWorld(t)
  const { id } = await createApp(world)
  const operations = [write('a.html', 'a')]
  const invalid: readonly (readonly [AnyBody, string])[] = [
    [{}, 'invalid_edit'],
    [{ operations }, 'invalid_edit'],
    [{ base_revision: 1 }, 'invalid_edit'],
    [{ prompt: 'Do', operations, base_revision: 1 }, 'invalid_edit'],
    [{ prompt: 'Do', base_revision: 1 }, 'invalid_edit'],
    [{ model: 'any', operations, base_revision: 1 }, 'invalid_edit'],
    [{ operations: [], base_revision: 1 }, 'invalid_request'],
    [{ operations: [{ op: 'write', path: 'a' }], base_revision: 1 }, 'invalid_request'],
    [
      { operations: [{ ...write('a', ''), content_base64: '' }], base_revision: 1 },
      'invalid_request',
    ],
    [{ operations: [write('a', '\ud800')], base_revision: 1 }, 'invalid_json'],
    [{ operations: [{ op: 'explode', path: 'a' }], base_revision: 1 }, 'invalid_request'],
  ]
  for (const [body, code] of invalid) {
    const answer = await edit(world, id, body)
    t.match(answer, { status: 400, body: { error: { code } } }, JSON.stringify(body))
  }
})

void t.test('of many edits of one base exactly one is made, and the others learn it', async (t) => {
  const world = await editWorld(t)
  const { id } = await createApp(world)
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      edit(world, id, { operations: [write('a.txt', String(index))], base_revision: 1 }),
    ),
  )
  t.same(
    answers.map(({ status }) => status).sort((a, b) => a - b),
    [201, ...Array<number>(7).fill(409)],
  )
  for (const { status, body } of answers) {
    if (status === 409) t.match(body, { error: { code: 'revision_conflict' } })
  }
  const stale = await edit(world, id, { operations: [write('a.txt', 'late')], base_revision: 1 })
  t.match(stale.body, {
    error: { code: 'revision_conflict', details: { current_revision: 2 } },
  })
  t.equal((await eventsOf(world)).filter(({ type }) => type === 'edit.completed').length, 1)
})

void t.test('foreign edits, and those of another app, are not found', async (t) => {
  const world = await editWorld(t)
  const mine = (await createApp(world)).id
  const other = (await createApp(world)).id
  const made = (await edit(world, mine, { operations: [write('a', 'a')], base_revision: 1 })).body
  const stranger = world.userOf(await world.addAccount({ id: 'acc_other' }))
  const pinned = (await world.mintKey({ scopes: ['edits:*'], apps: [other] })).key
  const reader = (await world.mintKey({ scopes: ['edits:read'], apps: [mine] })).key
  for (const [method, verb] of [
    ['GET', ''],
    ['GET', '/status'],
    ['GET', '/logs'],
    ['POST', '/cancel'],
    ['POST', '/revert'],
  ] as const) {
    const at = (app: string) => `/v1/apps/${app}/edits/${made.id}${verb}`
    for (const as of [stranger, pinned]) {
      const answer = await world.request(method, at(mine), { as })
      t.match(answer, { status: 404, body: { error: { code: 'app_not_found' } } }, verb)
    }
    t.match(
      await world.request(method, at(other)),
      { status: 404, body: { error: { code: 'edit_not_found' } } },
      verb,
    )
    if (method === 'GET')
      t.match(await world.request(method, at(mine), { as: reader }), { status: 200 })
  }
  t.match(await edit(world, mine, { operations: [write('a', 'b')], base_revision: 2 }, reader), {
    status: 403,
    body: { error: { code: 'insufficient_scope' } },
  })
})

void t.test(
  'an archived app takes no edit, and an ended one is neither canceled nor kept waiting for',
  async (t) => {
    const world = await editWorld(t)
    const { id } = await createApp(world)
    const made = (await edit(world, id, { operations: [write('a', 'a')], base_revision: 1 })).body
    const at = `/v1/apps/${id}/edits/${made.id}`
    t.match(await world.request('POST', `${at}/cancel`), {
      status: 409,
      body: { error: { code: 'edit_finished' } },
    })
    t.match(await world.request('GET', `${at}/logs`), { status: 200, body: { data: [] } })
    t.match(await edit(world, id, { prompt: 'Make it blue' }), {
      status: 501,
      body: { error: { code: 'model_not_configured' } },
    })
    await world.request('DELETE', `/v1/apps/${id}`)
    const refused = { status: 409, body: { error: { code: 'app_archived' } } }
    t.match(await edit(world, id, { operations: [write('a', 'b')], base_revision: 2 }), refused)
    t.match(await world.request('POST', `${at}/revert`), refused)
    t.match(await world.request('GET', at), { status: 200 })
    t.equal((await world.request<{ data: [] }>('GET', `/v1/apps/${id}/edits`)).body.data.length, 1)
  },
)

void t.test('what is done to edits is in the audit log', async (t) => {
  const world = await editWorld(t)
  const { id } = await createApp(world)
  const made = (await edit(world, id, { operations: [write('a', 'a')], base_revision: 1 })).body
  const { rows } = await world.platform.store.requests.audit({
    account_id: world.account.id,
    action: 'edit.created',
    actor_id: null,
    target_id: null,
    limit: 10,
    after: null,
  })
  t.match(rows, [{ target_type: 'edit', target_id: made.id, app_id: id, actor_type: 'user' }])
})

void t.test('a file of the largest size is taken, and nothing beyond it', async (t) => {
  const world = await editWorld(t)
  const { id } = await createApp(world)
  const largest = (more: number) => ({
    op: 'write',
    path: 'film.bin',
    content_base64: Buffer.alloc(MAX_FILE_BYTES + more, 7).toString('base64'),
  })
  t.match(await edit(world, id, { operations: [largest(1)], base_revision: 1 }), {
    status: 400,
    body: { error: { code: 'app_too_large', errors: [{ code: 'too_large' }] } },
  })
  t.match(await edit(world, id, { operations: [largest(0)], base_revision: 1 }), { status: 201 })
  const beyond = { operations: [largest(0), largest(0)], base_revision: 2 }
  t.match(await edit(world, id, beyond), {
    status: 413,
    body: { error: { code: 'payload_too_large' } },
  })
})
