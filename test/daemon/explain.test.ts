import t from 'tap'
import { eventsFamily } from '../../daemon/families/events/family.ts'
import { explain } from '../../daemon/families/events/explain.ts'
import type { Facts } from '../../daemon/families/events/explain.ts'
import { sampleWebhook, sampleDelivery, BORN } from '../../plugins/store/conformance/samples.ts'
import type { Page, Webhook } from '../support/webhooks.ts'
import {
  FAILS,
  deliveryOf,
  hasStatus,
  heldAnswer,
  publish,
  receiverFor,
  register,
  shopWorld as openShop,
} from '../support/webhooks.ts'
import type { AnyBody, Asker, World } from '../support/world.ts'

interface Explanation extends AnyBody {
  readonly webhook_id: string
  readonly outcome: string
  readonly reasons: readonly { readonly code: string; readonly until: string | null }[]
  readonly delivery: { readonly status: string; readonly attempt_count: number } | null
  readonly next_attempt_at: string | null
}

const shopWorld = (t: Parameters<typeof openShop>[0]): Promise<World> =>
  openShop(t, { families: [eventsFamily] })

async function explained(
  world: World,
  eventId: string,
  { id }: Pick<Webhook, 'id'>,
  as: Asker = world.user,
): Promise<Explanation | undefined> {
  const path = `/v1/events/${eventId}/explain`
  const { body } = await world.request<Page<Explanation>>('GET', path, { as })
  return body.data.find(({ webhook_id }) => webhook_id === id)
}

const codesOf = (one: Explanation | undefined): readonly string[] | undefined =>
  one?.reasons.map(({ code }) => code)

void t.test('a webhook that does not match is told why', async (t) => {
  const world = await shopWorld(t)
  const { url } = await receiverFor(t)
  const other = await register(world, { url, events: ['webhook.disabled'] })
  const filtered = await register(world, { url, apps: ['a_1'] })
  const neither = await register(world, { url, events: ['webhook.disabled'], apps: ['a_1'] })
  const event = await publish(world, 'a_2')
  const withoutApp = await publish(world)
  const found = await explained(world, event, other)
  t.match(found, { outcome: 'not_sent', delivery: null, next_attempt_at: null })
  t.same(codesOf(found), ['type_not_selected'])
  t.same(codesOf(await explained(world, event, filtered)), ['app_not_selected'])
  t.same(codesOf(await explained(world, withoutApp, filtered)), ['app_not_selected'])
  const both = ['type_not_selected', 'app_not_selected']
  t.same(codesOf(await explained(world, event, neither)), both)
})

void t.test('what was delivered, failed or skipped is told with its delivery', async (t) => {
  const world = await shopWorld(t)
  const ok = await register(world, { url: (await receiverFor(t)).url })
  const failing = await register(world, { url: (await receiverFor(t, FAILS)).url })
  const disabled = await register(world, { url: (await receiverFor(t)).url })
  const off = { body: { status: 'disabled' } }
  t.equal((await world.request('PATCH', `/v1/webhooks/${disabled.id}`, off)).status, 200)
  const event = await publish(world)
  await deliveryOf(world, ok, event, hasStatus('succeeded'))
  const { attempts } = await deliveryOf(world, failing, event, (one) => one.attempts.length > 0)
  t.equal(attempts.length, 1)
  t.match(await explained(world, event, ok), {
    outcome: 'delivered',
    reasons: [{ code: 'delivered' }],
    delivery: { status: 'succeeded', attempt_count: 1 },
    next_attempt_at: null,
  })
  const retried = await explained(world, event, failing)
  t.match(retried, { outcome: 'waiting', delivery: { status: 'pending', attempt_count: 1 } })
  t.same(codesOf(retried), ['retry_scheduled'])
  t.equal(retried?.next_attempt_at, retried?.reasons[0]?.until)
  t.ok(Date.parse(retried?.next_attempt_at ?? '') > Date.now())
  const skipped = await explained(world, event, disabled)
  t.match(skipped, { outcome: 'not_sent', webhook_status: 'disabled' })
  t.same(codesOf(skipped), ['webhook_disabled'])
})

void t.test('a webhook of later, or changed since, is told to replay', async (t) => {
  const world = await shopWorld(t)
  const { url } = await receiverFor(t)
  const changed = await register(world, { url, events: ['webhook.disabled'] })
  const event = await publish(world)
  const later = await register(world, { url })
  const body = { events: ['app.deployed'] }
  t.equal((await world.request('PATCH', `/v1/webhooks/${changed.id}`, { body })).status, 200)
  t.same(codesOf(await explained(world, event, later)), ['created_after_event'])
  t.same(codesOf(await explained(world, event, changed)), ['changed_after_event'])
})

void t.test('a limit that is reached is named', async (t) => {
  const world = await shopWorld(t)
  const { answer, letGo, asked } = heldAnswer()
  const receiver = await receiverFor(t, answer)
  const single = await register(world, { url: receiver.url, concurrency: 1 })
  const slow = await register(world, { url: (await receiverFor(t)).url, rate_limit: 1 })
  const first = await publish(world)
  await asked
  await deliveryOf(world, slow, first, hasStatus('succeeded'))
  const second = await publish(world)
  t.match(await explained(world, first, single), { outcome: 'waiting' })
  t.same(codesOf(await explained(world, first, single)), ['in_progress'])
  const waiting = await explained(world, second, single)
  t.match(waiting, { outcome: 'waiting' })
  t.ok(['concurrency_limit', 'in_progress'].includes(codesOf(waiting)?.[0] ?? ''))
  t.equal((await explained(world, second, slow))?.outcome, 'waiting')
  letGo()
})

