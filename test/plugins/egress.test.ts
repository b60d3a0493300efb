import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { parseAllowList, type EgressPolicy } from '../../lib/egress/url.ts'
import { createConnector } from '../../plugins/egress/connect.ts'
import {
  EGRESS_ERRORS,
  type EgressClient,
  type EgressErrorCode,
  type EgressRequest,
  type EgressResult,
} from '../../plugins/egress/contract.ts'
import { classify } from '../../plugins/egress/failures.ts'
import { createResolver } from '../../plugins/egress/resolve.ts'
import { createEgressClient, type EgressClientOptions } from '../../plugins/egress/undici.ts'
import { answerWith, startReceiver, type Answer, type Receiver } from '../support/receiver.ts'

/** What a fixture needs of a test. */
interface Scope {
  teardown(handler: () => Promise<void>): void
}
type ClientSetup = Partial<EgressClientOptions> & { readonly allow?: string }

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
const HEAD = 'HTTP/1.1 200 OK\r\n'
const NAME = 'hooks.example.com'

/** 127.0.0.2 stands for a permitted receiver, every other loopback address for an internal one. */
function clientFor(t: Scope, { allow = '127.0.0.2', ...options }: ClientSetup = {}): EgressClient {
  const policy: EgressPolicy = { schemes: ['https', 'http'], allow: parseAllowList(allow) }
  const client = createEgressClient({ policy, resolve: resolvingTo(['127.0.0.2']), ...options })
  t.teardown(() => client.close())
  return client
}

async function receiverFor(
  t: Scope,
  answer: Answer,
  host = '127.0.0.2',
  port = 0,
): Promise<Receiver> {
  const receiver = await startReceiver(answer, { host, port })
  t.teardown(() => receiver.close())
  return receiver
}

function resolvingTo(...answers: readonly (readonly string[])[]): () => Promise<readonly string[]> {
  let asked = 0
  return () => {
    const answer = answers[Math.min(asked, answers.length - 1)] ?? []
    asked += 1
    return Promise.resolve(answer)
  }
}

function requestTo(receiver: Receiver, rest: Partial<EgressRequest> = {}): EgressRequest {
  return {
    url: `http://${NAME}:${receiver.port}/in`,
    method: 'POST',
    headers: { 'content-type': 'application/json', 'X-Service-Event': 'app.created' },
    body: new TextEncoder().encode('{"id":"evt_1"}'),
    timeout: 5000,
    maxResponseBytes: 4096,
    ...rest,
  }
}

function textOf(result: EgressResult): string {
  return result.ok ? new TextDecoder().decode(result.body) : `failed: ${result.code}`
}

function failed(code: EgressErrorCode): object {
  return { ok: false, code, message: EGRESS_ERRORS[code] }
}

void t.test('a request goes out as given and its answer comes back', async (t) => {
  const receiver = await receiverFor(t, answerWith(OK))
  const client = clientFor(t)
  const result = await client.send(requestTo(receiver))
  t.match(result, { ok: true, status: 200, truncated: false, private: true, retryAfter: undefined })
  t.equal(textOf(result), 'ok')
  const [request] = receiver.requests
  t.equal(request?.body, '{"id":"evt_1"}')
  t.strictSame(request?.head.split('\r\n'), [
    'POST /in HTTP/1.1',
    `host: ${NAME}:${receiver.port}`,
    'connection: keep-alive',
    'accept-encoding: identity',
    'content-type: application/json',
    'X-Service-Event: app.created',
    'content-length: 14',
  ])
  const get = requestTo(receiver, { method: 'GET', headers: {}, body: new Uint8Array(0) })
  t.match(await client.send(get), { ok: true, status: 200 })
  t.match(receiver.requests[1]?.head, /^GET \/in /)
})

void t.test('a warm origin reuses its connection and is not resolved again', async (t) => {
  const receiver = await receiverFor(t, answerWith(OK))
  let asked = 0
  const resolve = (): Promise<readonly string[]> => {
    asked += 1
    return Promise.resolve(['127.0.0.2'])
  }
  const client = clientFor(t, { resolve, maxSocketsPerOrigin: 1 })
  for (let count = 0; count < 5; count += 1) {
    t.match(await client.send(requestTo(receiver)), { ok: true })
  }
  t.equal(receiver.connections, 1)
  t.equal(asked, 1)
})

