import t from 'tap'
import { readConfig } from '../../daemon/config/config.ts'
import { eventsFamily } from '../../daemon/families/events/family.ts'
import { codeOf } from '../support/answer.ts'
import type { Answer, AnyBody, Asker, World } from '../support/world.ts'
import { receiverFor, register, shopWorld } from '../support/webhooks.ts'

const open = (t: Parameters<typeof shopWorld>[0]): Promise<World> =>
  shopWorld(t, { families: [eventsFamily] })

const declare = (
  world: World,
  type: string,
  as: Asker,
  description: string | null = null,
): Promise<Answer<AnyBody>> =>
  world.request('PUT', `/v1/event-types/${type}`, { as, body: { description } })

const publish = (world: World, type: string, as: Asker): Promise<Answer<AnyBody>> =>
  world.request('POST', '/v1/events', { as, body: { type, data: {} } })

async function descriptionsOf(world: World, type: string, as: Asker): Promise<readonly string[]> {
  const { body } = await world.request<{ data: AnyBody[] }>('GET', '/v1/event-types', { as })
  return body.data.filter((one) => one['type'] === type).map((one) => String(one['description']))
}

await t.test('what the operator declares for all is every account’s at once', async (t) => {
  const world = await open(t)
  const operator = world.operatorFor(null)
  const other = world.userOf(await world.addAccount())
  for (const as of [world.user, other]) {
    t.equal(codeOf(await publish(world, 'order.paid', as)), '400 undeclared_event_type')
  }
  t.equal(codeOf(await declare(world, 'order.paid', operator, 'Of all.')), '200')
  for (const as of [world.user, other]) {
    t.equal(codeOf(await publish(world, 'order.paid', as)), '202')
    t.same(await descriptionsOf(world, 'order.paid', as), ['Of all.'])
  }
  await register(world, { url: (await receiverFor(t)).url, events: ['order.paid'] }, other)
  t.same(await descriptionsOf(world, 'order.paid', operator), ['Of all.'])
})

await t.test(
  'an account’s own declaration is shown in its place, and is nobody else’s',
  async (t) => {
    const world = await open(t)
    const operator = world.operatorFor(null)
    const other = world.userOf(await world.addAccount())
    await declare(world, 'order.paid', operator, 'Of all.')
    t.equal(codeOf(await declare(world, 'order.paid', world.user, 'Ours.')), '200')
    t.same(await descriptionsOf(world, 'order.paid', world.user), ['Ours.'])
    t.same(await descriptionsOf(world, 'order.paid', other), ['Of all.'])

    t.equal(codeOf(await declare(world, 'order.sent', world.operator)), '200')
    t.equal(
      codeOf(await publish(world, 'order.sent', world.user)),
      '202',
      'on behalf of an account',
    )
    t.equal(codeOf(await publish(world, 'order.sent', other)), '400 undeclared_event_type')
  },
)

await t.test('the operator’s types leave every account its own five hundred', async (t) => {
  const world = await open(t)
  const kept = { description: null, schema: null, sample: null, created_at: 0, updated_at: 0 }
  await world.platform.store.write(async (tx) => {
    for (let count = 0; count < 500; count += 1) {
      await tx.events.putType({ ...kept, account_id: '', type: `all.t${count}` })
    }
  })
  t.equal(codeOf(await declare(world, 'order.paid', world.user)), '200')
  const operator = world.operatorFor(null)
  t.equal(codeOf(await declare(world, 'order.paid', operator)), '409 event_type_limit_reached')
})

await t.test('only the operator declares for all', async (t) => {
  const world = await open(t)
  const { key } = await world.mintKey({ scopes: ['events:*'] })
  const pinned = await world.mintKey({ scopes: ['events:*'], apps: ['a1'] })
  const other = world.userOf(await world.addAccount())
  t.equal(codeOf(await declare(world, 'order.paid', key)), '200')
  t.equal(codeOf(await publish(world, 'order.paid', other)), '400 undeclared_event_type')
  t.equal(codeOf(await declare(world, 'order.paid', pinned.key)), '403 key_pinned')
  t.equal(
    codeOf(await publish(world, 'order.paid', world.operatorFor(null))),
    '400 account_required',
  )
  for (const type of ['app.deployed', 'webhook.disabled']) {
    const refused = await declare(world, type, world.operatorFor(null))
    t.equal(codeOf(refused), '400 reserved_event_type')
  }
})

await t.test('KEYHOOK_EVENT_TYPES', (t) => {
  const read = (text: string): unknown => readConfig({ KEYHOOK_EVENT_TYPES: text }).eventTypes
  t.same(readConfig({}).eventTypes, [])
  t.same(read(''), [])
  t.same(read('order.paid'), ['order.paid'])
  t.same(read(' order.paid , order.shipped,, '), ['order.paid', 'order.shipped'])
  for (const [text, bad] of [
    ['order', 'order'],
    ['order.paid,Order.sent', 'Order.sent'],
    ['order paid', 'order paid'],
    ['order.paid;order.sent', 'order.paid;order.sent'],
    ['*', '*'],
  ] as const) {
    const message = `KEYHOOK_EVENT_TYPES must be dotted lower-case words, such as order.paid, and ${bad} is not`
    t.throws(() => read(text), { name: 'ConfigError', message }, text)
  }
  t.end()
})

await t.test('KEYHOOK_SCOPES', (t) => {
  const read = (text: string): unknown => readConfig({ KEYHOOK_SCOPES: text }).scopes
  t.same(readConfig({}).scopes, {})
  t.same(read('orders:read'), { orders: ['read'] })
  t.same(read('orders:read|write, invoices:read'), {
    orders: ['read', 'write'],
    invoices: ['read'],
  })
  t.same(read('constructor:read'), { constructor: ['read'] }, 'a name like any other')
  const shape = /^KEYHOOK_SCOPES must be families with their actions, such as orders:read\|write$/
  for (const [text, message] of [
    ['keys:read', /^KEYHOOK_SCOPES must not redeclare keys, a family of the service$/],
    ['orders:read,events:peek', /must not redeclare events/],
    ['orders:read,orders:write', /^KEYHOOK_SCOPES must name orders once, with all of its actions$/],
    ['orders', shape],
    ['orders:', shape],
    [':read', shape],
    ['orders:read||write', shape],
    ['orders:*', shape],
    ['*:read', shape],
    ['Orders:read', shape],
    ['orders:read:all', shape],
    ['1orders:read', shape],
    ['__proto__:read', shape],
    [`${'o'.repeat(33)}:read`, shape],
  ] as const) {
    t.throws(() => read(text), { name: 'ConfigError', message }, text)
  }
  t.end()
})
