import t from 'tap'
import { openInOrder } from '../../daemon/composition/closers.ts'
import { openDestinations } from '../../daemon/composition/destinations.ts'
import { readConfig } from '../../daemon/config/config.ts'
import { createSender } from '../../daemon/events/sender.ts'
import { verifyWebhook } from '../../lib/webhook/verify.ts'
import type { Destination, DestinationOutcome } from '../../plugins/destinations/contract.ts'
import { createMemoryDestination } from '../../plugins/destinations/memory.ts'
import { createClock } from '../support/clock.ts'
import { mint, rotate } from '../support/keys-world.ts'
import {
  deliveryOf,
  hasStatus,
  publish,
  receiverFor,
  register,
  shopWorld,
} from '../support/webhooks.ts'
import type { WorldOptions } from '../support/world.ts'

type Scope = Parameters<typeof shopWorld>[0]

async function open(t: Scope, options: WorldOptions = {}) {
  const destination = createMemoryDestination({ names: ['orders', 'audit'] })
  const destinations = new Map<string, Destination>([['memory', destination]])
  const world = await shopWorld(t, { ...options, destinations })
  return { world, destination, destinations }
}

await t.test('a delivery arrives with the headers of https, and its bytes verify', async (t) => {
  const { world, destination } = await open(t)
  const body = { url: 'memory:orders', standard_headers: true }
  const webhook = await register(world, body)
  t.match(webhook, { url: 'memory:orders', type: 'memory' })
  const https = await register(world, { url: 'https://hooks.example.com/in' })
  t.equal(https['type'], 'https')

  const eventId = await publish(world)
  const delivery = await deliveryOf(world, webhook, eventId, hasStatus('succeeded'))
  t.match(delivery, { response: null, error: null, attempt_count: 1 })
  const [message, ...more] = destination.received
  t.equal(more.length, 0)
  t.match(message, {
    name: 'orders',
    id: delivery.id,
    event_id: eventId,
    type: 'app.deployed',
    account_id: world.account.id,
    webhook_id: webhook.id,
    headers: {
      'Content-Type': 'application/json',
      'X-Service-Event': 'app.deployed',
      'X-Service-Delivery-ID': delivery.id,
      'webhook-id': eventId,
    },
  })
  const { headers = {}, body: bytes = new Uint8Array() } = message ?? {}
  const event = await verifyWebhook(bytes, headers, webhook.secret)
  t.match(event, { id: eventId, type: 'app.deployed' })
  const changed = bytes.slice()
  changed[1] = 32
  await t.rejects(verifyWebhook(changed, headers, webhook.secret))
})

await t.test('a failure is retried, and disables the webhook, as any other', async (t) => {
  const { world, destination } = await open(t)
  const webhook = await register(world, { url: 'memory:orders' })
  destination.refuse(true)
  const eventId = await publish(world)
  const pending = await deliveryOf(
    world,
    webhook,
    eventId,
    (one) => one.attempts.length === 1 && one.status === 'pending',
  )
  t.match(pending, {
    error: {
      code: 'destination',
      reason: 'rejected',
      message: 'The server rejected the message.',
    },
    response: null,
  })
  await deliveryOf(world, webhook, eventId, hasStatus('exhausted'))
  const failed = await world.request('GET', `/v1/webhooks/${webhook.id}`)
  t.match(failed.body, { status: 'disabled', disabled_reason: 'failures' })
  destination.refuse(false)
  await world.request('PATCH', `/v1/webhooks/${webhook.id}`, { body: { status: 'active' } })
  const again = await publish(world)
  await deliveryOf(world, webhook, again, hasStatus('succeeded'))
  t.equal(destination.received.length, 1)
})

await t.test(
  'a destination of other accounts is unknown, also to a webhook that has it',
  async (t) => {
    const { world, destination, destinations } = await open(t)
    const webhook = await register(world, { url: 'memory:orders' })
    const lent = new Set([world.account.id])
    const validate = (name: string, account: string): boolean =>
      name === 'audit' || lent.has(account)
    destinations.set('memory', { ...destination, validate })
    await deliveryOf(world, webhook, await publish(world), hasStatus('succeeded'))
    lent.clear()
    const eventId = await publish(world)
    const failed = await deliveryOf(world, webhook, eventId, (one) => one.attempts.length === 1)
    t.match(failed.error, { code: 'destination', reason: 'undeclared' })
    t.equal(destination.received.length, 1, 'nothing more arrived')
    const body = { url: 'memory:orders', events: ['*'] }
    const made = await world.request('POST', '/v1/webhooks', { body })
    t.match(made, { status: 400, body: { error: { code: 'unknown_destination' } } })
    const moved = await world.request('PATCH', `/v1/webhooks/${webhook.id}`, {
      body: { url: 'memory:orders' },
    })
    t.match(moved, { status: 400, body: { error: { code: 'unknown_destination' } } })
  },
)