void t.test('concurrent requests share at most the permitted connections', async (t) => {
  const receiver = await receiverFor(t, answerWith(OK))
  const client = clientFor(t, { maxSocketsPerOrigin: 3 })
  const sends = Array.from({ length: 20 }, () => client.send(requestTo(receiver)))
  for (const result of await Promise.all(sends)) t.match(result, { ok: true, status: 200 })
  t.equal(receiver.connections, 3)
})

void t.test('connections are pinned', (t) => {
  void t.test(
    'a name that flips to a forbidden address is refused before any connect',
    async (t) => {
      const internal = await receiverFor(t, answerWith(OK), '127.0.0.1')
      const receiver = await receiverFor(t, answerWith(OK), '127.0.0.2', internal.port)
      let now = 0
      const resolve = resolvingTo(['127.0.0.2'], ['127.0.0.1'])
      const client = clientFor(t, { resolve, clock: () => now })
      t.match(await client.send(requestTo(receiver)), { ok: true })
      now += 5000
      const refused = { ...failed('refused_address'), reason: 'address_loopback' }
      t.match(await client.send(requestTo(receiver)), refused)
      t.match(await client.send(requestTo(receiver)), refused, 'also while the verdict holds')
      t.equal(internal.connections, 0)
      t.equal(receiver.requests.length, 1, 'the warm connection is not reused either')
    },
  )

  void t.test('the lookup that judges is the lookup that connects', async (t) => {
    const internal = await receiverFor(t, answerWith(OK), '127.0.0.1')
    const receiver = await receiverFor(t, answerWith(OK), '127.0.0.2', internal.port)
    const client = clientFor(t, { resolve: resolvingTo(['127.0.0.2'], ['127.0.0.1']) })
    t.match(await client.send(requestTo(receiver)), { ok: true })
    t.equal(receiver.connections, 1)
    t.equal(internal.connections, 0)
  })

  void t.test('one forbidden answer refuses the attempt', async (t) => {
    const receiver = await receiverFor(t, answerWith(OK))
    for (const answers of [
      ['127.0.0.2', '127.0.0.1'],
      ['::1', '127.0.0.2'],
      ['127.0.0.2', '::ffff:10.0.0.1'],
      ['127.0.0.2', 'fe80::1%lo'],
    ]) {
      const client = clientFor(t, { resolve: resolvingTo(answers) })
      t.match(await client.send(requestTo(receiver)), failed('refused_address'), answers.join())
    }
    t.equal(receiver.connections, 0)
  })

  void t.test('a literal address is judged without a lookup', async (t) => {
    const internal = await receiverFor(t, answerWith(OK), '127.0.0.1')
    const receiver = await receiverFor(t, answerWith(OK), '127.0.0.2', internal.port)
    const resolve = (): Promise<readonly string[]> => Promise.reject(new Error('not for literals'))
    const client = clientFor(t, { resolve })
    const send = (host: string): Promise<EgressResult> =>
      client.send(requestTo(receiver, { url: `http://${host}:${receiver.port}/` }))
    t.match(await send('127.0.0.2'), { ok: true, private: true })
    t.match(await send('[::ffff:127.0.0.2]'), { ok: true }, 'mapped, and compared as mapped')
    for (const host of [
      '127.0.0.1',
      '0.0.0.0',
      '2130706433',
      '127.1',
      '[::ffff:7f00:1]',
      '[::1]',
    ]) {
      t.match(await send(host), failed('refused_address'), host)
    }
    t.equal(internal.connections, 0)
  })

  void t.test('a socket that reached another address sends nothing', async (t) => {
    const receiver = await receiverFor(t, answerWith(OK))
    const addresses = ['127.0.0.3']
    const connect = createConnector({ addresses, timeout: 2000, sockets: new Set() })
    for (const protocol of ['http:', 'https:']) {
      const target = { hostname: '127.0.0.2', protocol, port: String(receiver.port) }
      const error = await new Promise((resolve) => connect(target, (...[error]) => resolve(error)))
      t.match(error, { failure: 'refused_address', reason: 'address_unpinned' }, protocol)
    }
    await receiver.allClosed()
    t.equal(receiver.bytes, 0)
  })

  void t.test(
    'changed addresses get new connections, and the old ones are closed',
    { timeout: 3000 },
    async (t) => {
      // Asks for a long idle time, so that only a closed pool closes the connection in time.
      const patient = answerWith(`${HEAD}keep-alive: timeout=60\r\ncontent-length: 0\r\n\r\n`)
      const first = await receiverFor(t, patient)
      const second = await receiverFor(t, answerWith(OK), '127.0.0.3', first.port)
      let now = 0
      const client = clientFor(t, {
        allow: '127.0.0.2,127.0.0.3',
        resolve: resolvingTo(['127.0.0.2'], ['127.0.0.3']),
        clock: () => now,
      })
      await client.send(requestTo(first))
      now += 5000
      t.match(await client.send(requestTo(first)), { ok: true })
      await first.allClosed()
      t.strictSame([first.requests.length, second.requests.length], [1, 1])
    },
  )

  void t.test('a connection is not used beyond 60 s, for names and for literals', async (t) => {
    for (const host of [NAME, '127.0.0.2']) {
      const receiver = await receiverFor(t, answerWith(OK))
      let now = 0
      const client = clientFor(t, { clock: () => now, maxSocketsPerOrigin: 1 })
      const request = requestTo(receiver, { url: `http://${host}:${receiver.port}/` })
      await client.send(request)
      now += 59_000
      await client.send(request)
      t.equal(receiver.connections, 1, `${host} within`)
      now += 1000
      t.match(await client.send(request), { ok: true })
      t.equal(receiver.connections, 2, `${host} beyond`)
    }
  })

  t.end()
})

