import t from 'tap'
import type { Family } from '../../daemon/operations/family.ts'
import { webhooksFamily } from '../../daemon/families/webhooks/family.ts'
import type { Delivery, Page, Webhook } from '../support/webhooks.ts'
import {
  deliveryOf,
  hasStatus,
  publish,
  receiverFor,
  register,
  shopWorld,
} from '../support/webhooks.ts'
import type { AnyBody } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

void t.test('a webhook is created with its secret shown once and sealed at rest', async (t) => {
  const world = await shopWorld(t)
  const body = {
    url: 'https://HOOKS.example.com./in?a=1',
    events: ['app.deployed', 'webhook.test'],
    description: 'Tells the chat',
  }
  const asking = { body, headers: { 'idempotency-key': 'one' } }
  const made = await world.request<Webhook>('POST', '/v1/webhooks', asking)
  t.match(made, {
    status: 201,
    body: {
      url: 'https://hooks.example.com/in?a=1',
      events: body.events,
      description: body.description,
      status: 'active',
      consecutive_failures: 0,
      disabled_reason: null,
      apps: null,
      standard_headers: false,
      trace_headers: false,
      created_by: { type: 'user', id: world.user.user_id },
    },
  })
  const { secret, ...record } = made.body
  t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  t.equal(record['webhook_id'], record.id)
  t.equal(record['secret_prefix'], `${secret.slice(0, 10)}…`)
  const replayed = await world.request('POST', '/v1/webhooks', asking)
  t.same(replayed.body, { ...record, secret: null }, 'a replay shows null')
  t.same((await world.request('GET', `/v1/webhooks/${record.id}`)).body, record)
  t.same((await world.request('GET', '/v1/webhooks')).body['data'], [record])
  const kept = await world.platform.store.webhooks.get(world.account.id, record.id)
  t.notMatch(JSON.stringify(kept), secret.slice(6))
})

void t.test('an address is judged before anything is stored', async (t) => {
  const world = await shopWorld(t, { allow: '', names: { 'inside.example.com': ['10.0.0.7'] } })
  const refusals: readonly (readonly [string, string, string])[] = [
    ['hooks.example.com', 'invalid_url', 'malformed'],
    ['ftp://hooks.example.com/', 'invalid_url', 'scheme'],
    ['http://hooks.example.com/', 'invalid_url', 'scheme'],
    ['https://a:b@hooks.example.com/', 'invalid_url', 'userinfo'],
    ['https://hooks.example.com/#a', 'invalid_url', 'fragment'],
    ['https://hooks.example.com:22/', 'invalid_url', 'port'],
    ['https://hooks.example.com/a\\b', 'invalid_url', 'backslash'],
    ['https://hooks.example.com/ ', 'invalid_url', 'control_character'],
    [`https://hooks.example.com/${'a'.repeat(2048)}`, 'invalid_url', 'too_long'],
    ['https://127.0.0.1/', 'url_not_public', 'address_loopback'],
    ['https://[::ffff:10.0.0.1]/', 'url_not_public', 'address_private'],
    ['https://169.254.169.254/', 'url_not_public', 'address_link_local'],
    ['https://localhost/', 'url_not_public', 'name_special'],
    ['https://inside.example.com/', 'url_not_public', 'address_private'],
    [`${world.baseUrl}/v1/webhooks`, 'url_not_public', 'own_listener'],
  ]
  const webhook = await register(world, { url: 'https://hooks.example.com/in' })
  for (const [url, code, reason] of refusals) {
    for (const [method, path] of [
      ['POST', '/v1/webhooks'],
      ['PATCH', `/v1/webhooks/${webhook.id}`],
    ] as const) {
      const body = method === 'POST' ? { url, events: ['app.deployed'] } : { url }
      const { status, body: refused } = await world.request(method, path, { body })
      t.match({ status, refused }, { status: 400, refused: { error: { code } } }, url)
      t.match(refused, { error: { details: { reason }, errors: [{ location: 'body.url' }] } }, url)
    }
  }
  const kept = await world.request<Webhook>('GET', `/v1/webhooks/${webhook.id}`)
  t.equal(kept.body['url'], webhook['url'])
})

