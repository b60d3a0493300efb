import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { createAccountsFamily } from '../../daemon/families/accounts/family.ts'
import { eventsFamily } from '../../daemon/families/events/family.ts'
import { webhooksFamily } from '../../daemon/families/webhooks/family.ts'
import { createLimitedServer, listenOn } from '../../daemon/listener/listen.ts'
import { allowLong } from '../../daemon/http/pace.ts'
import type { World } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

/** Sends a request whose last byte waits until `meanwhile` is done; answers its whole answer. */
async function withholding(
  { baseUrl }: World,
  path: string,
  key: string,
  body: string,
  meanwhile: () => Promise<unknown>,
): Promise<string> {
  const socket = connect(Number(new URL(baseUrl).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${key}\r\n` +
      `content-type: application/json\r\nconnection: close\r\n` +
      `content-length: ${body.length}\r\n\r\n${body.slice(0, -1)}`,
  )
  // Answered once the server has taken in what came before on another connection.
  await fetch(`${baseUrl}/v1/keys`)
  await meanwhile()
  socket.write(body.slice(-1))
  let answer = ''
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString()
  })
  await once(socket, 'close')
  return answer
}

const REQUESTS: readonly [path: string, body: string][] = [
  ['/v1/events', '{"type":"order.paid","data":{}}'],
  ['/v1/webhooks', '{"url":"http://127.0.0.1:9/in","events":["order.paid"]}'],
  ['/v1/keys', '{"name":"after","scopes":["events:write"]}'],
]

for (const [path, body] of REQUESTS) {
  await t.test(`a key revoked while its body comes in does nothing at ${path}`, async (t) => {
    const world = await createWorld(t, { families: [webhooksFamily, eventsFamily] })
    const { request, mintKey } = world
    await request('PUT', '/v1/event-types/order.paid')
    const { id, key } = await mintKey({ scopes: ['*:*'] })
    const answer = await withholding(world, path, key, body, () =>
      request('DELETE', `/v1/keys/${id}`),
    )
    t.match(answer, /^HTTP\/1\.1 401/)
    t.match(answer, '"code":"key_revoked"')
    t.match(await request('GET', path), { body: { data: [] } })
  })
}

for (const [path, body] of REQUESTS) {
  await t.test(`nor at ${path} when the value alone is ended meanwhile`, async (t) => {
    const world = await createWorld(t, { families: [webhooksFamily, eventsFamily] })
    const { request, mintKey } = world
    await request('PUT', '/v1/event-types/order.paid')
    const { id, key } = await mintKey({ scopes: ['*:*'] })
    const answer = await withholding(world, path, key, body, () =>
      request('POST', `/v1/keys/${id}/rotate`, { body: { grace_seconds: 0 } }),
    )
    t.match(answer, /^HTTP\/1\.1 401/)
    t.match(answer, '"code":"key_rotated"')
    const made = await request<{ data: { name?: string }[] }>('GET', path)
    t.same(
      made.body.data.filter(({ name }) => name !== 'a key'),
      [],
    )
  })
}

for (const [path, body] of REQUESTS) {
  await t.test(`nor at ${path} when its account is suspended meanwhile`, async (t) => {
    const world = await createWorld(t, {
      families: [webhooksFamily, eventsFamily, createAccountsFamily()],
    })
    const { request, mintKey, account, operatorFor } = world
    await request('PUT', '/v1/event-types/order.paid')
    const { key } = await mintKey({ scopes: ['*:*'] })
    const answer = await withholding(world, path, key, body, () =>
      request('POST', `/v1/accounts/${account.id}/suspend`, { as: operatorFor(null) }),
    )
    t.match(answer, /^HTTP\/1\.1 403/)
    t.match(answer, '"code":"account_suspended"')
    const made = await request<{ data: { name?: string }[] }>('GET', path, { as: world.operator })
    t.same(
      made.body.data.filter(({ name }) => name !== 'a key'),
      [],
    )
  })
}

await t.test('no connection is kept whose body is not read before it is refused', async (t) => {
  const { baseUrl } = await createWorld(t, { families: [eventsFamily] })
  const ask = async (framing: string, sent = ''): Promise<string> => {
    const socket = connect(Number(new URL(baseUrl).port), '127.0.0.1')
    t.teardown(() => socket.destroy())
    socket.write(`POST /v1/events HTTP/1.1\r\nhost: 127.0.0.1\r\n${framing}\r\n\r\n${sent}`)
    const [answer] = (await once(socket, 'data')) as [Buffer]
    return answer.toString()
  }
  for (const [framing, kept] of [
    ['content-length: 1000000', 'close'],
    ['transfer-encoding: chunked', 'close'],
    ['content-length: 65536', 'keep-alive'],
  ] as const) {
    const answer = await ask(framing)
    t.match(answer, /^HTTP\/1\.1 401/, framing)
    t.match(answer, new RegExp(`^connection: ${kept}\r$`, 'im'), framing)
  }
  const next = 'GET /v1/keys HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n'
  const socket = connect(Number(new URL(baseUrl).port), '127.0.0.1')
  socket.write('POST /v1/events HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 60000\r\n\r\n')
  const answers = text(socket)
  socket.write('x'.repeat(60_000) + next)
  t.equal((await answers).split('HTTP/1.1 401').length, 3, 'a short one is read away')
})

await t.test('a request that takes too long is cut off, unless it may take long', async (t) => {
  const server = createLimitedServer({
    headersTimeout: 50,
    requestTimeout: 50,
    connectionsCheckingInterval: 10,
  })
  server.on('request', (request, response) => {
    if (request.url === '/long') allowLong(request.socket)
    request.resume().once('end', () => response.end('all of it'))
  })
  const { port } = await listenOn(server, '127.0.0.1', 0, 'KEYHOOK_PORT')
  t.teardown(() => server.close())
  const head = 'host: a\r\nconnection: close\r\ncontent-length: 2\r\n\r\n1'
  const [short, long] = await Promise.all(
    ['short', 'long'].map(async (path) => {
      const socket = connect(port, '127.0.0.1')
      const answer = text(socket)
      socket.write(`POST /${path} HTTP/1.1\r\n${head}`)
      return { socket, answer }
    }),
  )
  t.match(await short?.answer, /^HTTP\/1\.1 408/)
  long?.socket.write('2')
  t.match(await long?.answer, /^HTTP\/1\.1 200[^]*all of it$/)
})

await t.test('what is no request is refused in a few bytes', async (t) => {
  const server = createLimitedServer()
  const { port } = await listenOn(server, '127.0.0.1', 0, 'KEYHOOK_PORT')
  t.teardown(() => server.close())
  const requests = [
    ['no request at all\r\n\r\n', 400],
    [`GET / HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ] as const
  for (const [sent, status] of requests) {
    const socket = connect(port, '127.0.0.1')
    socket.write(sent)
    t.match(await text(socket), `HTTP/1.1 ${status} `)
  }
})
