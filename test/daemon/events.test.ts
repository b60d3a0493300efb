import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { MAX_EVENT_BYTES } from '../../lib/webhook/event.ts'
import { verifyWebhook } from '../../lib/webhook/verify.ts'
import { openSqlite } from '../../plugins/store/sql/sqlite.ts'
import { declare, listed, publish, publishAll, shopWorld, told } from '../support/shop-events.ts'
import type { Event } from '../support/shop-events.ts'
import { deliveryOf, hasStatus, headersOf, receiverFor, register } from '../support/webhooks.ts'
import type { AnyBody, World } from '../support/world.ts'

void t.test('a body with no name that is known is judged as one event', async (t) => {
  const { request } = await shopWorld(t)
  const at = async (body: AnyBody): Promise<string> => {
    const { status, body: answer } = await request('POST', '/v1/events', { body })
    const { errors } = answer['error'] as { readonly errors: readonly { location: string }[] }
    return [status, ...errors.map(({ location }) => location)].join(' ')
  }
  t.equal(await at({}), '400 body.type body.data')
  t.equal(
    await at({ event: 'order.paid', payload: {} }),
    '400 body.type body.data body.event body.payload',
  )
  t.equal(await at({ events: 'order.paid' }), '400 body.events')
  t.equal(await at({ type: 'order.paid' }), '400 body.data')
  const { body } = await request('POST', '/v1/events', { body: { type: 'order.payd', data: {} } })
  const message =
    /"order.payd" is not declared. Did you mean "order.paid"\? .*`keyhook event declare`/
  t.match(body, { error: { code: 'undeclared_event_type', message } })
})

void t.test('of a list, the first undeclared types get a suggestion', async (t) => {
  const { request } = await shopWorld(t)
  const counted = (text: unknown): number => JSON.stringify(text).split('Did you mean').length - 1
  const types = Array.from({ length: 20 }, (_, at) => `order.pai${at}`)
  const events = types.map((type) => ({ type, data: {} }))
  const published = await request('POST', '/v1/events', { body: { events } })
  t.equal(counted(published.body), 5)
  const registered = await request('POST', '/v1/webhooks', {
    body: { url: 'https://example.com/in', events: types },
  })
  t.match(registered.body, { error: { code: 'unknown_event_type' } })
  t.equal(counted(registered.body), 5)
})

/** Publishes a body as it stands, which no JSON printer would write. */
async function publishText(world: World, text: string): Promise<{ status: number; body: AnyBody }> {
  const { key } = await world.mintKey({ scopes: ['events:*'] })
  const response = await fetch(`${world.baseUrl}/v1/events`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: text,
  })
  return { status: response.status, body: (await response.json()) as AnyBody }
}

await t.test('an event is published, shown and listed', async (t) => {
  const world = await shopWorld(t)
  const published = await publish(world, { data: { total: 1 }, app_id: 'a1' })
  t.match(published, { status: 202, body: { type: 'order.paid', status: 'accepted' } })
  const { id } = published.body
  t.match(id, /^evt_[0-9a-hjkmnp-tv-z]{26}$/)
  const shown = await world.request<Event>('GET', `/v1/events/${id}`)
  t.match(shown.body, { id, type: 'order.paid', app_id: 'a1', data: { total: 1 } })
  t.match(shown.body['created_at'], /^\d{4}-.*Z$/)
  t.same((await listed(world)).data, [shown.body])
  const wrong: readonly AnyBody[] = [
    { type: 'order' },
    { type: 7 },
    { data: null },
    { data: [] },
    { data: 'x' },
    { id: 'order_1' },
    { id: 'evt_4.2' },
    { id: `evt_${'a'.repeat(65)}` },
    { app_id: 'a b' },
    { app_id: null },
    { created_at: 'now' },
  ]
  for (const change of wrong) {
    t.equal(told(await publish(world, change)), '400 invalid_request', JSON.stringify(change))
  }
  const { key } = await world.mintKey({ scopes: ['events:read'] })
  t.equal(told(await publish(world, {}, { as: key })), '403 insufficient_scope')
  t.equal((await listed(world)).data.length, 1)
})

await t.test('types of the product cannot be published from outside', async (t) => {
  const world = await shopWorld(t)
  for (const type of ['app.deployed', 'webhook.test']) {
    const refused = await publish(world, { type })
    t.equal(told(refused), '400 reserved_event_type')
    t.match(refused.body, { error: { details: { type } } })
  }
  t.equal(told(await publish(world, { type: 'app.unheard' })), '400 undeclared_event_type')
  t.same((await listed(world)).data, [])
})

