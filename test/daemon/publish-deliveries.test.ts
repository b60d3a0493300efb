import t from 'tap'
import type { Test } from 'tap'
import { eventsFamily } from '../../daemon/families/events/family.ts'
import { register, shopWorld } from '../support/webhooks.ts'
import type { World } from '../support/world.ts'

const MOST_DELIVERIES = 1000
const WEBHOOKS = 4
const RECEIVER = 'http://127.0.0.1:9/in'
const GOOD = { type: 'order.paid', data: {} }
const LOST = { type: 'order.lost', data: {} }

interface Item {
  readonly status: string
  readonly error?: { readonly code: string; readonly status: number; readonly message: string }
}

/** A world with disabled webhooks that receive `order.paid`; their deliveries are rows like any other. */
async function fanOutWorld(t: Test): Promise<World> {
  const world = await shopWorld(t, { families: [eventsFamily] })
  for (const type of ['order.paid', 'order.sent']) {
    await world.request('PUT', `/v1/event-types/${type}`)
  }
  for (let at = 0; at < WEBHOOKS; at += 1) {
    const { id } = await register(world, { url: RECEIVER, events: ['order.paid'] })
    await world.request('PATCH', `/v1/webhooks/${id}`, { body: { status: 'disabled' } })
  }
  return world
}

void t.test('the events of a batch make so many deliveries, and the rest is refused', async (t) => {
  const world = await fanOutWorld(t)
  const fitting = MOST_DELIVERIES / WEBHOOKS
  const events = [
    ...Array<unknown>(10).fill({ type: 'order.sent', data: {} }),
    LOST,
    ...Array<unknown>(fitting).fill(GOOD),
    GOOD,
    { type: 'order.sent', data: {} },
    LOST,
  ]
  for (const headers of [{}, { 'idempotency-key': 'batch' }]) {
    const { status, body } = await world.request<{ readonly data: readonly Item[] }>(
      'POST',
      '/v1/events',
      { headers, body: { events } },
    )
    t.equal(status, 202)
    const outcomes = body.data.map((item) => item.error?.code ?? item.status)
    t.same(new Set(outcomes.slice(0, 10)), new Set(['accepted']), 'what nobody receives is free')
    t.equal(outcomes[10], 'undeclared_event_type')
    t.same(new Set(outcomes.slice(11, 11 + fitting)), new Set(['accepted']))
    const rest = ['too_many_deliveries', 'too_many_deliveries', 'undeclared_event_type']
    t.same(outcomes.slice(11 + fitting), rest, 'nothing overtakes the first that does not fit')
    const { error } = body.data[11 + fitting] ?? {}
    t.match(error, { status: 413, message: /1,000 deliveries.*another request/ })
  }
  const { body } = await world.request('POST', '/v1/events', { body: GOOD })
  t.match(body, { status: 'accepted' }, 'in another request')
})
