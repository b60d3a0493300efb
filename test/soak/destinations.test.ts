/** Destinations over the servers that Debian packages: test/soak/brokers.sh installs them. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'
import t from 'tap'
import { MINUTE } from '../../lib/time.ts'
import { verifyWebhook } from '../../lib/webhook/verify.ts'
import { runCases } from '../../plugins/conformance.ts'
import { parseDestinations } from '../../plugins/destinations/contract/addresses.ts'
import type { Received } from '../../plugins/destinations/conformance.ts'
import { destinationCases } from '../../plugins/destinations/conformance.ts'
import { NEVER, messageOf } from '../../plugins/destinations/conformance/harness.ts'
import { createRabbitMqDestination } from '../../plugins/destinations/rabbitmq.ts'
import { createRedisDestination } from '../../plugins/destinations/redis.ts'
import type { Broker } from '../support/brokers.ts'
import { missingBrokers, startRabbitMq, startRedis } from '../support/brokers.ts'
import { startDaemonProcess, until } from '../support/daemon.ts'
import { sized } from '../support/soak.ts'

t.setTimeout(sized(15, 15, 120) * MINUTE)

const KINDS = {
  rabbitmq: {
    start: startRabbitMq,
    open: (text: string) => createRabbitMqDestination(parseDestinations(text).rabbitmq),
  },
  redis: {
    start: startRedis,
    open: (text: string) => createRedisDestination(parseDestinations(text).redis),
  },
}

const missing = missingBrokers()
for (const name of missing) t.comment(`${name} is not installed: its destination is not run`)
if (process.env['CI'] === 'true') t.strictSame(missing, [], 'a machine of CI has the servers')

let count = 0

for (const [type, { start, open }] of Object.entries(KINDS)) {
  if (missing.includes(`${type}-server`)) continue
  await t.test(`${type} keeps the contract of the destinations room`, async (t) => {
    const broker: Broker = await start()
    t.teardown(() => broker.close())
    const makeHarness = async () => {
      count += 1
      const name = `orders-${count}`
      await broker.prepare(name)
      const destination = open(`${name}=${broker.url}`)
      let isRefused = false
      return {
        destination,
        name,
        // What refuses has nothing to read from.
        received: async () => (isRefused ? [] : broker.received(name)),
        async refuse() {
          await broker.refuse(name)
          isRefused = true
        },
        stop: () => broker.kill(),
        restart: () => broker.start(),
        async hang() {
          broker.hang()
        },
        async close() {
          broker.resume()
          await destination.close()
        },
      }
    }
    const register = (name: string, run: () => Promise<void>) => void t.test(name, run)
    const left = runCases(destinationCases, makeHarness, register, ['refuses', 'server', 'hangs'])
    t.strictSame(left, [])
  })
}

if (!missing.includes('rabbitmq-server')) {
  await t.test('rabbitmq: a server short of memory takes nothing, and later all', async (t) => {
    const broker = await startRabbitMq()
    t.teardown(() => broker.close())
    await broker.prepare('orders')
    const destination = KINDS.rabbitmq.open(`orders=${broker.url}`)
    t.teardown(() => destination.close())
    const send = (id: string, signal: AbortSignal) =>
      destination.send(messageOf({ name: 'orders' }, { id }), signal)
    t.match(await send('before', NEVER), { ok: true })
    await broker.setMemory('1')
    // The server says so to who publishes, and reads nothing more.
    t.match(await send('unread', AbortSignal.timeout(2000)), { ok: false, code: 'aborted' })
    t.match(await send('refused', NEVER), { ok: false, code: 'destination', cause: 'full' })
    await broker.setMemory('512MB')
    await until('it takes messages again', async () => (await send('after', NEVER)).ok)
    const ids = (await broker.received('orders')).map(({ id }) => id)
    t.equal(ids[0], 'before')
    t.ok(ids.includes('after'))
    t.notOk(ids.includes('refused'), 'what was refused was not sent')
  })
}

const ROUNDS = sized(3, 3, 100)
/** Events that are published while something dies. */
const EACH = 20
const OPERATOR = 'operator-token-of-the-destination-soak'