await t.test('a batch is answered item by item, and one bad item leaves the others', async (t) => {
  const world = await shopWorld(t)
  const good = { type: 'order.paid', data: { a: 1 } }
  const items = await publishAll(world, [
    good,
    { type: 'order.lost', data: {} },
    { type: 'app.deployed', data: {} },
    null,
    { ...good, data: [] },
    { ...good, surprise: 1 },
    { ...good, id: 'evt_x', data: { text: 'x'.repeat(MAX_EVENT_BYTES) } },
    good,
  ])
  t.same(
    items.map(({ status, error }) => error?.code ?? status),
    [
      'accepted',
      'undeclared_event_type',
      'reserved_event_type',
      'invalid_request',
      'invalid_request',
      'invalid_request',
      'event_too_large',
      'accepted',
    ],
  )
  t.match(items[4], { error: { status: 400, errors: [{ location: 'body.events[4].data' }] } })
  t.match(items[5], { error: { errors: [{ location: 'body.events[5].surprise' }] } })
  const ids = [items[0]?.['id'], items[7]?.['id']]
  t.same(
    (await listed(world)).data.map(({ id }) => id),
    ids.reverse(),
  )

  const many = await publishAll(world, Array<unknown>(500).fill(good))
  t.equal(many.filter(({ status }) => status === 'accepted').length, 500)
  t.equal(new Set(many.map(({ id }) => id)).size, 500)
  for (const events of [[], Array<unknown>(501).fill(good), null, good]) {
    const refused = await world.request('POST', '/v1/events', { body: { events } })
    t.equal(told(refused), '400 invalid_request')
  }
  const both = await world.request('POST', '/v1/events', { body: { ...good, events: [good] } })
  t.equal(told(both), '400 invalid_request')
})

await t.test('an id of the caller’s makes an event safe to publish again', async (t) => {
  const world = await shopWorld(t)
  const event = { id: 'evt_order_1', data: { a: 1 }, app_id: 'a1' }
  t.match(await publish(world, event), { status: 202, body: { status: 'accepted', id: event.id } })
  const first = await world.request('GET', `/v1/events/${event.id}`)
  const again = await publish(world, event)
  t.match(again, { status: 202, body: { status: 'duplicate', id: event.id } })
  const others: readonly AnyBody[] = [
    { data: { a: 2 } },
    { data: { a: 1, b: 1 } },
    { type: 'order.sent' },
    { app_id: 'a2' },
    { app_id: undefined },
  ]
  for (const change of others) {
    const refused = await publish(world, { ...event, ...change })
    t.equal(told(refused), '409 event_id_conflict', JSON.stringify(change))
  }
  t.same((await world.request('GET', `/v1/events/${event.id}`)).body, first.body)

  const two = { type: 'order.paid', id: 'evt_2', data: {} }
  const items = await publishAll(world, [
    two,
    two,
    { ...two, data: { other: true } },
    { ...event, type: 'order.paid' },
    { type: 'order.paid', data: {} },
  ])
  t.same(
    items.map(({ status, error }) => error?.code ?? status),
    ['accepted', 'duplicate', 'event_id_conflict', 'duplicate', 'accepted'],
  )
  const under = await publishAll(
    world,
    [
      { ...two, id: 'evt_3' },
      { ...two, id: 'evt_3' },
    ],
    {
      headers: { 'idempotency-key': 'batch' },
    },
  )
  t.same(
    under.map(({ status }) => status),
    ['accepted', 'duplicate'],
    'also in a unit of work',
  )
  const raced = await Promise.all(
    Array.from({ length: 8 }, () => publish(world, { id: 'evt_raced', data: { a: 1 } })),
  )
  const accepted = raced.filter(({ body }) => body['status'] === 'accepted')
  t.same([raced.map(told), accepted.length], [Array<string>(8).fill('202'), 1])
  t.equal((await listed(world)).data.length, 5)

  const as = world.userOf(await world.addAccount())
  await declare(world, 'order.paid', {}, as)
  const theirs = await publish(world, { ...event, data: { theirs: true } }, { as })
  t.match(theirs, { status: 202, body: { status: 'accepted' } }, 'ids are the account’s own')
  t.same((await world.request('GET', `/v1/events/${event.id}`)).body, first.body)
})

