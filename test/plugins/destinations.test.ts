import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import t from 'tap'
import { runCases } from '../../plugins/conformance.ts'
import { parseDestinations } from '../../plugins/destinations/contract/addresses.ts'
import { destinationCases } from '../../plugins/destinations/conformance.ts'
import { NEVER, assertFailed, messageOf } from '../../plugins/destinations/conformance/harness.ts'
import { createMemoryDestination } from '../../plugins/destinations/memory.ts'
import { createRabbitMqDestination } from '../../plugins/destinations/rabbitmq.ts'
import { createRedisDestination } from '../../plugins/destinations/redis.ts'
import { certify } from '../support/egress.ts'
import { freePort } from '../support/free-port.ts'

await t.test('memory keeps the contract of the destinations room', async (t) => {
  const makeHarness = async () => {
    const destination = createMemoryDestination()
    return {
      destination,
      name: 'orders',
      received: async () => destination.received,
      refuse: async () => {
        destination.refuse(true)
      },
    }
  }
  const left = runCases(destinationCases, makeHarness, (name, run) => void t.test(name, run), [
    'refuses',
  ])
  t.ok(left.length > 0, 'it has no server, and does not hang')
})

const declare = (text: string) => ({ ...parseDestinations(text) })

await t.test('declared addresses', async (t) => {
  const all = { accounts: undefined }
  const common = {
    ...all,
    hostname: 'mq.example',
    isSecure: false,
    username: 'us er',
    password: 'p,w',
  }
  const rabbit = { ...common, port: 5672, vhost: 'shop' }
  const read = declare(
    'orders=amqp://us%20er:p%2Cw@mq.example/shop, all=amqp://us%20er:p%2Cw@mq.example/shop?exchange=events&accounts=*,' +
      'keyed=amqps://[::1]?exchange=e&routing_key=k\n\ncache=rediss://:pw@cache.example:7000/3?stream=s&maxlen=1000',
  )
  t.strictSame(read.rabbitmq, [
    { ...rabbit, name: 'orders', exchange: '', routingKey: 'orders' },
    { ...rabbit, name: 'all', exchange: 'events', routingKey: undefined },
    {
      ...all,
      name: 'keyed',
      hostname: '::1',
      port: 5671,
      isSecure: true,
      vhost: '/',
      username: 'guest',
      password: 'guest',
      exchange: 'e',
      routingKey: 'k',
    },
  ])
  t.strictSame(read.redis, [
    {
      ...all,
      name: 'cache',
      hostname: 'cache.example',
      port: 7000,
      isSecure: true,
      database: 3,
      username: undefined,
      password: 'pw',
      stream: 's',
      maxLength: 1000,
    },
  ])
  t.strictSame(declare(''), { rabbitmq: [], redis: [] })
  t.doesNotThrow(() => declare('orders=amqp://a,orders=redis://a'), 'each type has its names')
})

await t.test('a declaration that cannot be used is refused, without its password', async (t) => {
  const refused: readonly (readonly [string, RegExp])[] = [
    ['amqp://u:secretpw@h', /must be <name>=<address>/],
    ['Orders=amqp://u:secretpw@h', /A name is a-z/],
    ['orders=http://u:secretpw@h', /names orders, whose address must begin with amqp/],
    ['orders=amqp:secretpw', /must begin with amqp/],
    ['orders=redis://u:secretpw@h#x', /must begin with/],
    ['orders=amqp://u:secretpw@h?heartbeat=1', /unknown option; known are queue, exchange/],
    ['orders=amqp://u:secretpw@h?queue=', /has an empty queue/],
    ['orders=amqp://u:secretpw@h?accounts=', /has an empty accounts/],
    ['orders=amqp://u:secretpw@h?accounts=a&accounts=b', /has an option twice/],
    ['orders=amqp://u:secretpw@h?queue=a&exchange=b', /and not both/],
    ['orders=amqp://u:secretpw@h?routing_key=b', /needs an exchange/],
    ['orders=amqp://u:secretpw@h?exchange=b', /needs a routing_key with its exchange, or accounts/],
    ['orders=redis://u:secretpw@h?maxlen=0', /maxlen must be/],
    ['orders=redis://u:secretpw@h/none', /database must be a number/],
    ['orders=amqp://u:secretpw%@h', /encodes nothing/],
    ['orders=amqp://u:secretpw@h,orders=amqps://g', /must name rabbitmq:orders once/],
  ]
  for (const [text, message] of refused) {
    t.throws(() => declare(text), { message }, text)
    try {
      declare(text)
    } catch (cause) {
      t.notMatch((cause as Error).message, /secretpw/, text)
    }
  }
})

