import { HOUR } from '../../../lib/time.ts'
import type { AnyBody } from '../../support/world.ts'
import type { Delivery } from '../../support/webhooks.ts'
import {
  FAILS,
  deliveryOf,
  hasStatus,
  heldAnswer,
  publish,
  receiverFor,
  register,
  shopWorld,
} from '../../support/webhooks.ts'
import type { Checks } from '../run.ts'

const isTried = ({ attempts }: Delivery): boolean => attempts.length === 1

export const DELIVERY_CHECKS: Checks = {
  async O02(t, saw) {
    const world = await shopWorld(t)
    const { engine, store, clock } = world.platform
    const held = heldAnswer()
    const receiver = await receiverFor(t, held.answer)
    const webhook = await register(world, { url: receiver.url })
    const testing = world.request('POST', `/v1/webhooks/${webhook.id}/test`)
    await held.asked
    t.equal(await store.recover(clock.now()), 0, 'nothing of this process was left by another')
    await engine.dispatcher.refresh()
    held.letGo()
    const { status, body } = await testing
    saw(`${status} ${String(body['status'])}`)
    t.match(body, { status: 'succeeded', trigger: 'test', attempt_count: 1 })
    t.equal(receiver.requests.length, 1)
  },

  async O03(t, saw) {
    const world = await shopWorld(t, { schedule: [HOUR], disabling: { failures: 99, span: 0 } })
    const failing = await receiverFor(t, FAILS)
    const webhook = await register(world, { url: failing.url })
    const path = `/v1/webhooks/${webhook.id}`
    const tried = await publish(world)
    await deliveryOf(world, webhook, tried, isTried)
    await world.request('PATCH', path, { body: { status: 'disabled' } })
    const untried = await publish(world)
    for (const [event, status, attempts] of [
      [tried, 'exhausted', 1],
      [untried, 'skipped', 0],
    ] as const) {
      const [delivery] = (
        await world.request<{ data: AnyBody[] }>('GET', `${path}/deliveries?event_id=${event}`)
      ).body.data
      t.match(delivery, { status, end_reason: 'webhook_disabled', attempt_count: attempts })
      saw(`${String(delivery?.['status'])} ${String(delivery?.['end_reason'])}`)
    }
  },

  async O04(t, saw) {
    const world = await shopWorld(t)
    const held = heldAnswer()
    const receiver = await receiverFor(t, held.answer)
    const webhook = await register(world, { url: receiver.url })
    const event = await publish(world)
    await held.asked
    held.letGo()
    const { id } = await deliveryOf(world, webhook, event, hasStatus('succeeded'))
    const path = `/v1/webhooks/${webhook.id}/deliveries`
    const { body: asked } = await world.request('POST', `${path}/${id}/retry`)
    const { body: shown } = await world.request('GET', `${path}/${id}`)
    const [listed] = (await world.request<{ data: AnyBody[] }>('GET', path)).body.data
    for (const record of [asked, shown, listed]) {
      t.match(record, { trigger: 'manual', attempt_count: 1, attempts: [{ trigger: 'event' }] })
      saw(String(record?.['trigger']))
    }
    await deliveryOf(world, webhook, event, () => receiver.requests.length === 2)
    held.letGo()
    const done = await deliveryOf(world, webhook, event, hasStatus('succeeded'))
    t.match(done, { trigger: 'manual', attempt_count: 2 })
  },
}