await t.test('what the operator does not declare is refused, and no address is', async (t) => {
  const { world } = await open(t)
  const receiver = await receiverFor(t)
  const unknown = [
    'memory:ordres',
    'rabbitmq:orders',
    'redis:orders',
    'folder:orders',
    'constructor:name',
    'memory:constructor',
    'javascript:alert',
    'memory:to-string',
    'mailto:someone',
  ]
  for (const url of unknown) {
    const made = await world.request('POST', '/v1/webhooks', { body: { url, events: ['*'] } })
    t.match(made, {
      status: 400,
      body: {
        error: {
          code: 'unknown_destination',
          errors: [{ location: 'body.url', code: 'unknown_destination' }],
        },
      },
    })
    t.notMatch(JSON.stringify(made.body), /audit/, 'the names are not told')
  }
  const { port } = receiver
  const addresses = [
    `memory://127.0.0.1:${port}`,
    `memory:127.0.0.1:${port}`,
    `memory:orders@127.0.0.1:${port}`,
    `amqp://127.0.0.1:${port}`,
    `redis://127.0.0.1:${port}/0`,
    `memory:orders?url=x`,
    'memory:',
    'memory:Orders',
    'MEMORY:orders',
    'memory:orders/',
    'memory:orders#a',
    ' memory:orders',
    'memory:orders\n',
    `memory:o${'x'.repeat(64)}`,
    'localhost:8080',
  ]
  for (const url of addresses) {
    const made = await world.request('POST', '/v1/webhooks', { body: { url, events: ['*'] } })
    t.equal(made.status, 400, url)
    t.match(JSON.stringify(made.body), /invalid_url/, url)
  }
  t.equal(receiver.connections, 0)
})

await t.test('headers of its own are for https, and never move to another receiver', async (t) => {
  const { world } = await open(t)
  const headers = { 'X-Receiver': 'billing' }
  const body = { url: 'memory:orders', events: ['*'], headers }
  const refused = await world.request('POST', '/v1/webhooks', { body })
  t.match(refused, {
    status: 400,
    body: { error: { code: 'invalid_request', errors: [{ location: 'body.headers' }] } },
  })
  const webhook = await register(world, { url: 'https://hooks.example.com/in', headers })
  const path = `/v1/webhooks/${webhook.id}`
  const both = await world.request('PATCH', path, { body: { url: 'memory:orders', headers } })
  t.equal(both.status, 400, 'not while it moves')
  const moved = await world.request('PATCH', path, { body: { url: 'memory:orders' } })
  t.match(moved, { status: 200, body: { type: 'memory', header_names: [] } })
  const later = await world.request('PATCH', path, { body: { headers } })
  t.equal(later.status, 400, 'nor later')
  const none = await world.request('PATCH', path, { body: { headers: null, url: 'memory:audit' } })
  t.match(none, { status: 200, body: { url: 'memory:audit' } })
  const back = { url: 'https://hooks.example.com/in', headers }
  t.match(await world.request('PATCH', path, { body: back }), {
    status: 200,
    body: { type: 'https', header_names: ['X-Receiver'] },
  })
})

await t.test(
  'the value of a key in its grace period moves no webhook to a destination',
  async (t) => {
    const { world } = await open(t)
    const scopes = ['webhooks:write', 'keys:write']
    const { id, key } = (await mint(world, world.user, { scopes })).body
    const webhook = await register(world, { url: 'https://hooks.example.com/in' }, key)
    await rotate(world, id)
    const body = { url: 'memory:orders' }
    const moved = await world.request('PATCH', `/v1/webhooks/${webhook.id}`, { as: key, body })
    t.match(moved, { status: 403, body: { error: { code: 'previous_value_restricted' } } })
  },
)

