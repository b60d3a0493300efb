import { SECOND } from '../../../lib/time.ts'
import { eventsFamily } from '../../../daemon/families/events/family.ts'
import type { Page } from '../../support/webhooks.ts'
import { register, shopWorld } from '../../support/webhooks.ts'
import { addNeighbour, openWorld, outcomeOf } from '../responses/world.ts'
import type { Checks } from '../run.ts'

const PAID = '/v1/event-types/order.paid'
const RECEIVER = 'http://127.0.0.1:9/in'
const WEBHOOKS = 50
const WRITES = 20

interface Batch {
  readonly data: readonly { readonly status: string; readonly error?: { readonly code: string } }[]
}

function times(count: number, event: unknown): { readonly events: readonly unknown[] } {
  return { events: Array<unknown>(count).fill(event) }
}

export const REFUSAL_CHECKS: Checks = {
  async F54(t, saw) {
    const world = await shopWorld(t, { families: [eventsFamily] })
    await world.request('PUT', PAID)
    const webhooks: string[] = []
    for (let at = 0; at < WEBHOOKS; at += 1) {
      const { id } = await register(world, { url: RECEIVER, events: ['order.paid'] })
      // Its deliveries are kept too, and none of them is sent.
      await world.request('PATCH', `/v1/webhooks/${id}`, { body: { status: 'disabled' } })
      webhooks.push(id)
    }
    const stored = async (): Promise<number> => {
      const pages = webhooks.map((id) =>
        world.request<Page<unknown>>('GET', `/v1/webhooks/${id}/deliveries?limit=100`),
      )
      return (await Promise.all(pages)).reduce((sum, { body }) => sum + body.data.length, 0)
    }
    for (const headers of [{}, { 'idempotency-key': 'batch' }]) {
      const before = await stored()
      const { body } = await world.request<Batch>('POST', '/v1/events', {
        headers,
        body: times(500, { type: 'order.paid', data: {} }),
      })
      const counts = new Map<string, number>()
      for (const { status, error } of body.data) {
        const outcome = error?.code ?? status
        counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
      }
      for (const [outcome, count] of counts) saw(`${count} ${outcome}`)
      saw(`${(await stored()) - before} deliveries`)
    }
  },

  async F55(t, saw) {
    const world = await openWorld(t, { rateLimits: { reads: 0, writes: WRITES } })
    const { account, key } = await addNeighbour(world)
    const other = await addNeighbour(world)
    for (const as of [key, other.key]) await world.request('PUT', PAID, { as })
    const { key: sibling } = await world.mintKey({ scopes: ['events:*'] }, world.userOf(account))
    const post = (as: string, body: unknown) => world.request('POST', '/v1/events', { as, body })
    const good = { type: 'order.paid', data: {} }
    const bad: readonly unknown[] = [
      times(500, { type: 'order.lost', data: {} }),
      times(500, 1),
      { type: 'order.paid' },
    ]
    let answered = 0
    let refused = await post(key, bad[0])
    while (refused.status !== 429 && answered < 10 * WRITES) {
      answered += 1
      refused = await post(key, bad[answered % bad.length])
    }
    saw(`${answered} answered`)
    for (const answer of [refused, await post(key, good), await post(sibling, good)]) {
      saw(outcomeOf(answer))
      t.equal(answer.headers.get('retry-after'), '3')
    }
    saw(`${outcomeOf(await post(other.key, good))} to another account`)
    await world.clock.advance(3 * SECOND)
    saw(outcomeOf(await post(key, good)))
  },
}
