import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { eventsFamily } from '../../daemon/families/events/family.ts'
import { webhooksFamily } from '../../daemon/families/webhooks/family.ts'
import { MINUTE } from '../../lib/time.ts'
import { MAX_EVENT_BYTES } from '../../lib/webhook/event.ts'
import { verifyWebhook } from '../../lib/webhook/verify.ts'
import { openSqlite } from '../../plugins/store/sql/sqlite.ts'
import { createClock } from '../support/clock.ts'
import type { Page } from '../support/webhooks.ts'
import { deliveryOf, hasStatus, headersOf, receiverFor, register } from '../support/webhooks.ts'
import type { Answer, AnyBody, Asker, Asking, World } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

interface Event extends AnyBody {
  readonly id: string
  readonly type: string
}

/** What one item of a batch is answered. */
const DECLARED = { description: null, schema: null, sample: null, created_at: 0, updated_at: 0 }

interface Item extends AnyBody {
  readonly status: string
  readonly error?: { readonly code: string; readonly errors: readonly { location: string }[] }
}

/** A world whose account has declared `order.paid` and `order.sent`. */
async function shopWorld(t: Parameters<typeof createWorld>[0]): Promise<World> {
  const world = await createWorld(t, { families: [webhooksFamily, eventsFamily] })
  for (const type of ['order.paid', 'order.sent']) await declare(world, type)
  return world
}

function declare(
  { request }: World,
  type: string,
  body: unknown = {},
  as?: Asker,
): Promise<Answer<AnyBody>> {
  return request('PUT', `/v1/event-types/${type}`, { body, ...(as === undefined ? {} : { as }) })
}

/** The status, and the code of a refusal: `202` or `400 undeclared_event_type`. */
function told({ status, body }: { readonly status: number; readonly body: object }): string {
  const { error } = body as { readonly error?: { readonly code: string } }
  return error === undefined ? String(status) : `${status} ${error.code}`
}

/** Publishes one event of the type `order.paid`, unless told otherwise. */
function publish(
  { request }: World,
  event: AnyBody = {},
  asking: Asking = {},
): Promise<Answer<Event>> {
  const body = { type: 'order.paid', data: {}, ...event }
  return request('POST', '/v1/events', { ...asking, body })
}

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

async function publishAll(
  { request }: World,
  events: readonly unknown[],
  asking: Asking = {},
): Promise<readonly Item[]> {
  const answer = await request<{ readonly data: readonly Item[] }>('POST', '/v1/events', {
    ...asking,
    body: { events },
  })
  if (answer.status !== 202) throw new Error(JSON.stringify(answer.body))
  return answer.body.data
}

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

const listed = async (world: World, query = '', as: Asker = world.user): Promise<Page<Event>> =>
  (await world.request<Page<Event>>('GET', `/v1/events${query}`, { as })).body

await t.test('an account declares its types, and webhooks may name them at once', async (t) => {
  const world = await createWorld(t, { families: [webhooksFamily, eventsFamily] })
  const early = await publish(world)
  t.equal(told(early), '400 undeclared_event_type')
  const schema = { type: 'object', required: ['id'] }
  const declared = await declare(world, 'order.paid', { description: 'Paid.', schema })
  t.match(declared, {
    status: 200,
    body: { type: 'order.paid', description: 'Paid.', schema, sample: null, built_in: false },
  })
  t.equal(told(await publish(world)), '202')
  const again = await declare(world, 'order.paid', { sample: { id: 'o_1' } })
  t.match(again.body, {
    created_at: declared.body['created_at'],
    description: null,
    schema: null,
    sample: { id: 'o_1' },
  })
  const types = (await world.request<{ data: Event[] }>('GET', '/v1/event-types')).body.data
  t.same(
    types.find(({ type }) => type === 'order.paid'),
    again.body,
  )
  const builtIn = types.find(({ type }) => type === 'app.deployed')
  t.match(builtIn, {
    built_in: true,
    schema: {
      type: 'object',
      properties: { release: { type: 'integer' }, trigger: { required: ['type', 'key_id'] } },
    },
    sample: { release: 4 },
  })
  t.notMatch(JSON.stringify(builtIn), 'additionalProperties', 'a later version may have more')

  const stranger = world.userOf(await world.addAccount())
  t.equal(told(await publish(world, {}, { as: stranger })), '400 undeclared_event_type')
  t.match(await world.request('GET', '/v1/event-types', { as: stranger }), { status: 200 })
  for (const type of ['app.deployed', 'webhook.test', 'webhook.disabled']) {
    t.equal(told(await declare(world, type)), '400 reserved_event_type', type)
  }
  for (const type of ['order', 'Order.paid', 'order.', 'a.b.c.d.e', 'order.p%20', '%00', '*']) {
    t.equal(told(await declare(world, type)), '400 invalid_request', type)
  }
  for (const body of [{ schema: [] }, { sample: 'x' }, { description: '' }, { type: 'a.b' }]) {
    t.equal(told(await declare(world, 'order.sent', body)), '400 invalid_request')
  }
})

