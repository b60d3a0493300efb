import t from 'tap'
import { auditFamily } from '../../daemon/families/audit/family.ts'
import { createDelivery } from '../../lib/engine/enqueue.ts'
import { HOUR, MINUTE, SECOND, toIso } from '../../lib/time.ts'
import { queuedOf } from '../support/answer.ts'
import type { VirtualClock } from '../support/clock.ts'
import { createClock, turn } from '../support/clock.ts'
import type { Receiver } from '../support/receiver.ts'
import type { Page, Webhook } from '../support/webhooks.ts'
import {
  FAILS,
  OK,
  deliveryOf,
  hasStatus,
  headersOf,
  publish,
  receiverFor,
  register,
  revokeInTurn,
  shopWorld,
} from '../support/webhooks.ts'
import type { Answer, AnyBody, Asker, World } from '../support/world.ts'

const START = Date.UTC(2026, 0, 31)

interface Outage {
  readonly world: World
  readonly clock: VirtualClock
  readonly receiver: Receiver
  readonly webhook: Webhook
  end(): void
  /** Publishes an event and waits until its delivery has failed for good. */
  fail(appId?: string | null): Promise<string>
  retryFailed(body: AnyBody, as?: Asker): Promise<Answer<AnyBody>>
  statusOf(eventId: string): Promise<string>
}

type Scope = Parameters<typeof shopWorld>[0]

/** A receiver that answers 500 until the outage ends. */
async function openOutage(t: Scope): Promise<Outage> {
  const clock = createClock(START)
  const world = await shopWorld(t, {
    clock,
    schedule: [0],
    disabling: { failures: 100_000, span: 0 },
    families: [auditFamily],
  })
  let up = false
  const receiver = await receiverFor(t, (socket, request) => {
    ;(up ? OK : FAILS)(socket, request)
  })
  const webhook = await register(world, { url: receiver.url })
  return {
    world,
    clock,
    receiver,
    webhook,
    end() {
      up = true
    },
    async fail(appId = null) {
      const eventId = await publish(world, appId)
      await deliveryOf(world, webhook, eventId, hasStatus('exhausted'))
      return eventId
    },
    retryFailed: (body, as = world.user) =>
      world.request('POST', `/v1/webhooks/${webhook.id}/retry-failed`, { as, body }),
    statusOf: async (eventId) => (await deliveryOf(world, webhook, eventId, () => true)).status,
  }
}

await t.test('an outage is recovered: what failed is sent once more', async (t) => {
  const { world, webhook, receiver, end, fail, retryFailed, statusOf } = await openOutage(t)
  const ids = [await fail(), await fail(), await fail()]
  const since = { since: toIso(START) }
  const dry = await retryFailed({ ...since, dry_run: true })
  t.same(dry.body, { webhook_id: webhook.id, queued: 3, dry_run: true })
  t.same(await Promise.all(ids.map(statusOf)), Array(3).fill('exhausted'))
  t.equal(receiver.requests.length, 6, 'counting sends nothing')

  end()
  t.match(await retryFailed(since), {
    status: 202,
    body: { webhook_id: webhook.id, queued: 3, dry_run: false },
  })
  for (const id of ids) {
    t.match(await deliveryOf(world, webhook, id, hasStatus('succeeded')), {
      attempts: [{ trigger: 'event' }, { trigger: 'retry' }, { trigger: 'replay' }],
    })
  }
  t.equal(queuedOf(await retryFailed(since)), '202 0', 'asked again there is nothing left')
  t.equal(receiver.requests.length, 9)
  const { body } = await world.request<Page<AnyBody>>(
    'GET',
    '/v1/audit-log?action=webhook.failed_retried',
  )
  t.match(body.data, [{ target: { id: webhook.id } }])
  t.equal(body.data.length, 1)
})

await t.test('what fails again ends again, without automatic attempts', async (t) => {
  const { world, webhook, fail, retryFailed } = await openOutage(t)
  const id = await fail()
  t.equal(queuedOf(await retryFailed({ since: toIso(START) })), '202 1')
  const thrice = await deliveryOf(world, webhook, id, ({ attempts }) => attempts.length === 3)
  t.equal(thrice.status, 'exhausted')
})

await t.test('the span holds its first instant, and not its last', async (t) => {
  const { clock, end, fail, retryFailed, statusOf } = await openOutage(t)
  const ids: string[] = []
  for (let hour = 0; hour < 4; hour += 1) {
    ids.push(await fail())
    await clock.advance(HOUR)
  }
  end()
  const span = { since: toIso(START + HOUR), until: toIso(START + 3 * HOUR) }
  t.equal(queuedOf(await retryFailed(span)), '202 2')
  for (const id of ids.slice(1, 3)) while ((await statusOf(id)) !== 'succeeded') await turn()
  t.same(await Promise.all(ids.map(statusOf)), ['exhausted', 'succeeded', 'succeeded', 'exhausted'])
})

