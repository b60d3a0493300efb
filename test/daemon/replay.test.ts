import { once } from 'node:events'
import { request } from 'node:http'
import t from 'tap'
import { IDENTIFIERS } from '../../daemon/events/types.ts'
import type { Family } from '../../daemon/operations/family.ts'
import { defineErrors } from '../../lib/errors.ts'
import { listDeliveries } from '../../daemon/families/webhooks/operations/read-deliveries.ts'
import { auditFamily } from '../../daemon/families/audit/family.ts'
import { HOUR, MINUTE, toIso } from '../../lib/time.ts'
import { queuedOf } from '../support/answer.ts'
import type { VirtualClock } from '../support/clock.ts'
import { createClock, turn } from '../support/clock.ts'
import type { Receiver } from '../support/receiver.ts'
import type { Delivery, Page, Webhook } from '../support/webhooks.ts'
import {
  FAILS,
  deliveryOf,
  hasStatus,
  receiverFor,
  register,
  revokeInTurn,
  shopWorld,
} from '../support/webhooks.ts'
import type { Answer, AnyBody, Asker, World } from '../support/world.ts'

const START = Date.UTC(2026, 0, 31)
const SINCE = { since: toIso(START) }
const TYPES = ['app.deployed', 'edit.completed']

/** What else happens, beside what the shop tells of. */
const workshop: Family = {
  name: 'workshop',
  scopes: {},
  events: [
    {
      type: 'edit.completed',
      scope: IDENTIFIERS,
      description: 'An edit is completed.',
      sample: {},
    },
    { type: 'file.failed', scope: IDENTIFIERS, description: 'A file failed.', sample: {} },
  ],
  errors: defineErrors({}),
  operations: [],
}

interface Past {
  readonly world: World
  readonly clock: VirtualClock
  /** Publishes events of these types and apps, a minute apart, and answers their ids. */
  happen(...events: readonly (readonly [type: string, app: string | null])[]): Promise<string[]>
  replay(webhook: Webhook, body: AnyBody, as?: Asker): Promise<Answer<AnyBody>>
}

type Scope = Parameters<typeof shopWorld>[0]

async function openPast(t: Scope): Promise<Past> {
  const clock = createClock(START)
  const world = await shopWorld(t, {
    clock,
    schedule: [0],
    disabling: { failures: 100_000, span: 0 },
    families: [auditFamily, workshop],
  })
  const { engine } = world.platform
  return {
    world,
    clock,
    async happen(...events) {
      const ids: string[] = []
      for (const [type, app] of events) {
        const event = engine.newEvent(world.account.id, type, {}, clock.now(), app)
        await engine.outbox.publish([event])
        ids.push(event.id)
        await clock.advance(MINUTE)
      }
      return ids
    },
    replay: (webhook, body, as = world.user) =>
      world.request('POST', `/v1/webhooks/${webhook.id}/replay`, { as, body }),
  }
}

/** Ids of the events that came, in their order, once so many have. */
async function received({ requests }: Receiver, count: number): Promise<readonly string[]> {
  while (requests.length < count) await turn()
  return requests.map(({ body }) => (JSON.parse(body) as { id: string }).id)
}

await t.test('a webhook made later gets what it names, oldest first', async (t) => {
  const { world, happen, replay } = await openPast(t)
  const [a, b, c, d, e] = await happen(
    ['app.deployed', 'a1'],
    ['edit.completed', null],
    ['app.deployed', null],
    ['app.deployed', 'a2'],
    ['file.failed', null],
  )
  const receiver = await receiverFor(t)
  const { url } = receiver
  const all = await register(world, { url, events: TYPES, concurrency: 1 })
  const dry = await replay(all, { ...SINCE, dry_run: true })
  t.same(dry.body, { webhook_id: all.id, queued: 4, dry_run: true })
  t.equal(receiver.requests.length, 0)
  t.equal(queuedOf(await replay(all, SINCE)), '202 4')
  t.same(await received(receiver, 4), [a, b, c, d], `without ${e}, of another type`)
  t.match(await deliveryOf(world, all, a ?? '', hasStatus('succeeded')), {
    trigger: 'replay',
    attempts: [{ trigger: 'replay' }],
  })

  const ofOne = await register(world, { url, events: TYPES, apps: ['a1'] })
  t.equal(queuedOf(await replay(ofOne, SINCE)), '202 1')
  t.equal((await received(receiver, 5)).at(-1), a)
})