await t.test('a destination is one of the accounts that its declaration lists', async (t) => {
  const port = await freePort()
  const { redis, rabbitmq } = declare(
    `one=redis://127.0.0.1:${port}?accounts=acct_2+acct_3,any=redis://127.0.0.1:${port},` +
      `one=amqp://127.0.0.1:${port}?accounts=acct_2`,
  )
  const server = createServer((socket) => socket.destroy()).listen(port, '127.0.0.1')
  let connections = 0
  server.on('connection', () => (connections += 1))
  await once(server, 'listening')
  t.teardown(() => server.close())
  for (const destination of [createRedisDestination(redis), createRabbitMqDestination(rabbitmq)]) {
    t.equal(destination.validate('one', 'acct_2'), true)
    for (const other of ['acct_1', 'acct_4', '', 'acct_2 acct_3', 'constructor']) {
      t.equal(destination.validate('one', other), false, other)
      const message = messageOf({ name: 'one' }, { account_id: other })
      t.match(await destination.send(message, NEVER), { ok: false, cause: 'undeclared' })
    }
    t.equal(connections, 0, 'nothing is connected to')
    await destination.close()
  }
  t.equal(createRedisDestination(redis).validate('any', 'acct_1'), true)
})

await t.test('a server that nobody runs is a connection that fails', async (t) => {
  const port = await freePort()
  const { rabbitmq, redis } = parseDestinations(
    `orders=amqp://127.0.0.1:${port},orders=redis://127.0.0.1:${port}`,
  )
  for (const destination of [createRabbitMqDestination(rabbitmq), createRedisDestination(redis)]) {
    t.teardown(() => destination.close())
    const { type } = destination.describe()
    const outcome = await destination.send(messageOf({ name: 'orders' }), NEVER)
    assertFailed(outcome, 'connect')
    t.pass(type)
  }
})

await t.test('a server whose certificate nobody vouches for learns nothing', async (t) => {
  let learnt = ''
  const server = createTlsServer(await certify(t.testdir(), 'localhost'), (socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => (learnt += bytes.toString('latin1')))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const { rabbitmq, redis } = parseDestinations(
    `orders=amqps://user:secretpw@localhost:${port},orders=rediss://user:secretpw@localhost:${port}`,
  )
  for (const destination of [createRabbitMqDestination(rabbitmq), createRedisDestination(redis)]) {
    assertFailed(await destination.send(messageOf({ name: 'orders' }), NEVER), 'tls')
    t.equal(learnt, '', `${destination.describe().type}: not a byte`)
    await destination.close()
  }
})

/** Answers every command by a line, and counts who connects. */
async function startLines(answer: (command: string) => string) {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => {
      for (const [, name = ''] of bytes
        .toString('latin1')
        .matchAll(/\*\d+\r\n\$\d+\r\n(\w+)\r\n/g)) {
        socket.write(`${answer(name)}\r\n`)
      }
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { port, connections: () => connections, close: () => void server.close() }
}

await t.test('a Redis that names another address is not followed there', async (t) => {
  const other = await startLines(() => '+OK')
  t.teardown(() => other.close())
  const causes: Readonly<Record<string, string>> = {
    [`MOVED 1 127.0.0.1:${other.port}`]: 'redirected',
    [`ASK 1 127.0.0.1:${other.port}`]: 'redirected',
    'OOM command not allowed': 'full',
    'NOPERM no permissions': 'not_permitted',
    'READONLY You cannot write against a read only replica.': 'rejected',
  }
  for (const [reply, cause] of Object.entries(causes)) {
    const server = await startLines((command) => (command === 'XADD' ? `-${reply}` : '+OK'))
    const { redis } = parseDestinations(`orders=redis://127.0.0.1:${server.port}`)
    const destination = createRedisDestination(redis)
    const outcome = await destination.send(messageOf({ name: 'orders' }), NEVER)
    t.match(outcome, { ok: false, code: 'destination', cause }, reply)
    t.equal(server.connections(), 1)
    await destination.close()
    server.close()
  }
  t.equal(other.connections(), 0)
})