void t.test('a pinned key is told of its own webhooks and events', async (t) => {
  const world = await shopWorld(t)
  const { url } = await receiverFor(t)
  const own = await register(world, { url, apps: ['a_1'] })
  const wider = await register(world, { url })
  const { key } = await world.mintKey({ scopes: ['webhooks:read'], apps: ['a_1'] })
  const event = await publish(world, 'a_1')
  t.match(await explained(world, event, own, key), { webhook_id: own.id })
  t.equal(await explained(world, event, wider, key), undefined)
  for (const hidden of [await publish(world, 'a_2'), await publish(world), 'evt_none']) {
    const answer = await world.request('GET', `/v1/events/${hidden}/explain`, { as: key })
    t.match(answer, { status: 404, body: { error: { code: 'event_not_found' } } })
  }
})

void t.test('pages name every webhook once', async (t) => {
  const world = await shopWorld(t)
  const { url } = await receiverFor(t)
  const made = []
  for (let count = 0; count < 5; count++) made.push((await register(world, { url })).id)
  const event = await publish(world)
  const seen: string[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const path: string = `/v1/events/${event}/explain?limit=2${cursor && `&cursor=${cursor}`}`
    const { body } = await world.request<Page<Explanation>>('GET', path)
    seen.push(...body.data.map(({ webhook_id }) => webhook_id))
    cursor = body.next_cursor
  }
  t.same(seen.sort(), made.sort())
  const foreign = await world.addAccount()
  const as = world.userOf(foreign)
  t.equal((await world.request('GET', `/v1/events/${event}/explain`, { as })).status, 404)
})

/** Facts of a pending delivery that nothing delays. */
const PENDING: Facts = {
  event: {
    id: 'evt_1',
    account_id: 'acc_1',
    app_id: null,
    type: 'order.paid',
    created_at: BORN,
    body: new TextEncoder().encode('{"data":{}}'),
  },
  webhook: sampleWebhook('wh_1'),
  delivery: sampleDelivery('d1', { next_at: BORN }),
  examined: true,
  delays: undefined,
  sendingPaused: false,
  now: BORN + 1000,
}

const explainedOf = (facts: Partial<Facts>) => {
  const { reasons, ...rest } = explain({ ...PENDING, ...facts }, () => false)
  return { ...rest, codes: reasons.map(({ code }) => code) }
}

void t.test('a due delivery names all that delays it, and when it may be sent', async (t) => {
  const now = BORN + 1000
  const free = { paused_until: null, rate_limited_until: null, busy: 0, concurrency: 4 }
  const waiting = { outcome: 'waiting', next_attempt_at: BORN }
  t.same(explainedOf({}), { ...waiting, codes: ['queued'] })
  t.same(explainedOf({ delays: free }), { ...waiting, codes: ['queued'] })
  t.same(explainedOf({ delays: { ...free, busy: 4 } }), {
    ...waiting,
    codes: ['concurrency_limit'],
  })
  const parked = { ...free, paused_until: now + 5, rate_limited_until: now + 9 }
  const until = { codes: ['paused', 'rate_limit'], next_attempt_at: now + 9 }
  t.same(explainedOf({ delays: parked }), { ...waiting, ...until })
  const held = { codes: ['sending_paused'], next_attempt_at: null }
  t.same(explainedOf({ sendingPaused: true }), { ...waiting, ...held })
})

void t.test('every end of a delivery has a reason, and none has one', async (t) => {
  const ends = {
    exhausted: ['failed', 'attempts_exhausted'],
    blocked: ['failed', 'address_refused'],
    skipped: ['not_sent', 'webhook_disabled'],
    canceled: ['not_sent', 'webhook_deleted'],
  } as const
  for (const [status, [outcome, code]] of Object.entries(ends)) {
    const delivery = sampleDelivery('d1', { status: status as keyof typeof ends })
    t.match(explainedOf({ delivery }), { outcome, codes: [code] })
  }
  const disabled = { status: 'exhausted', end_reason: 'webhook_disabled' } as const
  t.match(explainedOf({ delivery: sampleDelivery('d1', disabled) }), {
    codes: ['webhook_disabled'],
  })
  const none = { delivery: undefined }
  t.match(explainedOf({ ...none, examined: false }), { outcome: 'unknown' })
  const { webhook, event } = PENDING
  const matching = { ...webhook, events: [event.type], apps: null }
  t.match(explainedOf({ ...none, webhook: matching }), { codes: ['not_recorded'] })
  const type = 'webhook.disabled'
  const body = new TextEncoder().encode(`{"data":{"webhook_id":"${webhook.id}"}}`)
  const about = { event: { ...event, type, body }, webhook: { ...matching, events: [type] } }
  t.match(explainedOf({ ...none, ...about }), { codes: ['about_itself'] })
  const another = { ...about, webhook: { ...about.webhook, id: 'wh_other' } }
  t.match(explainedOf({ ...none, ...another }), { codes: ['not_recorded'] })
})
