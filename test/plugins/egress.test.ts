import { isIP } from 'node:net'
import t from 'tap'
import { parseAllowList, type EgressPolicy } from '../../lib/egress/url.ts'
import { createConnector } from '../../plugins/egress/connect.ts'
import type { EgressErrorCode, EgressResult } from '../../plugins/egress/contract.ts'
import { classify } from '../../plugins/egress/failures.ts'
import { createResolver } from '../../plugins/egress/resolve.ts'
import { createEgressClient } from '../../plugins/egress/undici.ts'
import {
  certify,
  clientFor,
  failed,
  HEAD,
  NAME,
  OK,
  receiverAt,
  requestTo,
  resolvingTo,
  textOf,
} from '../support/egress.ts'
import { answerWith, startReceiver } from '../support/receiver.ts'

void t.test('a request goes out as given and its answer comes back', async (t) => {
  const receiver = await receiverAt(t, answerWith(OK))
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
  const receiver = await receiverAt(t, answerWith(OK))
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
  const receiver = await receiverAt(t, answerWith(OK))
  const client = clientFor(t, { maxSocketsPerOrigin: 3 })
  const sends = Array.from({ length: 20 }, () => client.send(requestTo(receiver)))
  for (const result of await Promise.all(sends)) t.match(result, { ok: true, status: 200 })
  t.equal(receiver.connections, 3)
})

void t.test(
  'of many origins, those not used for the longest give up their connections',
  async (t) => {
    const receivers = await Promise.all(
      Array.from({ length: 20 }, () => receiverAt(t, answerWith(OK))),
    )
    let now = 0
    const client = clientFor(t, {
      maxSocketsPerOrigin: 1,
      maxSockets: 8,
      clock: () => (now += 100),
    })
    const openNow = (): number => receivers.reduce((sum, { open }) => sum + open, 0)
    for (const receiver of receivers) {
      t.match(await client.send(requestTo(receiver)), { ok: true, status: 200 })
    }
    const [first, last] = [receivers[0], receivers.at(-1)]
    if (first === undefined || last === undefined) throw new Error('there are twenty')
    // A connection that was given up takes a moment to close.
    await Promise.all(receivers.slice(0, 12).map((receiver) => receiver.allClosed()))
    t.equal(openNow(), 8)
    await client.send(requestTo(last))
    t.equal(last.connections, 1, 'who was used last kept its own')
    t.match(await client.send(requestTo(first)), { ok: true }, 'who gave it up gets another')
    t.equal(first.connections, 2)
  },
)

