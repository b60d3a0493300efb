import t from 'tap'
import { HOUR } from '../../lib/time.ts'
import { verifyWebhook } from '../../lib/webhook/verify.ts'
import type { ReadEvent } from '../support/declared-events.ts'
import { requireDeclared } from '../support/declared-events.ts'
import type { Delivery, Page, Webhook } from '../support/webhooks.ts'
import {
  FAILS,
  deliveryOf,
  hasStatus,
  headersOf,
  heldAnswer,
  publish,
  receiverFor,
  register,
  shopWorld,
} from '../support/webhooks.ts'

void t.test(
  'disabling exhausts what had failed and skips what was never tried; enabling clears the counters',
  async (t) => {
    const world = await shopWorld(t, { schedule: [HOUR] })
    const failing = await receiverFor(t, FAILS)
    const webhook = await register(world, { url: failing.url })
    const path = `/v1/webhooks/${webhook.id}`
    const eventId = await publish(world)
    const tried = (delivery: Delivery): boolean => delivery.attempts.length === 1
    t.match(await deliveryOf(world, webhook, eventId, tried), {
      status: 'pending',
      trigger: 'event',
      attempt_count: 1,
      next_attempt_at: /Z$/,
      delivered_at: null,
      response: { status_code: 500, body: null },
      error: { code: 'http_status' },
    })
    t.equal((await world.request('GET', path)).body['consecutive_failures'], 1)

    const disabled = await world.request('PATCH', path, { body: { status: 'disabled' } })
    t.match(disabled, {
      status: 200,
      body: { status: 'disabled', disabled_reason: 'manual', disabled_at: /Z$/ },
    })
    t.match(await deliveryOf(world, webhook, eventId, hasStatus('exhausted')), {
      trigger: 'event',
      end_reason: 'webhook_disabled',
      attempt_count: 1,
      next_attempt_at: null,
    })
    const meanwhile = await publish(world)
    t.match(await deliveryOf(world, webhook, meanwhile, hasStatus('skipped')), {
      end_reason: 'webhook_disabled',
      attempts: [],
    })

    const moved = await world.request('PATCH', path, { body: { url: failing.url.concat('/2') } })
    t.match(
      moved.body,
      { status: 'disabled', consecutive_failures: 1 },
      'another url does not enable',
    )
    const enabled = await world.request('PATCH', path, { body: { status: 'active' } })
    t.match(enabled.body, {
      status: 'active',
      disabled_reason: null,
      disabled_at: null,
      consecutive_failures: 0,
      first_failure_at: null,
    })
    const after = await publish(world)
    await deliveryOf(world, webhook, after, tried)
    t.match(failing.requests.at(-1)?.head, /^POST \/in\/2 /, 'the change is seen by the next event')
    const again = await world.request('PATCH', path, { body: { url: failing.url } })
    t.match(again.body, { status: 'active', consecutive_failures: 0 }, 'another url starts anew')
  },
)

void t.test('a webhook that keeps failing is disabled, and another one is told', async (t) => {
  const world = await shopWorld(t, { schedule: [HOUR], disabling: { failures: 2, span: 0 } })
  const failing = await register(world, { url: (await receiverFor(t, FAILS)).url })
  const listener = await receiverFor(t)
  const events = ['webhook.failing', 'webhook.disabled']
  const told = await register(world, { url: listener.url, events })
  for (let published = 0; published < 2; published += 1) {
    const eventId = await publish(world)
    await deliveryOf(world, failing, eventId, ({ attempts }) => attempts.length === 1)
  }
  const path = `/v1/webhooks/${told.id}/deliveries?event_type=webhook.disabled&status=succeeded`
  let page = await world.request<Page<Delivery>>('GET', path)
  while (page.body.data.length === 0) page = await world.request<Page<Delivery>>('GET', path)
  t.match(await world.request('GET', `/v1/webhooks/${failing.id}`), {
    body: { status: 'disabled', disabled_reason: 'failures', consecutive_failures: 2 },
  })
  const sent = listener.requests.map(({ body }) => JSON.parse(body) as ReadEvent)
  t.same(sent.map(({ type }) => type).sort(), ['webhook.disabled', 'webhook.failing'])
  requireDeclared(sent)
  const disabled = await world.request<Page<Webhook>>('GET', '/v1/webhooks?status=disabled')
  t.same(
    disabled.body.data.map(({ id }) => id),
    [failing.id],
  )
})