void t.test('names that do not resolve', (t) => {
  void t.test('fail as dns, and are asked for again', async (t) => {
    const receiver = await receiverFor(t, answerWith(OK))
    let now = 0
    let answer: () => Promise<readonly string[]> = () => Promise.reject(new Error('SERVFAIL'))
    const client = clientFor(t, { resolve: () => answer(), clock: () => now })
    t.match(await client.send(requestTo(receiver)), failed('dns'))
    answer = () => {
      throw new Error('not even a promise')
    }
    now += 1000
    t.match(await client.send(requestTo(receiver)), failed('dns'))
    answer = () => Promise.resolve([])
    now += 1000
    t.match(await client.send(requestTo(receiver)), { ...failed('dns'), reason: 'no_answer' })
    answer = () => Promise.resolve(['127.0.0.2'])
    t.match(await client.send(requestTo(receiver)), failed('dns'), 'held for a second')
    now += 1000
    t.match(await client.send(requestTo(receiver)), { ok: true })
  })

  void t.test(
    'a verdict is renewed early, and a failed renewal does not end it early',
    async (t) => {
      const receiver = await receiverFor(t, answerWith(OK))
      let now = 0
      let asked = 0
      const resolve = (): Promise<readonly string[]> => {
        asked += 1
        return asked === 1 ? Promise.resolve(['127.0.0.2']) : Promise.reject(new Error('SERVFAIL'))
      }
      const client = clientFor(t, { resolve, clock: () => now })
      await client.send(requestTo(receiver))
      now = 3000
      t.match(await client.send(requestTo(receiver)), { ok: true })
      t.equal(asked, 2)
      now = 4999
      t.match(await client.send(requestTo(receiver)), { ok: true })
      now = 5000
      t.match(await client.send(requestTo(receiver)), failed('dns'))
    },
  )

  void t.test('a slow resolver counts into the deadline', async (t) => {
    const receiver = await receiverFor(t, answerWith(OK))
    const client = clientFor(t, { resolve: () => new Promise(() => undefined) })
    t.match(await client.send(requestTo(receiver, { timeout: 200 })), failed('timeout'))
    t.equal(receiver.connections, 0)
  })

  void t.test('the system resolver serves listed names alone', async (t) => {
    const resolve = createResolver({ timeout: 2000, systemHosts: ['localhost'] })
    for (const address of await resolve('localhost')) t.ok(isIP(address), address)
    const receiver = await receiverFor(t, answerWith(OK), '127.0.0.1')
    const policy: EgressPolicy = { schemes: ['https'], allow: parseAllowList('localhost') }
    const client = createEgressClient({ policy })
    t.teardown(() => client.close())
    const url = `http://localhost:${receiver.port}/`
    t.match(await client.send(requestTo(receiver, { url })), { ok: true, private: true })
  })

  t.end()
})

