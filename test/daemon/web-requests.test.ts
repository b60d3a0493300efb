import type { IncomingMessage, ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { Test } from 'tap'
import t from 'tap'
import { callbackOf } from '../../daemon/embed/routes.ts'
import type { WebHandler, WebOptions } from '../../daemon/embed/web/handler.ts'
import { webOf } from '../../daemon/embed/web/handler.ts'
import { watchReader } from '../../daemon/http/slow-readers.ts'
import { until } from '../support/daemon.ts'

type Serve = (request: IncomingMessage, response: ServerResponse) => void

const ADDRESS = 'http://shop.example/developer/things?limit=2'

function serving(serve: Serve, address?: WebOptions['address']): WebHandler {
  return webOf(callbackOf(serve, '/developer'), address)
}

function post(body: ConstructorParameters<typeof Response>[0], init: RequestInit = {}): Request {
  return new Request(ADDRESS, { method: 'POST', body, duplex: 'half', ...init } as RequestInit)
}

/** A stream that counts what was taken of it, and says when its reader has left. */
function counted(pieces: number, size = 16_384) {
  const seen = { taken: 0, isCanceled: false }
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(body) {
        seen.taken++
        body.enqueue(new Uint8Array(size))
        if (seen.taken === pieces) body.close()
      },
      cancel() {
        seen.isCanceled = true
      },
    },
    { highWaterMark: 0 },
  )
  return { seen, stream }
}

await t.test('a request has the form that node:http gives it', async (t) => {
  const seen: unknown[] = []
  const web = serving(
    (request, response) => {
      const { method, url, headers, socket, httpVersionMajor } = request
      seen.push({ method, url, headers, httpVersionMajor, from: socket.remoteAddress })
      response.statusCode = 201
      response.setHeader('Set-Cookie', ['a=1', 'b=2'])
      response.setHeader('X-Thing', 5)
      response.setHeader('Connection', 'close')
      response.end('made')
    },
    (_request, peer) => String(peer),
  )
  const answer = await web(new Request(ADDRESS, { headers: { 'X-One': 'é' } }), '192.0.2.7')
  t.strictSame(seen, [
    {
      method: 'GET',
      url: '/things?limit=2',
      headers: { host: 'shop.example', 'x-one': 'é' },
      httpVersionMajor: 1,
      from: '192.0.2.7',
    },
  ])
  t.equal(answer.status, 201)
  t.strictSame(answer.headers.getSetCookie(), ['a=1', 'b=2'])
  t.equal(answer.headers.get('x-thing'), '5')
  t.equal(answer.headers.get('connection'), null)
  t.equal(await answer.text(), 'made')
})

await t.test('what is no request, and an address that is none, are refused', async (t) => {
  const web = serving(
    (_request, response) => response.end(),
    () => 'example.com',
  )
  for (const wrong of [undefined, null, 'http://x', {}, { url: 'http://x', method: 'GET' }]) {
    await t.rejects(web(wrong as Request), { name: 'TypeError' })
  }
  await t.rejects(web(new Request(ADDRESS)), { name: 'TypeError', message: /IP address/ })
})

await t.test('a body is announced, and read no faster than it is taken', async (t) => {
  const { seen, stream } = counted(400)
  const headers: IncomingMessage['headers'][] = []
  let request: IncomingMessage | undefined
  const answered = serving((given, response) => {
    headers.push(given.headers)
    request = given
    given.once('end', () => response.end('all of it'))
  })(post(stream))
  request?.once('data', () => request?.pause())
  await turns()
  t.ok(seen.taken < 20, `${seen.taken} pieces are read ahead`)
  t.equal(headers[0]?.['transfer-encoding'], 'chunked')
  let size = 16_384
  request?.on('data', (chunk: Buffer) => (size += chunk.length)).resume()
  t.equal(await (await answered).text(), 'all of it')
  t.equal(size, 400 * 16_384)
  t.equal(request?.complete, true)
})

await t.test('the rest of a body is not read once the response was sent', async (t) => {
  const { seen, stream } = counted(400)
  const web = serving((_request, response) => {
    response.statusCode = 413
    response.end('too much')
  })
  t.equal((await web(post(stream))).status, 413)
  await until('the body is dropped', async () => seen.isCanceled)
  t.ok(seen.taken < 20)
})

await t.test('a body that somebody else has read is told as ended', async (t) => {
  const request = post('text')
  await request.text()
  const ends: boolean[] = []
  const web = serving((given, response) => {
    ends.push(given.readableEnded)
    response.end()
  })
  await web(request)
  t.strictSame(ends, [true])
})