for (const [type, { start }] of Object.entries(KINDS)) {
  if (missing.includes(`${type}-server`)) continue
  await t.test(`${type}: at least once over kills of the daemon and of the server`, async (t) => {
    const broker = await start()
    t.teardown(() => broker.close())
    await broker.prepare('orders')
    const decoy = await countConnections()
    t.teardown(() => decoy.close())
    const stage = await openDaemon(t, `orders=${broker.url}`)
    for (const url of [
      `${type}:decoy`,
      `${type}:127.0.0.1:${decoy.port}`,
      `${new URL(broker.url).protocol}//127.0.0.1:${decoy.port}/`,
    ]) {
      t.equal((await stage.ask('/v1/webhooks', { url, events: ['order.paid'] })).status, 400, url)
    }
    const made = await stage.ask('/v1/webhooks', { url: `${type}:orders`, events: ['order.paid'] })
    t.match(made, { status: 201, body: { type } })
    const secret = String(made.body['secret'])

    const acknowledged = new Set<string>()
    for (let round = 0; round < ROUNDS; round += 1) {
      const publishing = publishSome(stage, round, acknowledged)
      await delay((round * 37) % 150)
      if (round % 2 === 0) await broker.kill()
      if (round % 4 !== 0) await stage.killDaemon()
      await publishing
      if (round % 2 === 0) await broker.start()
    }
    let received: readonly Received[] = []
    await until('everything acknowledged has arrived', async () => {
      received = await broker.received('orders')
      const arrived = new Set(received.map(eventOf))
      return [...acknowledged].every((id) => arrived.has(id))
    })
    for (const { body, headers } of received) {
      await verifyWebhook(body, headers, secret, { tolerance: 86_400 })
    }
    t.equal(acknowledged.size, ROUNDS * EACH)
    t.equal(decoy.connections(), 0, 'what is not declared is never connected to')
    t.notMatch(stage.output(), /amqp:\/\/|redis:\/\//, 'no address is logged')
    t.comment(`${type}: ${acknowledged.size} events, ${received.length} arrivals, ${ROUNDS} rounds`)
  })
}

function eventOf({ body }: Received): string {
  return (JSON.parse(Buffer.from(body).toString()) as { readonly id: string }).id
}

/** Publishes each event until it is acknowledged, also while its daemon is away. */
async function publishSome(stage: Stage, round: number, acknowledged: Set<string>): Promise<void> {
  for (let number = 0; number < EACH; number += 1) {
    const id = `evt_${round}_${number}`
    const event = { id, type: 'order.paid', data: { round, number } }
    while (!acknowledged.has(id)) {
      const { status } = await stage.ask('/v1/events', event).catch(() => ({ status: 0 }))
      if (status === 202) acknowledged.add(id)
      else await delay(20)
    }
  }
}

interface Stage {
  ask(
    path: string,
    body: object,
  ): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }>
  killDaemon(): Promise<void>
  output(): string
}

async function openDaemon(t: Test, destinations: string): Promise<Stage> {
  const env: Record<string, string> = {
    KEYHOOK_DATA_DIR: t.testdir(),
    KEYHOOK_OPERATOR_TOKEN: OPERATOR,
    KEYHOOK_EVENT_TYPES: 'order.paid',
    KEYHOOK_DESTINATIONS: destinations,
    KEYHOOK_WEBHOOK_RETRY_SCHEDULE: Array.from({ length: 20 }, () => 2).join(','),
    KEYHOOK_WEBHOOK_DISABLE_FAILURES: '100000',
  }
  let daemon = await startDaemonProcess(env)
  t.teardown(() => daemon.end('SIGKILL').then(() => undefined))
  let output = ''
  const headers: Record<string, string> = {
    authorization: `Bearer ${OPERATOR}`,
    'content-type': 'application/json',
  }
  const ask: Stage['ask'] = async (path, body) => {
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetch(daemon.url + path, init)
    return {
      status: response.status,
      body: (await response.json()) as Readonly<Record<string, unknown>>,
    }
  }
  const account = await ask('/v1/accounts', { name: 'Acme' })
  headers['keyhook-account'] = String(account.body['id'])
  return {
    ask,
    async killDaemon() {
      await daemon.end('SIGKILL')
      output += daemon.output()
      daemon = await startDaemonProcess(env)
    },
    output: () => output + daemon.output(),
  }
}

/** A listener that nothing may reach. */
async function countConnections() {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { port, connections: () => connections, close: () => void server.close() }
}