await t.test(
  'a span that ends before it begins, or begins in the future, is refused',
  async (t) => {
    const { retryFailed } = await openOutage(t)
    const at = (ms: number): string => toIso(START + ms)
    for (const body of [
      { since: at(-HOUR), until: at(-HOUR) },
      { since: at(-HOUR), until: at(-2 * HOUR) },
      { since: at(SECOND) },
      { since: at(MINUTE), until: at(HOUR) },
      { until: at(0) },
      {},
      { since: 'yesterday' },
      { since: START },
      { since: at(0), dry_run: 'yes' },
      { since: at(0), types: ['app.deployed'] },
    ]) {
      t.equal(queuedOf(await retryFailed(body)), '400 invalid_request', JSON.stringify(body))
    }
    t.equal(queuedOf(await retryFailed({ since: at(0) })), '202 0')
    t.equal(queuedOf(await retryFailed({ since: '0001-01-01T00:00:00Z' })), '202 0')
  },
)

await t.test('what was skipped while the webhook was disabled is recovered too', async (t) => {
  const { world, webhook, end, retryFailed } = await openOutage(t)
  end()
  const set = (status: string): Promise<Answer<AnyBody>> =>
    world.request('PATCH', `/v1/webhooks/${webhook.id}`, { body: { status } })
  await set('disabled')
  const skipped = await publish(world)
  await deliveryOf(world, webhook, skipped, hasStatus('skipped'))
  const since = { since: toIso(START) }
  t.equal(queuedOf(await retryFailed({ ...since, dry_run: true })), '202 1')
  t.equal(queuedOf(await retryFailed(since)), '409 webhook_disabled')
  await set('active')
  t.equal(queuedOf(await retryFailed(since)), '202 1')
  t.match(await deliveryOf(world, webhook, skipped, hasStatus('succeeded')), {
    attempts: [{ trigger: 'replay' }],
  })
})

await t.test('a key that is revoked while its retry waits retries nothing', async (t) => {
  const { world, fail, retryFailed, statusOf } = await openOutage(t)
  const failed = await fail()
  for (const dry_run of [true, false]) {
    const { id, key } = await world.mintKey({ scopes: ['webhooks:*'] })
    revokeInTurn(world, id)
    const since = toIso(START)
    t.equal(queuedOf(await retryFailed({ since, dry_run }, key)), '401 key_revoked')
  }
  t.equal(await statusOf(failed), 'exhausted')
})

await t.test('a pinned key recovers deliveries of its apps alone', async (t) => {
  const { world, webhook, end, fail, retryFailed, statusOf } = await openOutage(t)
  const ids = [await fail('a1'), await fail('a2'), await fail()]
  end()
  const { key } = await world.mintKey({ scopes: ['webhooks:*'], apps: ['a1'] })
  const since = { since: toIso(START) }
  t.equal(queuedOf(await retryFailed(since, key)), '404 webhook_not_found', 'it is of every app')
  await world.request('PATCH', `/v1/webhooks/${webhook.id}`, { body: { apps: ['a1'] } })
  t.equal(queuedOf(await retryFailed({ ...since, dry_run: true }, key)), '202 1')
  t.equal(queuedOf(await retryFailed(since, key)), '202 1')
  await deliveryOf(world, webhook, ids[0] ?? '', hasStatus('succeeded'))
  t.same(await Promise.all(ids.map(statusOf)), ['succeeded', 'exhausted', 'exhausted'])

  const stranger = world.userOf(await world.addAccount())
  t.equal(queuedOf(await retryFailed(since, stranger)), '404 webhook_not_found')
  const reader = await world.mintKey({ scopes: ['webhooks:read'] })
  t.equal(queuedOf(await retryFailed(since, reader.key)), '403 insufficient_scope')
})

await t.test(
  'thousands are recovered in chunks, each once, also by two who ask at once',
  async (t) => {
    const { world, webhook, receiver, end, retryFailed } = await openOutage(t)
    const count = 2500
    await insertFailed(world, webhook, count)
    end()
    const since = { since: toIso(START) }
    const asked = await Promise.all([retryFailed(since), retryFailed(since)])
    t.same(
      asked.map(({ status }) => status),
      [202, 202],
    )
    t.equal(Number(asked[0].body['queued']) + Number(asked[1].body['queued']), count)
    while (receiver.requests.length < count) await turn()
    const ids = receiver.requests.map((request) => headersOf(request)['X-Service-Delivery-ID'])
    t.equal(new Set(ids).size, count)
    const { body } = await world.request<Page<AnyBody>>(
      'GET',
      '/v1/audit-log?action=webhook.failed_retried',
    )
    t.ok(body.data.length >= 3, 'more than one commit made them due')
  },
)

async function insertFailed(world: World, { id }: Webhook, count: number): Promise<void> {
  const { engine, store, newId, clock } = world.platform
  const webhook = await store.webhooks.get(world.account.id, id)
  if (webhook === undefined) throw new Error('there is no webhook')
  const group = Array.from({ length: count }, () => {
    const event = engine.newEvent(world.account.id, 'app.deployed', {})
    const born = createDelivery(newId(), event, webhook, clock.now())
    const delivery = { ...born, status: 'exhausted', next_at: null, done_at: clock.now() } as const
    return { event, deliveries: [delivery] }
  })
  await store.write((tx) => tx.insertPublished(group))
}