await t.test('a response is written no faster than it is read', async (t) => {
  let response: ServerResponse | undefined
  let socket: IncomingMessage['socket'] | undefined
  const web = serving((request, given) => {
    response = given
    socket = request.socket
    given.write(Buffer.alloc(1_000_000))
    given.end(Buffer.alloc(500_000))
  })
  const answer = await web(new Request(ADDRESS))
  await turns()
  t.equal(response?.writableFinished, false)
  t.equal(socket?.writableLength, 1_500_000, 'nothing is taken before it is read')
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader()
  const { value } = await reader.read()
  t.ok((value?.length ?? Infinity) <= 65_536, 'one piece at a time')
  let size = value?.length ?? 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    size += value.length
  }
  t.equal(size, 1_500_000)
  await until('the exchange is over', async () => socket?.destroyed === true)
  t.equal(response?.writableFinished, true)
})

await t.test('a reader that stops reading is cut', async (t) => {
  const waits: (() => void)[] = []
  let now = 0
  const clock = {
    steady: () => now,
    after: (_delay: number, run: () => void) => {
      waits.push(run)
      return () => undefined
    },
  }
  let isCut = false
  const web = serving((request, response) => {
    watchReader(request.socket, { clock }, () => (isCut = true))
    response.end(Buffer.alloc(1_000_000))
  })
  const answer = await web(new Request(ADDRESS))
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader()
  const tick = (): void => {
    now += 5000
    waits.shift()?.()
  }
  for (let n = 0; n < 8; n++) {
    await reader.read()
    tick()
  }
  t.equal(isCut, false, 'one that reads on is not')
  for (let n = 0; n < 10; n++) tick()
  t.equal(isCut, true)
  await turns()
  await t.rejects(reader.read(), { code: 'unavailable' })
})

await t.test('a client that leaves ends both sides', async (t) => {
  const ways: Readonly<Record<string, (leave: AbortController, answer: Response) => unknown>> = {
    'by the signal of its request': (leave) => leave.abort(new Error('gone')),
    'by canceling the response': (_leave, answer) => answer.body?.cancel(),
  }
  for (const [way, go] of Object.entries(ways)) {
    await t.test(way, async (t) => {
      const closed: string[] = []
      const { seen, stream } = counted(400)
      const leave = new AbortController()
      const web = serving((request, response) => {
        request.once('aborted', () => closed.push('request'))
        request.socket.once('close', () => closed.push('socket'))
        response.once('close', () => closed.push('response'))
        response.write('a beginning')
      })
      const answer = await web(post(stream, { signal: leave.signal }))
      await go(leave, answer)
      await until('all is closed', async () => closed.length === 3 && seen.isCanceled)
      t.strictSame(closed.sort(), ['request', 'response', 'socket'])
    })
  }
})

await t.test('one that leaves before the response begins gets its own reason', async (t) => {
  const leave = new AbortController()
  const reason = new Error('gone')
  const web = serving(() => setImmediate(() => leave.abort(reason)))
  await t.rejects(web(new Request(ADDRESS, { signal: leave.signal })), reason)
  await t.rejects(web(new Request(ADDRESS, { signal: leave.signal })), reason)
})

await t.test('a body that breaks off is told as aborted', async (t) => {
  const broken = new ReadableStream({
    pull(body) {
      body.error(new Error('broken'))
    },
  })
  const told: string[] = []
  const web = serving((request, response) => {
    request.once('aborted', () => told.push('aborted'))
    request.once('error', (cause) => told.push(cause.message))
    request.once('close', () => response.end('seen'))
    request.resume()
  })
  await web(post(broken))
  t.strictSame(told, ['aborted', 'broken'])
})

await t.test('statuses without a body, and HEAD, have none', async (t) => {
  const web = serving((_request, response) => {
    response.statusCode = 304
    response.end('nothing of it')
  })
  t.equal((await web(new Request(ADDRESS))).body, null)
  const head = serving((_request, response) => {
    response.setHeader('Content-Length', 7)
    response.end('content')
  })
  const answer = await head(new Request(ADDRESS, { method: 'HEAD' }))
  t.equal(answer.body, null)
  t.equal(answer.headers.get('content-length'), '7')
  await noLonger(t, head)
})

/** A stream into a response without a body ends, as it does in `node:http`. */
async function noLonger(t: Test, _web: WebHandler): Promise<void> {
  let response: ServerResponse | undefined
  const web = serving((_request, given) => {
    response = given
    given.write(Buffer.alloc(100_000))
    given.end()
  })
  await web(new Request(ADDRESS, { method: 'HEAD' }))
  if (response?.closed === false) await once(response, 'close')
  t.equal(response?.writableFinished, true)
}

/** Turns of the event loop, in which nothing may happen. */
async function turns(): Promise<void> {
  for (let n = 0; n < 50; n++) await new Promise((resolve) => setImmediate(resolve))
}