void t.test('a private target is refused with the setting that permits it', async (t) => {
  const world = await shopWorld(t, { allow: '127.0.0.1' })
  const create = (url: string): Promise<{ status: number; body: AnyBody }> =>
    world.request('POST', '/v1/webhooks', { body: { url, events: ['app.deployed'] } })
  for (const url of [
    'http://localhost:1/in',
    'http://10.0.0.1:1/in',
    'HTTP://hooks.example.com/',
  ]) {
    const message =
      /^Begin it with https:\/\/\. Plain http is permitted only for targets listed in KEYHOOK_WEBHOOK_ALLOW \(w.* --dev/
    const { body } = await create(url)
    t.match(body, { error: { code: 'invalid_url', errors: [{ code: 'scheme', message }] } }, url)
  }
  const { body: ftp } = await create('ftp://hooks.example.com/')
  const https = /^The scheme of the url is not permitted\. Begin it with https:\/\/\.$/
  t.match(ftp, { error: { errors: [{ message: https }] } })
  for (const url of ['hooks.example.com/in', '127.0.0.1:1/in', '/in']) {
    const { body } = await create(url)
    const errors = [{ code: 'malformed', message: / Begin it with https:\/\/\.$/ }]
    t.match(body, { error: { code: 'invalid_url', errors } }, url)
  }
  const { body: near } = await create('https://10.0.0.1/in')
  const message = /KEYHOOK_WEBHOOK_ALLOW \(webhookAllow\)/
  t.match(near, { error: { code: 'url_not_public', message } })
})

void t.test('a webhook names each type once, and only types that are known', async (t) => {
  const world = await shopWorld(t)
  const create = (events: unknown): Promise<{ status: number; body: AnyBody }> =>
    world.request('POST', '/v1/webhooks', {
      body: { url: 'https://hooks.example.com/in', events },
    })
  t.match(await create(['app.deployed', 'order.paid', '*', '*.paid', 'order.*.line', 'order*']), {
    status: 400,
    body: {
      error: {
        code: 'unknown_event_type',
        errors: [1, 3, 4, 5].map((index) => ({ location: `body.events[${index}]` })),
      },
    },
  })
  const { body: near } = await create(['app.deploid'])
  const message = 'There is no event type "app.deploid". Did you mean "app.deployed"?'
  t.match(near, { error: { message: /KEYHOOK_EVENT_TYPES \(eventTypes/, errors: [{ message }] } })
  t.equal((await create(['*', 'order.*', 'order.line.*'])).status, 201)
  t.match(await create(['app.deployed', 'app.deployed']), {
    status: 400,
    body: { error: { code: 'invalid_request', errors: [{ location: 'body.events[1]' }] } },
  })
  for (const events of [[], null, 'app.deployed', Array.from({ length: 101 }, String)]) {
    t.match(await create(events), { status: 400, body: { error: { code: 'invalid_request' } } })
  }
  const { platform, account } = world
  const declared = { description: null, schema: null, sample: null, created_at: 0, updated_at: 0 }
  await platform.store.write((tx) =>
    tx.events.putType({ ...declared, account_id: account.id, type: 'order.paid' }),
  )
  t.equal((await create(['order.paid'])).status, 201, 'a type that the account declared')
})

void t.test('a type of the service may need a scope of its own, and * leaves it out', async (t) => {
  const till: Family = {
    name: 'till',
    scopes: { till: ['read'] },
    events: [{ type: 'till.opened', scope: 'till:read', description: 'A till opens.', sample: {} }],
    errors: { rows: {} },
    operations: [],
  }
  const world = await shopWorld(t, { families: [till] })
  const create = (scopes: readonly string[], events: readonly string[]): Promise<unknown> =>
    world.mintKey({ scopes: ['webhooks:write', ...scopes] }).then(({ key: as }) => {
      const body = { url: 'https://hooks.example.com/in', events }
      return world.request('POST', '/v1/webhooks', { as, body })
    })
  const lacks = (...missing_scopes: readonly string[]): object => ({
    status: 403,
    body: { error: { code: 'insufficient_scope', details: { missing_scopes } } },
  })
  t.match(await create(['events:read'], ['till.opened']), lacks('till:read'))
  t.match(await create([], ['till.*']), lacks('events:read', 'till:read'))
  t.match(await create(['till:read'], ['till.*']), lacks('events:read'))
  t.match(await create(['till:read'], ['till.opened', '*']), { status: 201 })
  const { eventTypes } = world.platform
  t.same([eventTypes.isBuiltIn('till.opened'), eventTypes.isBuiltIn('app.deployed')], [false, true])
})

void t.test('an account has at most 50 webhooks', async (t) => {
  const world = await shopWorld(t)
  const url = 'https://hooks.example.com/in'
  for (let made = 0; made < 50; made += 1) await register(world, { url })
  const body = { url, events: ['app.deployed'] }
  const refused = await world.request('POST', '/v1/webhooks', { body })
  t.match(refused, { status: 409, body: { error: { code: 'webhook_limit_reached' } } })
  const other = world.userOf(await world.addAccount())
  t.equal((await world.request('POST', '/v1/webhooks', { as: other, body })).status, 201)
  const first = await world.request<Page<Webhook>>('GET', '/v1/webhooks?limit=30')
  const cursor = first.body.next_cursor ?? ''
  const rest = await world.request<Page<Webhook>>('GET', `/v1/webhooks?limit=30&cursor=${cursor}`)
  t.equal(new Set([...first.body.data, ...rest.body.data].map(({ id }) => id)).size, 50)
  t.equal(rest.body.has_more, false)
})

void t.test('webhooks and deliveries of another account are not found', async (t) => {
  const world = await shopWorld(t)
  const { url } = await receiverFor(t)
  const webhook = await register(world, { url })
  const tested = await world.request<Delivery>('POST', `/v1/webhooks/${webhook.id}/test`)
  const as = world.userOf(await world.addAccount())
  const path = `/v1/webhooks/${webhook.id}`
  const deliveries = `${path}/deliveries`
  const own = await register(world, { url }, as)
  const asks: readonly (readonly [string, string, string, object?])[] = [
    ['GET', path, 'webhook_not_found'],
    ['PATCH', path, 'webhook_not_found', { url: 'https://127.0.0.9/' }],
    ['DELETE', path, 'webhook_not_found'],
    ['POST', `${path}/test`, 'webhook_not_found'],
    ['GET', deliveries, 'webhook_not_found'],
    ['GET', `${deliveries}/${tested.body.id}`, 'webhook_not_found'],
    ['POST', `${deliveries}/${tested.body.id}/retry`, 'webhook_not_found'],
    ['GET', `/v1/webhooks/${own.id}/deliveries/${tested.body.id}`, 'delivery_not_found'],
    ['POST', `/v1/webhooks/${own.id}/deliveries/${tested.body.id}/retry`, 'delivery_not_found'],
  ]
  for (const [method, at, code, body] of asks) {
    const refused = await world.request(method, at, { as, body })
    t.match(refused, { status: 404, body: { error: { code } } }, `${method} ${at}`)
  }
  t.same((await world.request('GET', '/v1/webhooks', { as })).body['data'], [
    (await world.request('GET', `/v1/webhooks/${own.id}`, { as })).body,
  ])
})

void t.test('a key needs the scope of what it does', async (t) => {
  const world = await shopWorld(t)
  const webhook = await register(world, { url: 'https://hooks.example.com/in' })
  const reader = await world.mintKey({ scopes: ['webhooks:read'] })
  const writer = await world.mintKey({ scopes: ['webhooks:write'] })
  const path = `/v1/webhooks/${webhook.id}`
  const asks: readonly (readonly [string, string, 'read' | 'write'])[] = [
    ['GET', '/v1/webhooks', 'read'],
    ['GET', path, 'read'],
    ['GET', `${path}/deliveries`, 'read'],
    ['GET', `${path}/deliveries/none`, 'read'],
    ['POST', '/v1/webhooks', 'write'],
    ['PATCH', path, 'write'],
    ['POST', `${path}/deliveries/none/retry`, 'write'],
    ['POST', `${path}/test`, 'write'],
    ['DELETE', path, 'write'],
  ]
  for (const [method, at, needs] of asks) {
    const lacking = needs === 'read' ? writer : reader
    const refused = await world.request(method, at, { as: lacking.key })
    t.match(
      refused,
      { status: 403, body: { error: { code: 'insufficient_scope' } } },
      `${method} ${at}`,
    )
  }
  t.equal((await world.request('GET', path, { as: reader.key })).status, 200)
  t.equal((await world.request('GET', path, { as: null })).status, 401)
})

void t.test('a pinned key has webhooks of its apps alone, and sees those alone', async (t) => {
  const world = await shopWorld(t)
  const { url } = await receiverFor(t)
  const scopes = ['webhooks:*']
  const { id: keyId, key } = await world.mintKey({ scopes, apps: ['a1', 'a2'] })
  const make = (apps?: unknown): Promise<{ status: number; body: AnyBody }> =>
    world.request('POST', '/v1/webhooks', {
      as: key,
      body: { url, events: ['app.deployed'], apps },
    })

  t.match(await make(), {
    status: 201,
    body: { apps: ['a1', 'a2'], created_by: { type: 'key', id: keyId } },
  })
  const narrow = await register(world, { url, apps: ['a1', 'a1'] }, key)
  t.same(narrow['apps'], ['a1'])
  const beyond = { status: 403, body: { error: { code: 'scope_not_delegable' } } }
  t.match(await make(['a1', 'a3']), {
    ...beyond,
    body: { error: { details: { uncovered_apps: ['a3'] } } },
  })
  t.match(await make(null), { ...beyond, body: { error: { details: { uncovered_apps: 'all' } } } })
  t.match(await make([]), { status: 400 })
  for (const apps of [['a3'], null]) {
    const path = `/v1/webhooks/${narrow.id}`
    t.match(await world.request('PATCH', path, { as: key, body: { apps } }), beyond)
  }

  const wide = await register(world, { url, apps: ['a1', 'a3'] })
  const all = await register(world, { url })
  for (const { id } of [wide, all]) {
    const hidden = await world.request('GET', `/v1/webhooks/${id}`, { as: key })
    t.match(hidden, { status: 404, body: { error: { code: 'webhook_not_found' } } })
  }
  const { data } = (await world.request<Page<Webhook>>('GET', '/v1/webhooks', { as: key })).body
  t.equal(data.length, 2)
  t.notOk(data.some(({ id }) => id === wide.id || id === all.id))

  const others = await publish(world, 'a3')
  const own = await publish(world, 'a1')
  await deliveryOf(world, wide, own, hasStatus('succeeded'))
  const foreign = await deliveryOf(world, wide, others, hasStatus('succeeded'))
  await world.request('PATCH', `/v1/webhooks/${wide.id}`, { body: { apps: ['a1'] } })
  const path = `/v1/webhooks/${wide.id}/deliveries`
  const seen = (await world.request<Page<Delivery>>('GET', path, { as: key })).body.data
  t.same(
    seen.map(({ event_id }) => event_id),
    [own],
    'what the webhook received of other apps before stays hidden',
  )
  t.equal((await world.request('GET', `${path}/${foreign.id}`, { as: key })).status, 404)
  const retried = await world.request('POST', `${path}/${foreign.id}/retry`, { as: key })
  t.equal(retried.status, 404)
})

void t.test('a change names at least one field, and no other', async (t) => {
  const world = await shopWorld(t)
  const webhook = await register(world, { url: 'https://hooks.example.com/in' })
  const path = `/v1/webhooks/${webhook.id}`
  for (const body of [{}, { secret: 'whsec_x' }, { status: 'paused' }, { description: ' ' }]) {
    const refused = await world.request('PATCH', path, { body })
    t.match(refused, { status: 400, body: { error: { code: 'invalid_request' } } })
  }
  const body = { events: ['webhook.disabled'], description: null, standard_headers: true }
  t.match(await world.request('PATCH', path, { body }), { status: 200, body })
})

void t.test('a deleted webhook is answered as it was and is gone', async (t) => {
  const world = await shopWorld(t)
  const receiver = await receiverFor(t)
  const webhook = await register(world, { url: receiver.url })
  const path = `/v1/webhooks/${webhook.id}`
  const before = (await world.request('GET', path)).body
  const deleted = await world.request('DELETE', path)
  t.equal(deleted.status, 200)
  t.same(deleted.body, before)
  t.equal((await world.request('DELETE', path)).status, 404)
  await publish(world)
  t.equal((await world.request('GET', `${path}/deliveries`)).status, 404)
  t.equal(receiver.requests.length, 0)
})

void t.test(
  'every example satisfies its schema, and every code is declared somewhere',
  async (t) => {
    const codes = new Set(Object.keys(webhooksFamily.errors.rows))
    for (const { id, input, output, example, errors } of webhooksFamily.operations) {
      t.same(output.parse(example.response), example.response, `the answer of ${id}`)
      t.ok(input.body === undefined || input.body.safeParse(example.body).success, `${id} body`)
      t.ok(input.params === undefined || input.params.safeParse(example.params).success, id)
      for (const code of errors) codes.delete(code)
    }
    t.same([...codes], [], 'and every code of the family has an operation that answers it')
  },
)

void t.test('the operator may have new webhooks get standard headers', async (t) => {
  const world = await createWorld(t, { families: [webhooksFamily], standardHeaders: true })
  const body = { url: 'https://93.184.215.14/in', events: ['webhook.disabled'] }
  const make = async (changes: object) =>
    (await world.request('POST', '/v1/webhooks', { body: { ...body, ...changes } })).body
  const made = await make({})
  t.equal(made['standard_headers'], true)
  t.equal((await make({ standard_headers: false }))['standard_headers'], false)
  const path = `/v1/webhooks/${String(made['id'])}`
  const off = await world.request('PATCH', path, { body: { standard_headers: false } })
  t.equal(off.body['standard_headers'], false)
})