await t.test('an event is at most 256 KiB, counted over the bytes that are sent', async (t) => {
  const world = await shopWorld(t)
  const id = 'evt_large'
  const frame = `{"id":"${id}","type":"order.paid","created_at":"${new Date(0).toISOString()}","data":}`
  const dataOf = (bytes: number): string => `{"t":"é${'x'.repeat(bytes - 10)}"}`
  const room = MAX_EVENT_BYTES - frame.length
  t.equal(Buffer.byteLength(dataOf(room)), room)
  const bodyOf = (bytes: number): string =>
    `{"id":"${id}","type":"order.paid","data":${dataOf(bytes)}}`
  const over = await publishText(world, bodyOf(room + 1))
  t.equal(told(over), '413 event_too_large')
  t.match(over.body, { error: { details: { bytes: MAX_EVENT_BYTES + 1 } } })
  t.equal(told(await publishText(world, bodyOf(room))), '202')
  const kept = await world.platform.store.events.get(world.account.id, id)
  t.equal(kept?.body.length, MAX_EVENT_BYTES)
})

/** What printing anew would change: long numbers, key order, escapes, spaces, repeated keys. */
const TEXTS: readonly string[] = [
  '{"n":12345678901234567890,"f":1.50,"e":1E+2,"z":-0}',
  '{"b":1,"10":2,"9":3,"a":4}',
  '{"s":"\\u0061\\/\\u00e9\\ud83d\\ude00","é":"ü€😀"}',
  '{ "a" :\t[ 1 ,\r\n 2 ] , "b":{ } }',
  '{"a":1,"a":2}',
  '{"s":"}\\"]{\\\\","data":{"data":1}}',
  '{}',
]

await t.test('data is read back to the byte, alone and in lists', async (t) => {
  const world = await shopWorld(t)
  const { key } = await world.mintKey({ scopes: ['events:read'] })
  const read = async (path: string): Promise<string> => {
    const headers = { authorization: `Bearer ${key}` }
    return (await fetch(world.baseUrl + path, { headers })).text()
  }
  for (const text of TEXTS) {
    const { body } = await publishText(world, `{"type":"order.paid","data":${text}}`)
    const shown = await read(`/v1/events/${String(body['id'])}`)
    t.ok(shown.endsWith(`,"data":${text}}`), text)
  }
  const list = await read('/v1/events?order=asc')
  const places = TEXTS.map((text) => list.indexOf(`,"data":${text}}`))
  t.notOk(places.includes(-1))
  t.same(
    places,
    [...places].sort((a, b) => a - b),
  )
  t.match(JSON.parse(list), { data: TEXTS.map((text) => ({ data: JSON.parse(text) as object })) })
})

await t.test('data reaches a receiver to the byte, under a signature that holds', async (t) => {
  const world = await shopWorld(t)
  const receiver = await receiverFor(t)
  const events = ['order.paid']
  const webhook = await register(world, { url: receiver.url, events, standard_headers: true })
  const ids: string[] = []
  for (const text of TEXTS) {
    const one = await publishText(world, `{"data":${text} , "type":"order.paid"}`)
    t.equal(told(one), '202', text)
    ids.push(String(one.body['id']))
  }
  const items = TEXTS.map((text) => `{"type":"order.paid","d\\u0061ta":{},"data":\n${text}\n}`)
  const batch = await publishText(world, `{"events":[${items.join(' , ')}]}`)
  ids.push(...(batch.body['data'] as readonly Event[]).map(({ id }) => id))
  for (const id of ids) await deliveryOf(world, webhook, id, hasStatus('succeeded'))

  for (const [index, id] of ids.entries()) {
    const sent = receiver.requests.find(({ body }) => body.includes(`"id":"${id}"`))
    if (sent === undefined) throw new Error(`${id} was not sent`)
    const bytes = Buffer.from(sent.body, 'latin1')
    const text = TEXTS[index % TEXTS.length] ?? ''
    const created = /"created_at":"([^"]+)"/.exec(sent.body)?.[1] ?? ''
    const expected = `{"id":"${id}","type":"order.paid","created_at":"${created}","data":${text}}`
    t.equal(bytes.toString(), expected, text)
    const headers = headersOf(sent)
    const verified = await verifyWebhook(bytes, headers, webhook.secret)
    t.match(verified, { id, type: 'order.paid', created_at: created })
    t.same(verified.data, JSON.parse(text))
    const { 'Service-Signature': _ours, ...standard } = headers
    t.match(await verifyWebhook(bytes, standard, webhook.secret), { id })
    // The specification's own library, which shares no code with ours.
    const lowered = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
    const theirs = new Webhook(webhook.secret).verify(
      bytes,
      Object.fromEntries(lowered) as Record<string, string>,
    )
    t.match(theirs, { id, type: 'order.paid' })
    await t.rejects(verifyWebhook(`${bytes.toString()} `, headers, webhook.secret), {
      code: 'signature_mismatch',
    })
  }
})