await t.test('one that the operator took away is retried, and sent once it is back', async (t) => {
  const { world, destination, destinations } = await open(t)
  const webhook = await register(world, { url: 'memory:orders' })
  destinations.delete('memory')
  const eventId = await publish(world)
  const pending = await deliveryOf(world, webhook, eventId, (one) => one.attempts.length > 0)
  t.match(pending, { error: { code: 'destination', reason: 'undeclared' } })
  destinations.set('memory', destination)
  await deliveryOf(world, webhook, eventId, hasStatus('succeeded'))
})

const request = {
  url: 'own:orders',
  method: 'POST',
  headers: {},
  body: new Uint8Array(),
  timeout: 1000,
  maxResponseBytes: 0,
  delivery: { id: 'd', account_id: 'a', webhook_id: 'w', event_id: 'e', event_type: 'order.paid' },
} as const

await t.test('a faulty plugin ends the attempt, and never the worker', async (t) => {
  const clock = createClock(0)
  const logged: string[] = []
  const note = (_: unknown, text = ''): void => void logged.push(text)
  const sendWith = (send: Destination['send'], changes: Partial<Destination> = {}) => {
    const names = ['orders']
    const destination = {
      describe: () => ({ type: 'own', names }),
      validate: () => true,
      send,
      close: async () => undefined,
      ...changes,
    }
    const destinations = new Map([['own', destination]])
    const egress = { send: () => Promise.reject(new Error('not over https')) }
    const log = { info: note, error: note }
    return createSender({ egress, destinations, clock, log }).send(request)
  }
  const failed = (code: string) => ({ ok: false, code, durationMs: 0 })

  const thrown = await sendWith(() => Promise.reject(new Error('on fire')))
  t.strictSame(thrown, failed('destination'))
  const judged = await sendWith(async () => ({ ok: true }), {
    validate: () => {
      throw new Error('on fire')
    },
  })
  t.strictSame(judged, failed('destination'))
  t.equal(logged.filter((text) => text.startsWith('destination.threw')).length, 2)
  const made = { ok: false, code: 'http_status', cause: 'made up' } as unknown as DestinationOutcome
  t.strictSame(await sendWith(async () => made), failed('destination'))
  const internal = { ok: false, code: 'reset', internal: 'amqp://10.0.0.1' } as const
  t.strictSame(await sendWith(async () => internal), failed('reset'), 'for logs alone')
  t.strictSame(await sendWith(async () => ({ ok: true })), {
    ok: true,
    status: null,
    durationMs: 0,
  })

  let given: AbortSignal | undefined
  const hanging = sendWith((_, signal) => {
    given = signal
    return new Promise<never>(() => undefined)
  })
  await clock.advance(1000)
  t.match(await hanging, { ok: false, code: 'timeout' })
  t.equal(given?.aborted, true)
})

await t.test(
  'types and names that no url can have, and two of a type, stop the start',
  async (t) => {
    const openWith = (env: Record<string, string>, ...own: readonly Destination[]) =>
      openInOrder(async (closers) => {
        const named = own.map((destination, at) => ({ label: `plugin ${at}`, destination }))
        return { map: await openDestinations(readConfig(env), named, closers) }
      })
    const of = (type: string, names = ['orders']): Destination =>
      createMemoryDestination({ type, names })
    const { map, close } = await openWith(
      { KEYHOOK_DESTINATIONS: 'orders=amqp://127.0.0.1:9,orders=redis://127.0.0.1:9' },
      of('folder'),
      of('kafka'),
    )
    t.strictSame([...map.keys()], ['rabbitmq', 'redis', 'folder', 'kafka'])
    await close()
    const rabbitmq = { KEYHOOK_DESTINATIONS: 'orders=amqp://127.0.0.1:9' }
    await t.rejects(openWith(rabbitmq, of('rabbitmq')), {
      name: 'ConfigError',
      message: 'plugin 0, and there is another destination of the type rabbitmq',
    })
    await t.rejects(openWith({}, of('folder'), of('folder')), { message: /^plugin 1, / })
    for (const type of ['https', 'http', 'Folder', 'a b', 'x'.repeat(33)]) {
      await t.rejects(openWith({}, of(type)), { message: /^plugin 0, whose type must be / }, type)
    }
    await t.rejects(openWith({}, of('folder', ['../a'])), {
      message: /whose name "\.\.\/a" is not/,
    })
    t.throws(() => readConfig({ KEYHOOK_DESTINATIONS: 'a=amqp://u:secretpw@h?x=1' }), {
      message: /^KEYHOOK_DESTINATIONS names a, whose address has an unknown option/,
    })
  },
)