void t.test('a test under an Idempotency-Key is sent once', async (t) => {
  const world = await shopWorld(t)
  const receiver = await receiverFor(t)
  const webhook = await register(world, { url: receiver.url })
  const asking = { headers: { 'idempotency-key': 'once' } }
  const first = await world.request('POST', `/v1/webhooks/${webhook.id}/test`, asking)
  const again = await world.request('POST', `/v1/webhooks/${webhook.id}/test`, asking)
  t.same(again.body, first.body)
  t.equal(receiver.requests.length, 1)
  requireDeclared(receiver.requests.map(({ body }) => JSON.parse(body) as ReadEvent))
})

void t.test('an ended delivery is sent once more by hand, with the same bytes', async (t) => {
  const world = await shopWorld(t, { schedule: [HOUR] })
  const held = heldAnswer()
  const receiver = await receiverFor(t, held.answer)
  const webhook = await register(world, { url: receiver.url })
  const eventId = await publish(world)
  await held.asked
  const { id } = await deliveryOf(world, webhook, eventId, hasStatus('delivering'))
  const path = `/v1/webhooks/${webhook.id}/deliveries/${id}`
  const busy = { status: 409, body: { error: { code: 'delivery_in_progress' } } }
  t.match(await world.request('GET', path), { body: { next_attempt_at: null, attempts: [] } })
  t.match(await world.request('POST', `${path}/retry`), busy)
  held.letGo()
  await deliveryOf(world, webhook, eventId, hasStatus('succeeded'))

  const retried = await world.request('POST', `${path}/retry`, { body: {} })
  t.match(retried, { status: 202, body: { id, status: 'pending', next_attempt_at: /Z$/ } })
  t.match(await world.request('POST', `${path}/retry`), busy)
  await deliveryOf(world, webhook, eventId, () => receiver.requests.length === 2)
  held.letGo()
  t.match(await deliveryOf(world, webhook, eventId, hasStatus('succeeded')), {
    trigger: 'manual',
    attempt_count: 2,
    attempts: [
      { number: 1, trigger: 'event' },
      { number: 2, trigger: 'manual' },
    ],
  })
  const [first, second] = receiver.requests
  t.equal(second?.body, first?.body)

  await world.request('PATCH', `/v1/webhooks/${webhook.id}`, { body: { status: 'disabled' } })
  t.match(await world.request('POST', `${path}/retry`), {
    status: 409,
    body: { error: { code: 'webhook_disabled' } },
  })
  t.match(await world.request('POST', `/v1/webhooks/${webhook.id}/deliveries/none/retry`), {
    status: 404,
    body: { error: { code: 'delivery_not_found' } },
  })
})

void t.test('deliveries are listed newest first, by status, type and event', async (t) => {
  const world = await shopWorld(t)
  const { url } = await receiverFor(t)
  const webhook = await register(world, { url })
  const ids = [await publish(world), await publish(world), await publish(world, 'a1')]
  for (const id of ids) await deliveryOf(world, webhook, id, hasStatus('succeeded'))
  const list = (query: string): Promise<{ body: Page<Delivery>; status: number }> =>
    world.request('GET', `/v1/webhooks/${webhook.id}/deliveries${query}`)
  const eventsOf = ({ body }: { body: Page<Delivery> }): readonly string[] =>
    body.data.map(({ event_id }) => event_id)

  const first = await list('?limit=2')
  const cursor = first.body.next_cursor ?? ''
  const rest = await list(`?limit=2&cursor=${cursor}`)
  t.same([...eventsOf(first), ...eventsOf(rest)], ids.toReversed())
  t.match(rest.body, { has_more: false, next_cursor: null })
  t.match(await list(`?status=succeeded&cursor=${cursor}`), {
    status: 400,
    body: { error: { code: 'invalid_cursor' } },
  })
  t.same(eventsOf(await list('?status=exhausted')), [])
  t.equal(eventsOf(await list('?event_type=app.deployed')).length, 3)
  t.same(eventsOf(await list('?event_type=webhook.test')), [])
  t.same(eventsOf(await list(`?event_id=${ids[1]}`)), [ids[1]])
  t.equal((await list('?status=lost')).status, 400)
})