await t.test('a pinned key publishes for its apps and sees theirs alone', async (t) => {
  const world = await shopWorld(t)
  const { key: as } = await world.mintKey({ scopes: ['*:*'], apps: ['a1', 'a2'] })
  t.equal(told(await publish(world, {}, { as })), '403 key_pinned')
  t.equal(told(await publish(world, { app_id: 'a3' }, { as })), '404 app_not_found')
  t.equal(told(await publish(world, { app_id: 'a1' }, { as })), '202')
  const items = await publishAll(
    world,
    ['a1', 'a3', undefined, 'a2'].map((app_id) => ({ type: 'order.paid', data: {}, app_id })),
    { as },
  )
  t.same(
    items.map(({ status, error }) => error?.code ?? status),
    ['accepted', 'app_not_found', 'key_pinned', 'accepted'],
  )
  const others = [(await publish(world, { app_id: 'a3' })).body.id, (await publish(world)).body.id]
  const apps = (await listed(world, '', as)).data.map((event) => event['app_id'])
  t.same(apps, ['a2', 'a1', 'a1'])
  t.equal((await listed(world)).data.length, 5)
  const unknown = await world.request('GET', '/v1/events/evt_unknown', { as })
  for (const id of others) {
    const hidden = await world.request('GET', `/v1/events/${id}`, { as })
    const { message, code } = hidden.body['error'] as { message: string; code: string }
    t.equal(told(hidden), '404 event_not_found')
    t.match(unknown, { status: 404, body: { error: { message, code } } })
    t.equal(told(await world.request('GET', `/v1/events/${id}`)), '200')
  }
  t.equal(told(await declare(world, 'order.lost', {}, as)), '403 key_pinned')
  t.equal(told(await world.request('GET', '/v1/event-types', { as })), '403 key_pinned')
})

await t.test('what is accepted is committed: another connection finds it at once', async (t) => {
  const world = await shopWorld(t)
  const other = await openSqlite(join(t.testdirName, 'keyhook.sqlite'))
  t.teardown(() => other.close())
  const rows = (id: string): Promise<object[]> =>
    other.read('SELECT id FROM keyhook_events WHERE id = $1', [id])
  for (let round = 0; round < 20; round += 1) {
    const headers = round % 2 === 0 ? {} : { 'idempotency-key': `round-${round}` }
    const { status, body } = await publish(world, {}, { headers })
    t.same(await rows(body.id), [{ id: body.id }])
    t.equal(status, 202)
  }
})

await t.test('64 publishers at once are all accepted, and nothing is lost', async (t) => {
  const world = await shopWorld(t)
  const receiver = await receiverFor(t)
  const webhook = await register(world, { url: receiver.url, events: ['order.paid'] })
  const answers = await Promise.all(
    Array.from({ length: 64 }, (_, number) => publish(world, { data: { number } })),
  )
  t.same(answers.map(told), Array<string>(64).fill('202'))
  const ids = answers.map(({ body }) => body.id).sort()
  const kept = await listed(world, '?limit=100')
  t.same(kept.data.map(({ id }) => id).sort(), ids)
  const numbers = new Set(kept.data.map(({ data }) => (data as { number: number }).number))
  t.equal(numbers.size, 64)
  for (const id of ids) await deliveryOf(world, webhook, id, hasStatus('succeeded'))
  t.equal(receiver.requests.length, 64, 'each is sent once')
})

await t.test('under one Idempotency-Key an event is published once', async (t) => {
  const world = await shopWorld(t)
  const receiver = await receiverFor(t)
  const webhook = await register(world, { url: receiver.url, events: ['order.paid'] })
  const asking = { headers: { 'idempotency-key': 'one' } }
  const twins = await Promise.all([1, 2, 3].map(() => publish(world, { data: { a: 1 } }, asking)))
  t.same(twins.map(told), ['202', '202', '202'])
  const [id = ''] = new Set(twins.map(({ body }) => body.id))
  t.same(
    twins.map(({ body }) => body),
    Array<object>(3).fill({ id, type: 'order.paid', status: 'accepted' }),
  )
  const replays = twins.map(({ headers }) => headers.get('idempotency-replayed') ?? 'first')
  t.same(replays.sort(), ['first', 'true', 'true'])
  const other = await publish(world, { data: { a: 2 } }, asking)
  t.equal(told(other), '422 idempotency_mismatch')
  await deliveryOf(world, webhook, id, hasStatus('succeeded'))
  t.same(
    (await listed(world)).data.map((event) => event.id),
    [id],
  )
  t.equal(receiver.requests.length, 1)

  const refused = { headers: { 'idempotency-key': 'two' } }
  t.equal(told(await publish(world, { type: 'order.new' }, refused)), '400 undeclared_event_type')
  await declare(world, 'order.new')
  t.equal(told(await publish(world, { type: 'order.new' }, refused)), '202', 'no refusal is kept')
})