void t.test('registration', async (t) => {
  const judge = async (url: string, answers: readonly string[]): Promise<string> => {
    const verdict = await clientFor(t, { resolve: resolvingTo(answers) }).judge(url)
    return verdict.ok ? verdict.url.href : verdict.reason
  }
  t.equal(await judge('https://hooks.example.com.', ['8.8.8.8']), 'https://hooks.example.com/')
  t.equal(await judge('https://hooks.example.com/', ['10.0.0.1']), 'address_private')
  t.equal(await judge('https://hooks.example.com/', []), 'https://hooks.example.com/')
  t.equal(await judge('https://10.0.0.1/', []), 'address_private')
  t.equal(await judge('https://8.8.8.8/', []), 'https://8.8.8.8/')
  const unresolvable = clientFor(t, { resolve: () => Promise.reject(new Error('SERVFAIL')) })
  t.match(await unresolvable.judge('https://hooks.example.com/'), { ok: true })
})

interface HostileRow {
  readonly title: string
  readonly answer: Answer
  readonly expected: object
  readonly body?: string
  readonly rest?: Partial<EgressRequest>
}

const every = (socket: Parameters<Answer>[0], bytes: string): void => {
  const timer = setInterval(() => socket.write(bytes), 20)
  socket.once('close', () => clearInterval(timer))
}

