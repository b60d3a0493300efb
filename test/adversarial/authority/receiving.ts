import { FAILS, revokeInTurn } from '../../support/webhooks.ts'
import type { AnyBody } from '../../support/world.ts'
import { race } from '../race.ts'
import type { Checks } from '../run.ts'
import { LACKS_SCOPE, READS_EVENTS, WRITES, openAuthority, typesOf } from './world.ts'

const SPAN = { since: '2030-01-31T00:00:00Z' }

/** A refusal without what differs from request to request. */
function textOf({ code, message, details, errors }: AnyBody, type: string): string {
  return JSON.stringify({ code, message, details, errors }).replaceAll(type, '')
}

/** Who may receive the data of an event type. */
export const RECEIVING_CHECKS: Checks = {
  async A01(t, saw) {
    const world = await openAuthority(t, saw)
    const anyone = world.operatorFor(null)
    const everywhere = { as: anyone }
    t.match(await world.request('PUT', '/v1/event-types/stock.empty', everywhere), { status: 200 })
    const writer = await world.make({ scopes: WRITES })
    const refusals = new Set<string>()
    for (const type of ['order.paid', 'stock.empty', 'nobody.declared', 'order.*', 'app.*']) {
      const body = { url: world.url, events: ['app.deployed', type] }
      const refused = await world.attempt('POST', '/v1/webhooks', { as: writer.key, body })
      t.match(refused, {
        status: 403,
        body: {
          error: {
            code: 'insufficient_scope',
            details: { missing_scopes: ['events:read'] },
            errors: [{ location: 'body.events[1]' }],
          },
        },
      })
      // That there is a built-in family is no secret.
      if (type !== 'app.*') refusals.add(textOf(refused.body['error'] as AnyBody, type))
    }
    t.equal(refusals.size, 1, 'the refusal does not say which types there are')
    t.same((await world.request('GET', '/v1/webhooks')).body['data'], [])
    const reader = await world.make({ scopes: READS_EVENTS })
    for (const events of [['order.paid'], ['stock.empty'], ['order.*'], ['app.*']]) {
      const body = { url: world.url, events }
      t.equal(await world.ask('POST', '/v1/webhooks', reader.key, body), '201')
    }
  },

  async A02(t, saw) {
    const world = await openAuthority(t, saw)
    const writer = await world.make({ scopes: WRITES })
    const types = [...world.platform.eventTypes.builtIn.keys()]
    const body = { url: world.url, events: ['*', ...types] }
    t.equal(await world.ask('POST', '/v1/webhooks', writer.key, body), '201')
    const listed = await world.request<{ data: { type: string; scope: string }[] }>(
      'GET',
      '/v1/event-types',
    )
    const scopes = new Map(listed.body.data.map(({ type, scope }) => [type, scope]))
    t.equal(scopes.get('order.paid'), 'events:read')
    for (const type of types) t.equal(scopes.get(type), 'webhooks:write', type)
  },

  async A03(t, saw) {
    const world = await openAuthority(t, saw)
    const writer = await world.make({ scopes: WRITES })
    const own = await world.hook({}, writer.key)
    for (const type of ['order.paid', 'order.*', 'nobody.declared']) {
      const events = ['app.deployed', type]
      t.equal(await world.change(own, { events }, writer.key), LACKS_SCOPE, type)
    }
    t.same((await world.show(own))['events'], ['app.deployed'])
    const events = ['*', 'app.deployed']
    t.equal(await world.change(own, { events }, writer.key), '200')
    const reader = await world.make({ scopes: READS_EVENTS })
    t.equal(await world.change(own, { events: ['order.*'] }, reader.key), '200')
  },

  async A04(t, saw) {
    const world = await openAuthority(t, saw)
    const writer = await world.make({ scopes: WRITES })
    const webhook = await world.hook({ events: ['order.paid'], apps: ['a1'] })
    const url = 'http://127.0.0.1:9/attacker'
    for (const body of [
      { url },
      { apps: null },
      { apps: ['a2'] },
      { url, events: ['order.paid'] },
    ]) {
      t.equal(await world.change(webhook, body, writer.key), LACKS_SCOPE, JSON.stringify(body))
    }
    t.match(await world.show(webhook), { url: world.url, apps: ['a1'] })
    const same = { url: world.url, events: ['order.paid'], description: 'renamed' }
    t.equal(await world.change(webhook, same, writer.key), '200')
    const before = await world.show(webhook)
    t.match(before, { description: 'renamed', set_by: { type: 'user' } }, 'nothing was set')
    const reader = await world.make({ scopes: READS_EVENTS })
    t.equal(await world.change(webhook, { url }, reader.key), '200')
  },

  async A05(t, saw) {
    const world = await openAuthority(t, saw)
    const writer = await world.make({ scopes: WRITES })
    const webhook = await world.hook({ events: ['order.paid'] })
    t.equal(await world.change(webhook, { status: 'disabled' }, writer.key), '200')
    t.equal(await world.change(webhook, { status: 'active' }, writer.key), LACKS_SCOPE)
    t.equal((await world.show(webhook))['status'], 'disabled')
    t.equal(await world.change(webhook, { status: 'active' }), '200')
  },

  async A06(t, saw) {
    const world = await openAuthority(t, saw)
    const writer = await world.make({ scopes: WRITES })
    await world.publish('order.paid')
    await world.publish('app.deployed')
    await world.clock.advance(1)
    const webhook = await world.hook({ events: ['order.*', 'app.deployed'] })
    const path = `/v1/webhooks/${webhook.id}/replay`
    const replay = (body: object, as: string) => world.ask('POST', path, as, { ...SPAN, ...body })
    for (const body of [{}, { dry_run: true }, { types: ['order.paid'] }, { types: ['order.*'] }]) {
      t.equal(await replay(body, writer.key), LACKS_SCOPE, JSON.stringify(body))
    }
    t.same(await world.deliveries(webhook), [])
    t.equal(await replay({ types: ['app.deployed'] }, writer.key), '202')
    t.match(await world.deliveries(webhook), [{ event_type: 'app.deployed' }])
    const reader = await world.make({ scopes: READS_EVENTS })
    t.equal(await replay({}, reader.key), '202')
    t.same(typesOf(await world.deliveries(webhook)), ['app.deployed', 'order.paid'])
  },

  async A20(t, saw) {
    const world = await openAuthority(t, saw)
    await world.publish('app.deployed')
    await world.clock.advance(1)
    const { id } = await world.hook()
    for (const path of [`/v1/webhooks/${id}/replay`, `/v1/webhooks/${id}/retry-failed`]) {
      for (const dry_run of [true, false]) {
        const caller = await world.make({ scopes: WRITES })
        revokeInTurn(world, caller.id)
        await world.ask('POST', path, caller.key, { ...SPAN, dry_run })
      }
    }
    t.same(await world.deliveries({ id }), [])
  },

  async A07(t, saw) {
    const world = await openAuthority(t, saw)
    const writer = await world.make({ scopes: WRITES })
    const webhook = await world.hook({ events: ['order.paid'] })
    const { id } = await world.settled(webhook, await world.publish('order.paid'), 'succeeded')
    const retry = `/v1/webhooks/${webhook.id}/deliveries/${id}/retry`
    t.equal(await world.ask('POST', retry, writer.key), LACKS_SCOPE)
    const failed = `/v1/webhooks/${webhook.id}/retry-failed`
    t.equal(await world.ask('POST', failed, writer.key, SPAN), LACKS_SCOPE)
    t.same(world.received(), ['order.paid'])
    const reader = await world.make({ scopes: READS_EVENTS })
    t.equal(await world.ask('POST', failed, reader.key, SPAN), '202')
    t.equal(await world.ask('POST', retry, reader.key), '202')
  },

  async A08(t, saw) {
    const world = await openAuthority(t, saw, FAILS)
    const writer = await world.make({ scopes: WRITES })
    const webhook = await world.hook({ events: ['order.paid'] })
    const eventId = await world.publish('order.paid')
    await world.settled(webhook, eventId, 'pending')
    t.equal(await world.change(webhook, { events: ['app.deployed'] }), '200')
    const url = 'http://127.0.0.1:9/attacker'
    t.equal(await world.change(webhook, { url }, writer.key), LACKS_SCOPE, 'while it is retried')
    t.equal(await world.change(webhook, { status: 'disabled' }), '200')
    const ended = await world.deliveries(webhook)
    t.notMatch(ended, [{ status: 'pending' }])
    t.equal(await world.change(webhook, { status: 'active', url }, writer.key), '200')
    const path = `/v1/webhooks/${webhook.id}/retry-failed`
    const retried = await world.attempt('POST', path, { as: writer.key, body: SPAN })
    t.match(retried, { status: 202, body: { queued: 0 } }, 'events of its earlier types')
    const again = await world.request('POST', path, { body: { ...SPAN, dry_run: true } })
    t.match(again, { status: 202, body: { queued: 1 } }, 'the owner may')
  },

  async A09(t, saw) {
    const world = await openAuthority(t, saw, FAILS)
    const pinned = await world.make({ scopes: WRITES, apps: ['a1'] })
    const webhook = await world.hook({ apps: ['a1', 'a2'] })
    await world.settled(webhook, await world.publish('app.deployed', 'a2'), 'pending')
    t.equal(await world.change(webhook, { apps: ['a1'] }), '200')
    const url = 'http://127.0.0.1:9/attacker'
    t.equal(await world.change(webhook, { url }, pinned.key), '403 key_pinned')
    t.equal((await world.show(webhook))['url'], world.url)
  },

  async A10(t, saw) {
    const world = await openAuthority(t, saw)
    const every = await world.hook({ events: ['*'] })
    const family = await world.hook({ events: ['order.*'] })
    const apps = await world.hook({ events: ['app.*'] })
    // Declared after they were registered, one of them below a built-in family.
    for (const type of ['order.line.added', 'app.secret', 'ordering.done'])
      await world.declare(type)
    const types = ['order.paid', 'order.line.added', 'app.secret', 'ordering.done', 'app.deployed']
    for (const type of types) await world.publish(type)
    const receivedBy = async (webhook: typeof every) => typesOf(await world.deliveries(webhook))
    t.same(await receivedBy(every), ['app.deployed'])
    t.same(await receivedBy(family), ['order.line.added', 'order.paid'])
    t.same(await receivedBy(apps), ['app.deployed', 'app.secret'])
    for (const events of [['*.paid'], ['order.*.added'], ['**'], ['order*'], ['a.b.c.d.*']]) {
      const body = { url: world.url, events }
      t.equal(await world.ask('POST', '/v1/webhooks', world.user, body), '400 unknown_event_type')
    }
  },

  async A11(t, saw) {
    const world = await openAuthority(t, saw)
    const key = await world.make({ scopes: READS_EVENTS })
    const body = { url: world.url, events: ['order.paid'] }
    const narrow = async () => {
      const scopes = ['webhooks:*']
      return (await world.request('PATCH', `/v1/keys/${key.id}`, { body: { scopes } })).status
    }
    const create = () => world.ask('POST', '/v1/webhooks', key.key, body)
    const answers = await race(t, world, narrow, create, 'first before second')
    t.same(answers, [200, LACKS_SCOPE], 'though it held events:read when the request came')
    t.same((await world.request('GET', '/v1/webhooks')).body['data'], [])
  },
}