await t.test('types are listed by name, page by page, with those of the service', async (t) => {
  const world = await createWorld(t, { families: [webhooksFamily, eventsFamily] })
  for (const type of ['app.deployed', 'zoo.opened', 'order.paid']) {
    // As a release left it that did not know app.deployed yet.
    await world.platform.store.write((tx) =>
      tx.events.putType({ ...DECLARED, account_id: world.account.id, type }),
    )
  }
  const builtIn = [...world.platform.eventTypes.builtIn.keys()]
  const expected = [...builtIn, 'zoo.opened', 'order.paid'].sort()
  const listed: Event[] = []
  let query = '?limit=2'
  for (let more = true; more && listed.length < 100;) {
    const { status, body } = await world.request<Page<Event>>('GET', `/v1/event-types${query}`)
    t.equal(status, 200)
    t.ok(body.data.length <= 2)
    listed.push(...body.data)
    more = body.has_more
    query = `?limit=2&cursor=${body.next_cursor}`
  }
  t.same(
    listed.map(({ type }) => type),
    expected,
  )
  t.match(
    listed.find(({ type }) => type === 'app.deployed'),
    { built_in: true },
  )
  const path = '/v1/event-types?fields=names&limit=100'
  const outlines = (await world.request<Page<Event>>('GET', path)).body
  t.same(
    outlines.data,
    listed.map(({ type, description, scope, built_in }) => ({
      type,
      description,
      scope,
      built_in,
    })),
  )
  const foreign = await world.request<Page<Event>>('GET', '/v1/event-types?limit=1', {
    as: world.userOf(await world.addAccount()),
  })
  const cursor = foreign.body.next_cursor
  t.equal(
    told(await world.request('GET', `/v1/event-types?cursor=${cursor}`)),
    '400 invalid_cursor',
  )
})

await t.test('the schema and the sample of a type have at most 16 KiB of JSON each', async (t) => {
  const world = await createWorld(t, { families: [eventsFamily] })
  const documentOf = (bytes: number) => ({ é: 'x'.repeat(bytes - Buffer.byteLength('{"é":""}')) })
  for (const field of ['schema', 'sample']) {
    const fits = await declare(world, 'order.paid', { [field]: documentOf(16_384) })
    t.equal(told(fits), '200')
    t.same(fits.body[field], documentOf(16_384))
    const refused = await declare(world, 'order.paid', { [field]: documentOf(16_385) })
    t.match(refused.body, {
      error: {
        status: 400,
        code: 'invalid_request',
        errors: [
          { location: `body.${field}`, code: 'too_big', message: 'At most 16 KiB of JSON.' },
        ],
      },
    })
  }
})

await t.test('an account declares at most 500 types', async (t) => {
  const world = await shopWorld(t)
  await world.platform.store.write(async (tx) => {
    for (let count = 2; count < 500; count += 1) {
      await tx.events.putType({ ...DECLARED, account_id: world.account.id, type: `one.t${count}` })
    }
  })
  t.equal(told(await declare(world, 'one.more')), '409 event_type_limit_reached')
  t.equal(told(await declare(world, 'order.paid')), '200', 'what is declared may be declared anew')
})

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

await t.test('events are listed newest first, page by page, by type', async (t) => {
  const world = await shopWorld(t)
  const types = Array.from({ length: 25 }, (_, at) => (at % 5 === 0 ? 'order.sent' : 'order.paid'))
  const items = await publishAll(
    world,
    types.map((type) => ({ type, data: {} })),
  )
  const ids = items.map(({ id }) => String(id)).reverse()
  const first = await listed(world)
  t.same(
    first.data.map(({ id }) => id),
    ids.slice(0, 20),
    '20 when no limit is given',
  )
  t.equal(first.has_more, true)
  await publish(world)
  const rest = await listed(world, `?cursor=${first.next_cursor ?? ''}`)
  t.same(
    rest.data.map(({ id }) => id),
    ids.slice(20),
    'what is new moves no page',
  )
  t.match(rest, { has_more: false, next_cursor: null })
  const sent = await listed(world, '?type=order.sent&limit=3')
  t.same(
    sent.data.map(({ type }) => type),
    Array<string>(3).fill('order.sent'),
  )
  const more = await listed(world, `?type=order.sent&cursor=${sent.next_cursor ?? ''}`)
  t.equal(more.data.length, 2)
  t.same(await listed(world, '?type=order.lost'), { data: [], has_more: false, next_cursor: null })

  await world.mintKey({ scopes: ['*:*'] })
  await world.mintKey({ scopes: ['*:*'] })
  const keys = await world.request<Page<AnyBody>>('GET', '/v1/keys?limit=1')
  const stranger = world.userOf(await world.addAccount())
  const numberless = Buffer.from(first.next_cursor ?? '', 'base64url')
    .toString()
    .slice(0, 12)
  const foreign: readonly (readonly [string, Asker])[] = [
    [`?cursor=${keys.body.next_cursor ?? ''}`, world.user],
    [`?cursor=${sent.next_cursor ?? ''}`, world.user],
    [`?type=order.paid&cursor=${sent.next_cursor ?? ''}`, world.user],
    [`?cursor=${first.next_cursor ?? ''}`, stranger],
    [`?cursor=${Buffer.from(`${numberless}abc`).toString('base64url')}`, world.user],
    [`?cursor=${Buffer.from(`${numberless}-1`).toString('base64url')}`, world.user],
    [`?cursor=${Buffer.from(`${numberless}${'9'.repeat(40)}`).toString('base64url')}`, world.user],
  ]
  for (const [query, as] of foreign) {
    const refused = await world.request('GET', `/v1/events${query}`, { as })
    t.equal(told(refused), '400 invalid_cursor', query)
  }
})