await t.test('deliveries are listed by their events, also those of a replay', async (t) => {
  const { world, happen, replay } = await openPast(t)
  const [a, b] = await happen(['app.deployed', null], ['app.deployed', null])
  const { url, requests } = await receiverFor(t)
  const webhook = await register(world, { url, events: TYPES, concurrency: 1 })
  const [c] = await happen(['app.deployed', null])
  while (requests.length < 1) await turn()
  await replay(webhook, SINCE)
  while (requests.length < 3) await turn()
  const path = `/v1/webhooks/${webhook.id}/deliveries`
  const { body } = await world.request<Page<Delivery>>('GET', path, { as: world.user })
  t.same(
    body.data.map(({ event_id }) => event_id),
    [c, b, a],
  )
  const [live, replayed] = body.data.map(({ created_at }) => String(created_at))
  t.ok((live ?? '') < (replayed ?? ''), 'although the replayed ones were created later')
  t.match(listDeliveries.summary, 'newest event first')
})

await t.test('types and a span narrow what is sent', async (t) => {
  const { world, happen, replay } = await openPast(t)
  const [, b, , d] = await happen(
    ['edit.completed', null],
    ['app.deployed', null],
    ['edit.completed', null],
    ['app.deployed', null],
  )
  const receiver = await receiverFor(t)
  const webhook = await register(world, { url: receiver.url, events: TYPES, concurrency: 1 })
  const at = (minutes: number): string => toIso(START + minutes * MINUTE)
  const until = { since: at(1), until: at(3), types: ['app.deployed'] }
  t.equal(queuedOf(await replay(webhook, until)), '202 1')
  t.same(await received(receiver, 1), [b])
  t.equal(queuedOf(await replay(webhook, { since: at(3) })), '202 1')
  t.same(await received(receiver, 2), [b, d])

  const unnamed = { ...SINCE, types: ['app.deployed', 'file.failed'] }
  const refused = await replay(webhook, unnamed)
  t.match(refused, {
    status: 400,
    body: { error: { errors: [{ location: 'body.types[1]', code: 'not_named' }] } },
  })
  for (const body of [
    {},
    { since: at(9) },
    { since: at(2), until: at(2) },
    { ...SINCE, types: [] },
    { ...SINCE, apps: ['a1'] },
  ]) {
    t.equal(queuedOf(await replay(webhook, body)), '400 invalid_request', JSON.stringify(body))
  }
})

await t.test(
  'nothing is sent twice, however often and by however many it is asked for',
  async (t) => {
    const { world, happen, replay } = await openPast(t)
    await happen(...Array.from({ length: 5 }, () => ['app.deployed', null] as const))
    const receiver = await receiverFor(t)
    const webhook = await register(world, { url: receiver.url })
    const live = await happen(['app.deployed', null], ['app.deployed', null])
    t.same(await received(receiver, 2), live)
    const asked = await Promise.all([1, 2, 3].map(() => replay(webhook, SINCE)))
    const queued = asked.reduce((sum, { body }) => sum + Number(body['queued']), 0)
    t.equal(queued, 5, 'what came live is not sent again')
    t.equal(queuedOf(await replay(webhook, SINCE)), '202 0')
    const ids = await received(receiver, 7)
    t.equal(new Set(ids).size, 7)
  },
)

await t.test('a replayed delivery that fails is retried on the schedule', async (t) => {
  const { world, happen, replay } = await openPast(t)
  const [id = ''] = await happen(['app.deployed', null])
  const receiver = await receiverFor(t, FAILS)
  const webhook = await register(world, { url: receiver.url })
  t.equal(queuedOf(await replay(webhook, SINCE)), '202 1')
  t.match(await deliveryOf(world, webhook, id, hasStatus('exhausted')), {
    attempts: [{ trigger: 'replay' }, { trigger: 'retry' }],
  })
  t.equal(queuedOf(await replay(webhook, SINCE)), '202 0', 'it has had that event')
})