void t.test('without its master key a secret signs nothing, and a test says so', async (t) => {
  const world = await shopWorld(t)
  const receiver = await receiverFor(t)
  const webhook = await register(world, { url: receiver.url })
  const { store } = world.platform
  const kept = await store.webhooks.get(world.account.id, webhook.id)
  if (kept === undefined) throw new Error('the webhook is kept')
  await store.write(async (tx) => {
    await tx.webhooks.delete(kept.id, 0)
    const secrets = kept.secrets.map((secret) => ({ ...secret, encrypted: 'v1.gone.AAAA' }))
    await tx.webhooks.insert({ ...kept, secrets })
  })
  t.match(await world.request('POST', `/v1/webhooks/${webhook.id}/test`), {
    status: 503,
    body: { error: { code: 'secret_unreadable' } },
  })
  t.equal(receiver.requests.length, 0)
})

void t.test('a test sends one signed event to this webhook alone, at once', async (t) => {
  const world = await shopWorld(t)
  const receiver = await receiverFor(t)
  const webhook = await register(world, { url: receiver.url, standard_headers: true })
  const bystander = await receiverFor(t)
  await register(world, { url: bystander.url, events: ['webhook.test'] })
  const path = `/v1/webhooks/${webhook.id}`
  const sent = await world.request<Delivery>('POST', `${path}/test`, { body: {} })
  t.match(sent, {
    status: 200,
    body: {
      webhook_id: webhook.id,
      event_type: 'webhook.test',
      app_id: null,
      status: 'succeeded',
      trigger: 'test',
      attempt_count: 1,
      next_attempt_at: null,
      delivered_at: /Z$/,
      response: { status_code: 204 },
      error: null,
      attempts: [{ number: 1, trigger: 'test', error: null }],
    },
  })
  t.equal(receiver.requests.length, 1)
  t.equal(bystander.requests.length, 0)
  const [request] = receiver.requests
  if (request === undefined) return
  const event = await verifyWebhook(request.body, headersOf(request), webhook.secret)
  t.match(event, {
    id: sent.body.event_id,
    type: 'webhook.test',
    data: { webhook_id: webhook.id },
    deliveryId: sent.body.id,
  })
  t.match(request.head, /\r\nwebhook-signature: v1,/i, 'in both ways when the webhook asks')
  t.same((await world.request('GET', `${path}/deliveries/${sent.body.id}`)).body, sent.body)
  const kept = await world.platform.store.events.get(world.account.id, sent.body.event_id)
  t.equal(Buffer.from(kept?.body ?? []).toString(), request.body, 'the bytes that were stored')
})

void t.test('a failed test is a 200, counts nothing, and works while disabled', async (t) => {
  const world = await shopWorld(t, { disabling: { failures: 1, span: 0 } })
  const failing = await receiverFor(t, FAILS)
  const webhook = await register(world, { url: failing.url })
  const path = `/v1/webhooks/${webhook.id}`
  const failed = { status: 'exhausted', error: { code: 'http_status' }, next_attempt_at: null }
  t.match(await world.request('POST', `${path}/test`), { status: 200, body: failed })
  t.match((await world.request('GET', path)).body, { status: 'active', consecutive_failures: 0 })
  await world.request('PATCH', path, { body: { status: 'disabled' } })
  t.match(await world.request('POST', `${path}/test`), { status: 200, body: failed })
  t.match((await world.request('GET', path)).body, {
    status: 'disabled',
    consecutive_failures: 0,
  })
  t.equal(failing.requests.length, 2)
  const body = { event_type: 'app.deployed' }
  t.equal((await world.request('POST', `${path}/test`, { body })).status, 400)
})

void t.test('a delivery says why no connection came about', async (t) => {
  const world = await shopWorld(t, { schedule: [HOUR] })
  const closed = await receiverFor(t, FAILS)
  const webhook = await register(world, { url: closed.url })
  await closed.close()
  const tried = (delivery: Delivery): boolean => delivery.attempts.length === 1
  const error = {
    code: 'connect',
    reason: 'refused',
    message: 'The connection was refused: nothing accepts connections at this address and port.',
  }
  t.match(await deliveryOf(world, webhook, await publish(world), tried), {
    status: 'pending',
    error,
    attempts: [{ error }],
  })
})