void t.test('connections are pinned', (t) => {
  void t.test('a literal address is judged without a lookup', async (t) => {
    const internal = await receiverAt(t, answerWith(OK), '127.0.0.1')
    const receiver = await receiverAt(t, answerWith(OK), '127.0.0.2', internal.port)
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
    const receiver = await receiverAt(t, answerWith(OK))
    const addresses = ['127.0.0.3']
    const connect = createConnector({
      addresses,
      timeout: 2000,
      isWanted: () => true,
      sockets: new Set(),
    })
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
      const first = await receiverAt(t, patient)
      const second = await receiverAt(t, answerWith(OK), '127.0.0.3', first.port)
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
      const receiver = await receiverAt(t, answerWith(OK))
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
    const receiver = await receiverAt(t, answerWith(OK))
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
    t.match(await client.send(requestTo(receiver)), {
      ...failed('dns', 'not_found'),
      reason: 'no_answer',
    })
    answer = () => Promise.resolve(['127.0.0.2'])
    t.match(await client.send(requestTo(receiver)), failed('dns', 'not_found'), 'held for a second')
    now += 1000
    t.match(await client.send(requestTo(receiver)), { ok: true })
  })

  void t.test(
    'a verdict is renewed early, and a failed renewal does not end it early',
    async (t) => {
      const receiver = await receiverAt(t, answerWith(OK))
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

  void t.test('the system resolver serves listed names alone', async (t) => {
    const resolve = createResolver({ timeout: 2000, systemHosts: ['localhost'] })
    for (const address of await resolve('localhost')) t.ok(isIP(address), address)
    const receiver = await receiverAt(t, answerWith(OK), '127.0.0.1')
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

void t.test('attempts that time out in the queue are never sent', async (t) => {
  const release: (() => void)[] = []
  const receiver = await receiverAt(t, (socket) => release.push(() => socket.write(OK)))
  const client = clientFor(t, { maxSocketsPerOrigin: 1 })
  const first = client.send(requestTo(receiver))
  const queued = Array.from({ length: 3 }, () => client.send(requestTo(receiver, { timeout: 200 })))
  for (const result of await Promise.all(queued))
    t.match(result, failed('timeout', 'connect_timeout'))
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
  t.match(await clientFor(t).send(request), failed('connect', 'refused'))
  const two = { allow: '127.0.0.2,127.0.0.3', resolve: resolvingTo(['127.0.0.2', '127.0.0.3']) }
  t.match(await clientFor(t, two).send(request), failed('connect', 'refused'))
})

void t.test('the next judged address serves when the first is closed', async (t) => {
  const receiver = await receiverAt(t, answerWith(OK), '127.0.0.3')
  const resolve = resolvingTo(['127.0.0.2', '127.0.0.3'])
  const client = clientFor(t, { allow: '127.0.0.2,127.0.0.3', resolve })
  t.match(await client.send(requestTo(receiver)), { ok: true })
})

void t.test('a failure of the certificate says which', async (t) => {
  const rows = [
    { name: 'other.example', days: 1, trusted: true, cause: 'certificate_name' },
    { name: NAME, days: -1, trusted: true, cause: 'certificate_expired' },
    { name: NAME, days: 1, trusted: false, cause: 'certificate_untrusted' },
  ] as const
  for (const { name, days, trusted, cause } of rows) {
    const tls = await certify(t.testdir(), name, days)
    const receiver = await startReceiver(answerWith(OK), { host: '127.0.0.2', tls })
    t.teardown(() => receiver.close())
    const client = clientFor(t, trusted ? { tls: { ca: tls.cert } } : {})
    const url = `https://${NAME}:${receiver.port}/`
    t.match(await client.send(requestTo(receiver, { url })), failed('tls', cause), cause)
  }
})

void t.test('TLS', async (t) => {
  const tls = await certify(t.testdir(), NAME)
  const receiver = await startReceiver(answerWith(OK), { host: '127.0.0.2', tls })
  t.teardown(() => receiver.close())
  const client = clientFor(t, { tls: { ca: tls.cert }, maxSocketsPerOrigin: 1 })
  const request = requestTo(receiver, { url: `https://${NAME}.:${receiver.port}/` })
  for (let count = 0; count < 3; count += 1) t.match(await client.send(request), { ok: true })
  t.match(receiver.requests[0]?.head, `host: ${NAME}:${receiver.port}`)
  t.equal(new Set(receiver.requests.map(({ connection }) => connection)).size, 1, 'one connection')
  await client.close()
  await receiver.allClosed()

  const plain = await receiverAt(t, answerWith(OK))
  const url = `https://${NAME}:${plain.port}/`
  const silent = clientFor(t).send(requestTo(plain, { url, timeout: 300 }))
  t.match(
    await silent,
    failed('timeout', 'connect_timeout'),
    'a receiver that does not shake hands',
  )
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
  const receiver = await receiverAt(t, (socket) => release.push(() => socket.write(OK)))
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
  const receiver = await receiverAt(t, answerWith(OK))
  const client = clientFor(t)
  const send = (url: string): Promise<EgressResult> => client.send(requestTo(receiver, { url }))
  t.match(await send('ftp://a.b/'), { ...failed('refused_address'), reason: 'scheme' })
  t.match(await send('nonsense'), { ...failed('refused_address'), reason: 'malformed' })
  t.match(await send('http://redis/'), {
    ...failed('refused_address'),
    reason: 'name_single_label',
  })
})