const HOSTILE: readonly HostileRow[] = [
  {
    title: 'never answers: timeout',
    answer: () => undefined,
    expected: failed('timeout'),
    rest: { timeout: 250 },
  },
  {
    title: 'trickles headers: timeout',
    answer: (socket) => {
      socket.write(HEAD)
      every(socket, 'x-a: b\r\n')
    },
    expected: failed('timeout'),
    rest: { timeout: 250 },
  },
  {
    title: 'trickles the body: the status counts',
    answer: (socket) => {
      socket.write(`${HEAD}content-length: 1000\r\n\r\n`)
      every(socket, 'x')
    },
    expected: { ok: true, status: 200, truncated: true },
    rest: { timeout: 250 },
  },
  {
    title: 'stops within the body: the status counts',
    answer: answerWith('HTTP/1.1 500 No\r\ncontent-length: 10\r\n\r\nabc'),
    expected: { ok: true, status: 500, truncated: true },
    body: 'abc',
    rest: { timeout: 250 },
  },
  {
    title: 'sends a huge body: cut at the limit',
    answer: (socket) => {
      socket.write(`${HEAD}content-length: 1073741824\r\n\r\n`)
      socket.on('drain', () => socket.write('x'.repeat(65_536)))
      while (socket.write('x'.repeat(65_536)));
    },
    expected: { ok: true, status: 200, truncated: true },
    body: 'x'.repeat(4096),
  },
  {
    title: 'sends one byte more than the limit: cut',
    answer: answerWith(`${HEAD}content-length: 5\r\n\r\nabcde`),
    expected: { ok: true, truncated: true },
    body: 'abcd',
    rest: { maxResponseBytes: 4 },
  },
  {
    title: 'sends exactly the limit: whole',
    answer: answerWith(`${HEAD}content-length: 4\r\n\r\nabcd`),
    expected: { ok: true, truncated: false },
    body: 'abcd',
    rest: { maxResponseBytes: 4 },
  },
  {
    title: 'sends 40 KB of headers: protocol',
    answer: answerWith(`${HEAD}x-large: ${'a'.repeat(40_960)}\r\n\r\n`),
    expected: failed('protocol'),
  },
  {
    title: 'answers 101: protocol',
    answer: answerWith(
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n',
    ),
    expected: failed('protocol'),
  },
  {
    title: 'answers 101 without the upgrade headers: protocol',
    answer: answerWith('HTTP/1.1 101 Switching Protocols\r\n\r\n'),
    expected: failed('protocol'),
  },
  {
    title: 'floods with 103: protocol',
    answer: (socket) => every(socket, 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'),
    expected: failed('protocol'),
  },
  {
    title: 'sends five 103 before its answer: accepted',
    answer: answerWith(`${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(5)}${OK}`),
    expected: { ok: true, status: 200, truncated: false },
    body: 'ok',
  },
  {
    title: 'sends six: protocol',
    answer: answerWith(`${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(6)}${OK}`),
    expected: failed('protocol'),
  },
  {
    title: 'answers with status 999: protocol',
    answer: answerWith('HTTP/1.1 999 Beyond\r\ncontent-length: 0\r\n\r\n'),
    expected: failed('protocol'),
  },
  {
    title: 'does not speak HTTP: protocol',
    answer: answerWith('220 smtp.example.com ESMTP\r\n'),
    expected: failed('protocol'),
  },
  {
    title: 'sends both a length and chunks: protocol',
    answer: answerWith(`${HEAD}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`),
    expected: failed('protocol'),
  },
  {
    title: 'sends a body with 204: the status counts',
    answer: answerWith('HTTP/1.1 204 No Content\r\n\r\nbut a body'),
    expected: { ok: true, status: 204 },
    body: '',
  },
  {
    title: 'closes within the body: the status counts',
    answer: (socket) => socket.end(`${HEAD}content-length: 10\r\n\r\nabc`),
    expected: { ok: true, status: 200, truncated: true },
    body: 'abc',
  },
  {
    title: 'resets within the body: the status counts',
    answer: (socket) => {
      socket.write(`${HEAD}content-length: 10\r\n\r\nabc`, () => {
        setImmediate(() => socket.resetAndDestroy())
      })
    },
    expected: { ok: true, status: 200, truncated: true },
  },
  {
    title: 'ends a body without a length by closing: whole',
    answer: (socket) => socket.end(`${HEAD}\r\nabc`),
    expected: { ok: true, status: 200, truncated: false },
    body: 'abc',
  },
  {
    title: 'closes without an answer: reset',
    answer: (socket) => socket.end(),
    expected: failed('reset'),
  },
  {
    title: 'resets without an answer: reset',
    answer: (socket) => socket.resetAndDestroy(),
    expected: failed('reset'),
  },
  {
    title: 'redirects: not followed',
    answer: answerWith(
      'HTTP/1.1 307 Temporary Redirect\r\nlocation: http://127.0.0.2/\r\ncontent-length: 0\r\n\r\n',
    ),
    expected: { ok: true, status: 307, truncated: false },
  },
  {
    title: 'asks to wait: the raw header is given',
    answer: answerWith('HTTP/1.1 503 Busy\r\nRETRY-After: 120\r\ncontent-length: 0\r\n\r\n'),
    expected: { ok: true, status: 503, retryAfter: '120' },
  },
  {
    title: 'asks to wait in a long header: cut',
    answer: answerWith(`HTTP/1.1 429 No\r\nretry-after: ${'9'.repeat(500)}\r\n\r\n`),
    expected: { ok: true, status: 429, retryAfter: '9'.repeat(128) },
    rest: { timeout: 250 },
  },
  {
    title: 'sends compressed bytes: given as they are',
    answer: answerWith(`${HEAD}content-encoding: gzip\r\ncontent-length: 4\r\n\r\nbomb`),
    expected: { ok: true, truncated: false },
    body: 'bomb',
  },
]

void t.test('a receiver that', (t) => {
  for (const { title, answer, expected, body, rest } of HOSTILE) {
    void t.test(title, async (t) => {
      const receiver = await receiverFor(t, answer)
      const client = clientFor(t)
      const result = await client.send(requestTo(receiver, rest))
      t.match(result, expected)
      if (body !== undefined) t.equal(textOf(result), body)
      t.ok(result.durationMs >= 0 && result.durationMs < 5000)
      t.equal(receiver.requests.length, 1, 'sent once')
      await client.close()
      await receiver.allClosed()
    })
  }
  t.end()
})

void t.test('a hostile exchange harms no later one', async (t) => {
  let answered = 0
  const receiver = await receiverFor(t, (socket) => {
    answered += 1
    const bad = [
      `${HEAD}content-length: 99\r\n\r\nabc`,
      'HTTP/1.1 204 No Content\r\n\r\njunk',
      'x\r\n',
    ]
    socket.write(bad[answered % 4] ?? OK)
  })
  const client = clientFor(t, { maxSocketsPerOrigin: 1 })
  for (let round = 0; round < 3; round += 1) {
    const statuses: (number | string)[] = []
    for (let count = 0; count < 4; count += 1) {
      const result = await client.send(requestTo(receiver, { timeout: 300 }))
      statuses.push(result.ok ? result.status : result.code)
    }
    t.strictSame(statuses, [204, 'protocol', 200, 200])
  }
})

void t.test('attempts that time out in the queue are never sent', async (t) => {
  const release: (() => void)[] = []
  const receiver = await receiverFor(t, (socket) => release.push(() => socket.write(OK)))
  const client = clientFor(t, { maxSocketsPerOrigin: 1 })
  const first = client.send(requestTo(receiver))
  const queued = Array.from({ length: 3 }, () => client.send(requestTo(receiver, { timeout: 200 })))
  for (const result of await Promise.all(queued)) t.match(result, failed('timeout'))
  const last = client.send(requestTo(receiver))
  release.shift()?.()
  t.match(await first, { ok: true })
  while (release.length === 0) await new Promise((resolve) => setImmediate(resolve))
  release.shift()?.()
  t.match(await last, { ok: true })
  t.equal(receiver.requests.length, 2)
  t.equal(receiver.connections, 1, 'and the connection is kept')
})

void t.test('a closed port is a connect failure, on every address', async (t) => {
  const receiver = await startReceiver(answerWith(OK), { host: '127.0.0.2' })
  const request = requestTo(receiver)
  await receiver.close()
  t.match(await clientFor(t).send(request), failed('connect'))
  const two = { allow: '127.0.0.2,127.0.0.3', resolve: resolvingTo(['127.0.0.2', '127.0.0.3']) }
  t.match(await clientFor(t, two).send(request), failed('connect'))
})

void t.test('the next judged address serves when the first is closed', async (t) => {
  const receiver = await receiverFor(t, answerWith(OK), '127.0.0.3')
  const resolve = resolvingTo(['127.0.0.2', '127.0.0.3'])
  const client = clientFor(t, { allow: '127.0.0.2,127.0.0.3', resolve })
  t.match(await client.send(requestTo(receiver)), { ok: true })
})

void t.test('forbidden headers, and headers that are not HTTP, end the call unsent', async (t) => {
  const receiver = await receiverFor(t, answerWith(OK))
  const client = clientFor(t, { maxSocketsPerOrigin: 1 })
  const bad: readonly Readonly<Record<string, string>>[] = [
    { Host: 'internal.example.com' },
    { 'Accept-Encoding': 'gzip' },
    { 'transfer-encoding': 'chunked' },
    { 'content-length': '3' },
    { connection: 'close' },
    { expect: '100-continue' },
    { 'x-a': 'b\r\nx-c: d' },
    { 'x-a': '✓' },
    { 'x a': 'b' },
    { '': 'b' },
  ]
  for (const headers of bad) {
    t.match(await client.send(requestTo(receiver, { headers })), failed('protocol'))
  }
  t.equal(receiver.connections, 0)
  t.match(await client.send(requestTo(receiver)), { ok: true }, 'and the origin still works')
})

void t.test('proxies of the environment are ignored', async (t) => {
  const receiver = await receiverFor(t, answerWith(OK))
  const proxy = await receiverFor(t, answerWith('HTTP/1.1 502 Proxy\r\n\r\n'), '127.0.0.1')
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((n) => [n, n.toLowerCase()])
  const address = `http://127.0.0.1:${proxy.port}`
  t.intercept(process, 'env', {
    value: {
      ...process.env,
      NODE_USE_ENV_PROXY: '1',
      ...Object.fromEntries(names.map((name) => [name, address])),
    },
  })
  t.equal(process.env.HTTP_PROXY, address)
  t.match(await clientFor(t).send(requestTo(receiver)), { ok: true, status: 200 })
  t.equal(proxy.connections, 0)
})

void t.test('TLS', async (t) => {
  const certify = async (name: string): Promise<{ key: string; cert: string }> => {
    const directory = t.testdir()
    const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')]
    const options = [
      ['req', '-x509', '-nodes', '-days', '1', '-subj', `/CN=${name}`],
      ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'],
      ['-addext', `subjectAltName=DNS:${name}`, '-keyout', key, '-out', cert],
    ].flat()
    await promisify(execFile)('openssl', options)
    return { key: await readFile(key, 'utf8'), cert: await readFile(cert, 'utf8') }
  }
  const tls = await certify(NAME)
  const receiver = await startReceiver(answerWith(OK), { host: '127.0.0.2', tls })
  t.teardown(() => receiver.close())
  const send = (options: ClientSetup, host = NAME): Promise<EgressResult> =>
    clientFor(t, options).send(
      requestTo(receiver, { url: `https://${host}:${receiver.port}/`, timeout: 2000 }),
    )

  t.match(await send({}), failed('tls'), 'a self-signed certificate')
  t.match(await send({ tls: { ca: tls.cert } }, 'other.example.com'), failed('tls'), 'another name')
  t.match(await send({ tls: { ca: tls.cert } }, '127.0.0.2'), failed('tls'), 'an address')
  t.equal(receiver.requests.length, 0, 'nothing was sent')

  const client = clientFor(t, { tls: { ca: tls.cert }, maxSocketsPerOrigin: 1 })
  const request = requestTo(receiver, { url: `https://${NAME}.:${receiver.port}/` })
  for (let count = 0; count < 3; count += 1) t.match(await client.send(request), { ok: true })
  t.equal(receiver.serverNames.at(-1), NAME, 'the name is asked for, though the address is pinned')
  t.match(receiver.requests[0]?.head, `host: ${NAME}:${receiver.port}`)
  t.equal(new Set(receiver.requests.map(({ connection }) => connection)).size, 1, 'one connection')
  await client.close()
  await receiver.allClosed()

  const plain = await receiverFor(t, answerWith(OK))
  const url = `https://${NAME}:${plain.port}/`
  const silent = clientFor(t).send(requestTo(plain, { url, timeout: 300 }))
  t.match(await silent, failed('timeout'), 'a receiver that does not shake hands')
})

void t.test('errors are classified by code', (t) => {
  const rows: readonly (readonly [string, EgressErrorCode])[] = [
    ['ECONNREFUSED', 'connect'],
    ['EHOSTUNREACH', 'connect'],
    ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
    ['ETIMEDOUT', 'timeout'],
    ['CERT_HAS_EXPIRED', 'tls'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls'],
    ['ERR_SSL_UNSUPPORTED_PROTOCOL', 'tls'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls'],
    ['EPROTO', 'tls'],
    ['HPE_INVALID_CONSTANT', 'protocol'],
    ['UND_ERR_HEADERS_OVERFLOW', 'protocol'],
    ['ECONNRESET', 'reset'],
    ['EPIPE', 'reset'],
    ['UND_ERR_SOCKET', 'reset'],
    ['ENOTFOUND', 'dns'],
    ['UND_ERR_DESTROYED', 'aborted'],
    ['E_UNHEARD_OF', 'protocol'],
  ]
  for (const [code, expected] of rows) {
    t.equal(classify(Object.assign(new Error('x'), { code })), expected, code)
  }
  t.equal(classify(new Error('without a code')), 'protocol')
  t.end()
})

void t.test('closing waits for what is under way and refuses what comes later', async (t) => {
  const release: (() => void)[] = []
  const receiver = await receiverFor(t, (socket) => release.push(() => socket.write(OK)))
  const client = clientFor(t)
  const pending = client.send(requestTo(receiver))
  while (release.length === 0) await new Promise((resolve) => setImmediate(resolve))
  const closed = client.close()
  t.match(await client.send(requestTo(receiver)), failed('aborted'))
  release[0]?.()
  t.match(await pending, { ok: true, status: 200 })
  await closed
  await receiver.allClosed()
  t.equal(receiver.requests.length, 1)
})

void t.test('a refused url is a result, never an exception', async (t) => {
  const receiver = await receiverFor(t, answerWith(OK))
  const client = clientFor(t)
  const send = (url: string): Promise<EgressResult> => client.send(requestTo(receiver, { url }))
  t.match(await send('ftp://a.b/'), { ...failed('refused_address'), reason: 'scheme' })
  t.match(await send('nonsense'), { ...failed('refused_address'), reason: 'malformed' })
  t.match(await send('http://redis/'), {
    ...failed('refused_address'),
    reason: 'name_single_label',
  })
})