await t.test(
  'events are found by types, app and time, and a cursor keeps its filters',
  async (t) => {
    const clock = createClock(Date.UTC(2026, 0, 31, 12))
    const world = await createWorld(t, { clock, families: [webhooksFamily, eventsFamily] })
    for (const type of ['order.paid', 'order.sent', 'order.lost']) await declare(world, type)
    const all: AnyBody[] = []
    for (const [type, app_id] of [
      ['order.paid', 'a1'],
      ['order.sent', 'a1'],
      ['order.lost', 'a2'],
      ['order.paid', 'a2'],
      ['order.paid', undefined],
    ]) {
      const { body } = await publish(world, { type, app_id })
      all.push({ name: `${type} ${app_id ?? '-'}`, id: body.id })
      await clock.advance(MINUTE)
    }
    const names = (page: Page<Event>): readonly unknown[] =>
      page.data.map(({ id }) => all.find((one) => one['id'] === id)?.['name'])
    const found = async (query: string, as?: Asker) => names(await listed(world, query, as))
    t.same(await found('?type=order.sent,order.lost'), ['order.lost a2', 'order.sent a1'])
    t.same(await found('?type=order.none,order.lost'), ['order.lost a2'])
    t.same(await found('?app_id=a1'), ['order.sent a1', 'order.paid a1'])
    t.same(await found('?app_id=a1&type=order.paid'), ['order.paid a1'])
    t.same(await found('?app_id=none'), [])
    t.same(await found('?since=2026-01-31T12:01:00Z&until=2026-01-31T12:03:00Z'), [
      'order.lost a2',
      'order.sent a1',
    ])
    t.same(await found('?since=2026-01-31T14:04:00%2B02:00'), ['order.paid -'], 'any time zone')
    t.same(await found('?until=2026-01-31T12:01:00Z&order=asc'), ['order.paid a1'])

    const filters = 'type=order.paid,order.sent&app_id=a1&since=2026-01-31T12:00:00Z'
    const first = await listed(world, `?${filters}&limit=1`)
    t.same([names(first), first.has_more], [['order.sent a1'], true])
    const cursor = `cursor=${first.next_cursor ?? ''}`
    t.same(await found(`?${filters}&${cursor}`), ['order.paid a1'])
    for (const other of [
      'type=order.paid,order.sent&app_id=a1',
      'type=order.paid,order.sent&app_id=a2&since=2026-01-31T12:00:00Z',
      'type=order.paid&app_id=a1&since=2026-01-31T12:00:00Z',
      `${filters}&until=2026-01-31T13:00:00Z`,
    ]) {
      const refused = await world.request('GET', `/v1/events?${other}&${cursor}`)
      t.equal(told(refused), '400 invalid_cursor', other)
    }
    const faulty: readonly (readonly [query: string, location: string])[] = [
      ['since=2026-01-31T12:00:00Z&until=2026-01-31T12:00:00Z', 'query.since'],
      ['since=yesterday', 'query.since'],
      ['type=order.paid,', 'query.type'],
      [`type=${Array<string>(21).fill('order.paid').join(',')}`, 'query.type'],
    ]
    for (const [query, location] of faulty) {
      const refused = await world.request('GET', `/v1/events?${query}`)
      t.match(refused, { status: 400, body: { error: { errors: [{ location }] } } }, query)
    }

    const { key: as } = await world.mintKey({ scopes: ['events:read'], apps: ['a1'] })
    t.same(await found('', as), ['order.sent a1', 'order.paid a1'])
    t.same(await found('?app_id=a1&type=order.paid', as), ['order.paid a1'])
    const nothing = { data: [], has_more: false, next_cursor: null }
    for (const app of ['a2', 'none']) t.same(await listed(world, `?app_id=${app}`, as), nothing)
  },
)

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
