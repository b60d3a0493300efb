import t from 'tap'
import { eventsFamily } from '../../daemon/families/events/family.ts'
import { webhooksFamily } from '../../daemon/families/webhooks/family.ts'
import { declare, publish, shopWorld, told } from '../support/shop-events.ts'
import type { Event } from '../support/shop-events.ts'
import type { Page } from '../support/webhooks.ts'
import { createWorld } from '../support/world.ts'

const DECLARED = { description: null, schema: null, sample: null, created_at: 0, updated_at: 0 }

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