await t.test('a disabled webhook is sent nothing', async (t) => {
  const { world, happen, replay } = await openPast(t)
  await happen(['app.deployed', null])
  const webhook = await register(world, { url: (await receiverFor(t)).url })
  const set = (status: string): Promise<Answer<AnyBody>> =>
    world.request('PATCH', `/v1/webhooks/${webhook.id}`, { body: { status } })
  await set('disabled')
  t.equal(queuedOf(await replay(webhook, SINCE)), '409 webhook_disabled')
  await set('active')
  t.equal(queuedOf(await replay(webhook, SINCE)), '202 1')
})

await t.test('a key that is revoked while its replay waits replays nothing', async (t) => {
  const { world, happen, replay } = await openPast(t)
  await happen(['app.deployed', null])
  const webhook = await register(world, { url: (await receiverFor(t)).url })
  for (const dry_run of [true, false]) {
    const { id, key } = await world.mintKey({ scopes: ['webhooks:*'] })
    revokeInTurn(world, id)
    t.equal(queuedOf(await replay(webhook, { ...SINCE, dry_run }, key)), '401 key_revoked')
  }
  t.equal(queuedOf(await replay(webhook, { ...SINCE, dry_run: true })), '202 1')
})

await t.test('a replay that began is finished without its client', async (t) => {
  const { world, happen } = await openPast(t)
  await happen(['app.deployed', null])
  const receiver = await receiverFor(t)
  const webhook = await register(world, { url: receiver.url })
  const { key } = await world.mintKey({ scopes: ['webhooks:*'] })
  const { platform } = world
  const { replays } = platform.queues
  const asking = request(`${world.baseUrl}/v1/webhooks/${webhook.id}/replay`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  })
  asking.on('error', () => undefined)
  Object.assign(platform.queues, {
    replays: ((asked, work) =>
      replays(asked, async () => {
        asking.destroy()
        if (asked.signal?.aborted === false) await once(asked.signal, 'abort')
        return work()
      })) satisfies typeof replays,
  })
  asking.end(JSON.stringify(SINCE))
  t.equal((await received(receiver, 1)).length, 1)
})

await t.test('a pinned key replays to webhooks of its apps alone', async (t) => {
  const { world, happen, replay } = await openPast(t)
  await happen(['app.deployed', 'a1'], ['app.deployed', 'a2'], ['app.deployed', null])
  const { url } = await receiverFor(t)
  const { key } = await world.mintKey({ scopes: ['webhooks:*'], apps: ['a1'] })
  t.equal(
    queuedOf(await replay(await register(world, { url }), SINCE, key)),
    '404 webhook_not_found',
  )
  const own = await register(world, { url }, key)
  t.equal(queuedOf(await replay(own, SINCE, key)), '202 1')
  const stranger = world.userOf(await world.addAccount())
  t.equal(queuedOf(await replay(own, SINCE, stranger)), '404 webhook_not_found')
  const reader = await world.mintKey({ scopes: ['webhooks:read'] })
  t.equal(queuedOf(await replay(own, SINCE, reader.key)), '403 insufficient_scope')
})

await t.test(
  'thousands are replayed in chunks, each once, while others are published',
  async (t) => {
    const { world, clock, replay } = await openPast(t)
    const { engine } = world.platform
    const publishMany = async (count: number): Promise<readonly string[]> => {
      const events = Array.from({ length: count }, () =>
        engine.newEvent(world.account.id, 'app.deployed', {}, clock.now()),
      )
      await engine.outbox.publish(events)
      return events.map(({ id }) => id)
    }
    const past: string[] = []
    for (const count of [400, 400, 400]) {
      past.push(...(await publishMany(count)))
      await clock.advance(HOUR)
    }
    const receiver = await receiverFor(t)
    const webhook = await register(world, { url: receiver.url, concurrency: 1 })
    const publishMore = async (): Promise<readonly string[]> => {
      await received(receiver, 1)
      return (await Promise.all([50, 50, 50].map(publishMany))).flat()
    }
    const [replayed, live] = await Promise.all([replay(webhook, SINCE), publishMore()])
    t.equal(queuedOf(replayed), '202 1200')
    const expected = [...past, ...live]
    const ids = await received(receiver, expected.length)
    t.same([...ids].sort(), expected.sort())
    const hours = ids.flatMap((id) =>
      past.includes(id) ? [Math.floor(past.indexOf(id) / 400)] : [],
    )
    t.same(
      hours,
      hours.toSorted((a, b) => a - b),
      'oldest first',
    )
  },
)
