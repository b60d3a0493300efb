import { connect } from 'node:net'
import t from 'tap'
import { paging } from '../../daemon/families/cursor.ts'
import { eventsFamily } from '../../daemon/families/events/family.ts'
import { webhooksFamily } from '../../daemon/families/webhooks/family.ts'
import { PAGE_BYTES } from '../../daemon/limits/amounts.ts'
import type { World } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

const BODY_LIMIT = 1_048_576

/** Sends a body as it is, which no client library would. */
async function send(
  { baseUrl, mintKey }: World,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = { 'content-type': 'application/json' },
  path = '/v1/keys',
): Promise<{ status: number; code: string; errors: { location: string; code: string }[] }> {
  const { key } = await mintKey({ scopes: ['*:*'] })
  const response = await fetch(baseUrl + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...headers },
    body,
  })
  const { error } = (await response.json()) as {
    error: { code: string; errors: { location: string; code: string }[] }
  }
  return { status: response.status, code: error.code, errors: error.errors }
}

const world = (scope: Parameters<typeof createWorld>[0]): Promise<World> =>
  createWorld(scope, { families: [webhooksFamily, eventsFamily] })

/** A valid body whose name fills it up to `bytes`. */
function keyBody(bytes: number): string {
  const frame = '{"scopes":["apps:read"],"name":""}'
  return frame.replace('""', `"${'n'.repeat(bytes - frame.length)}"`)
}

await t.test('what is not one JSON value in UTF-8 is invalid_json', async (t) => {
  const here = await world(t)
  const bodies: Readonly<Record<string, string | Uint8Array>> = {
    'cut off': '{"name":',
    'two values': '{} {}',
    'not JSON': 'name=a',
    'not UTF-8': Uint8Array.of(0x22, 0xff, 0x22),
    'a forbidden key': '{"__proto__":{"admin":true}}',
    'a forbidden key in escapes': '{"\\u005f_proto__":1}',
    'NUL in text': '{"name":"a\\u0000b"}',
    '65 levels': `${'['.repeat(65)}${']'.repeat(65)}`,
  }
  for (const [what, body] of Object.entries(bodies)) {
    t.match(await send(here, body), { status: 400, code: 'invalid_json' }, what)
  }
  const deep = await send(here, `${'['.repeat(64)}${']'.repeat(64)}`)
  t.match(deep, { status: 400, code: 'invalid_request' }, '64 levels are JSON, though no key')
})

await t.test('a body of another type is refused, compressed ones too', async (t) => {
  const here = await world(t)
  const refused = { status: 415, code: 'unsupported_media_type' }
  t.match(await send(here, '{}', { 'content-type': 'text/plain' }), refused)
  t.match(await send(here, '{}', { 'content-type': 'multipart/form-data' }), refused)
  const packed = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
  t.match(await send(here, '{}', packed), refused)
})

await t.test('a body at the limit is read, one byte more is refused', async (t) => {
  const here = await world(t)
  t.match(await send(here, keyBody(BODY_LIMIT)), { status: 400, code: 'invalid_request' })
  t.match(await send(here, keyBody(BODY_LIMIT + 1)), { status: 413, code: 'payload_too_large' })
})

await t.test('a body without a length that grows past the limit is cut early', async (t) => {
  const { baseUrl, mintKey } = await world(t)
  const { key } = await mintKey({ scopes: ['*:*'] })
  const { port, pathname } = new URL(`${baseUrl}/v1/keys`)
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1')
    let text = ''
    socket.once('error', reject)
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (text.includes('payload_too_large')) {
        socket.destroy()
        resolve(text)
      }
    })
    socket.write(
      `POST ${pathname} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${key}\r\n` +
        'content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n',
    )
    for (let sent = 0; sent <= BODY_LIMIT; sent += 65_536) {
      socket.write(`10000\r\n${'x'.repeat(65_536)}\r\n`)
    }
  })
  t.match(answer, /^HTTP\/1\.1 413/)
})

await t.test('a NUL in an id or a filter finds nothing', async (t) => {
  const { request } = await world(t)
  for (const path of ['/v1/keys/%00', '/v1/webhooks/%00', '/v1/events/%00']) {
    t.equal((await request('GET', path)).status, 404, path)
  }
  t.match(await request('GET', '/v1/events?type=%00'), { status: 200, body: { data: [] } })
})

await t.test('each faulty field is named with its place', async (t) => {
  const here = await world(t)
  const faults: [object, string][] = [
    [{ scopes: ['apps:read'] }, 'body.name'],
    [{ name: '', scopes: ['apps:read'] }, 'body.name'],
    [{ name: 'n'.repeat(101), scopes: ['apps:read'] }, 'body.name'],
    [{ name: 7, scopes: ['apps:read'] }, 'body.name'],
    [{ name: 'a', scopes: 'apps:read' }, 'body.scopes'],
    [{ name: 'a', scopes: [] }, 'body.scopes'],
    [{ name: 'a', scopes: null }, 'body.scopes'],
    [{ name: 'a', scopes: ['apps:read', 7] }, 'body.scopes[1]'],
    [{ name: 'a', scopes: ['apps:read'], apps: [] }, 'body.apps'],
    [{ name: 'a', scopes: ['apps:read'], apps: null }, 'body.apps'],
    [{ name: 'a', scopes: ['apps:read'], apps: ['a b'] }, 'body.apps[0]'],
    [{ name: 'a', scopes: ['apps:read'], expires_at: 'tomorrow' }, 'body.expires_at'],
    [{ name: 'a', scopes: ['apps:read'], expires_at: 1e15 }, 'body.expires_at'],
    [{ name: 'a', scopes: ['apps:read'], expires_at: '2030-02-30T00:00:00Z' }, 'body.expires_at'],
    [{ name: 'a', scopes: ['apps:read'], expires_at: '2030-01-31T24:00:00Z' }, 'body.expires_at'],
    [{ name: 'a', scopes: ['apps:read'], expires_at: '2030-01-31' }, 'body.expires_at'],
    [{ name: 'a', scopes: ['apps:read'], account_id: 'b' }, 'body.account_id'],
  ]
  for (const [body, location] of faults) {
    const answer = await send(here, JSON.stringify(body))
    t.match(answer, { status: 400, code: 'invalid_request', errors: [{ location }] }, location)
  }
  const scopes = await send(
    here,
    JSON.stringify({ name: 'a', scopes: ['apps:read', 'Apps:read', '*:write'] }),
  )
  t.match(scopes, {
    status: 400,
    code: 'invalid_scope',
    errors: [{ location: 'body.scopes[1]' }, { location: 'body.scopes[2]' }],
  })
})

await t.test('a faulty field has a code that says what is wrong', async (t) => {
  const { request } = await world(t)
  const faults: readonly (readonly [string, object | undefined, string, string])[] = [
    ['POST /v1/keys', { scopes: ['apps:read'] }, 'body.name', 'missing_field'],
    ['POST /v1/keys', { name: 'a' }, 'body.scopes', 'missing_field'],
    ['POST /v1/events', { type: 'a.b' }, 'body.data', 'missing_field'],
    ['POST /v1/events', { type: 'a.b', data: [] }, 'body.data', 'invalid_type'],
    ['POST /v1/webhooks', { events: ['app.deployed'] }, 'body.url', 'missing_field'],
    ['POST /v1/keys', { name: 7, scopes: ['apps:read'] }, 'body.name', 'invalid_type'],
    [
      'POST /v1/keys',
      { name: 'a', scopes: [], expires_at: 'x' },
      'body.expires_at',
      'invalid_format',
    ],
    ['POST /v1/keys', { name: 'a', scope: [] }, 'body.scope', 'unknown_field'],
    ['PATCH /v1/keys/k', {}, 'body', 'too_small'],
    ['GET /v1/events?after=a', undefined, 'query.after', 'conflicting_fields'],
    [
      'POST /v1/webhooks',
      { url: 'https://a.example.com', events: ['app.deployed', 'app.deployed'] },
      'body.events[1]',
      'duplicate',
    ],
  ]
  for (const [operation, body, location, code] of faults) {
    const [method = '', path = ''] = operation.split(' ')
    const answer = await request(method, path, body === undefined ? {} : { body })
    const { errors } = answer.body['error'] as { errors: { location: string; code: string }[] }
    t.equal(answer.status, 400, operation)
    t.equal(errors.find((one) => one.location === location)?.code, code, `${operation} ${location}`)
  }
})

await t.test(
  'of a field given twice the last counts, in the check and in the record',
  async (t) => {
    const { baseUrl, mintKey } = await world(t)
    const { key } = await mintKey({ scopes: ['apps:read', 'keys:write'] })
    const response = await fetch(`${baseUrl}/v1/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{"name":"a","scopes":["apps:read"],"scopes":["*:*"]}',
    })
    t.equal(response.status, 403)
  },
)

await t.test('limits and cursors that are not ours are refused', async (t) => {
  const { request } = await world(t)
  for (const query of ['limit=0', 'limit=101', 'limit=-1', 'limit=ten', 'limit=1&limit=2']) {
    const answer = await request('GET', `/v1/keys?${query}`)
    t.match(answer, { status: 400, body: { error: { code: 'invalid_request' } } }, query)
  }
  for (const cursor of ['x', 'AAAA', Buffer.from('{}').toString('base64url')]) {
    const answer = await request('GET', `/v1/keys?cursor=${cursor}`)
    t.match(answer, { status: 400, body: { error: { code: 'invalid_cursor' } } }, cursor)
  }
  t.match(await request('GET', '/v1/keys?cursor=%00'), {
    status: 400,
    body: { error: { code: 'invalid_request' } },
  })
})

await t.test('a forged position of a numbered list is refused', (t) => {
  const list = { list: 'revisions', app: 'an app' }
  const { next_cursor } = paging({ limit: 1 }, list).answer(
    { rows: [1, 2], more: true },
    String,
    (number) => ({ number, text: 'x'.repeat(PAGE_BYTES / 2) }),
  )
  // The fingerprint is no secret: whoever has a cursor of a list can put another position behind it.
  const own = Buffer.from(String(next_cursor), 'base64url').toString()
  const at = (position: string): number | null => {
    const cursor = Buffer.from(own.slice(0, -1) + position).toString('base64url')
    return paging({ cursor }, list).afterNumber()
  }
  t.equal(at('999999999'), 999_999_999)
  for (const position of ['NaN', 'Infinity', '1.5', '1E400', '-1', '2147483648', '9'.repeat(19)]) {
    t.throws(() => at(position), { code: 'invalid_cursor' }, position)
  }
  t.end()
})

await t.test('a path nobody serves is 404, a method nobody serves 405 with Allow', async (t) => {
  const { request } = await world(t)
  t.match(await request('GET', '/v1/nothing'), {
    status: 404,
    body: { error: { code: 'route_not_found' } },
  })
  const answer = await request('PUT', '/v1/keys')
  t.match(answer, { status: 405, body: { error: { code: 'method_not_allowed' } } })
  t.same(answer.headers.get('allow')?.split(', ').sort(), ['GET', 'POST'])
})

await t.test('an Idempotency-Key is 1 to 255 printable characters', async (t) => {
  const { request } = await world(t)
  const body = { name: 'a', scopes: ['apps:read'] }
  const asking = (key: string): Parameters<World['request']>[2] => ({
    body,
    headers: { 'idempotency-key': key },
  })
  t.match(await request('POST', '/v1/keys', asking('k'.repeat(255))), { status: 201 })
  t.match(await request('POST', '/v1/keys', asking('k'.repeat(256))), { status: 400 })
  t.match(await request('POST', '/v1/keys', asking('two words')), { status: 400 })
})

await t.test(
  'a request id of the caller is kept when it is well-formed, else replaced',
  async (t) => {
    const { request } = await world(t)
    const named = (id: string): Promise<string | null> =>
      request('GET', '/v1/keys', { headers: { 'x-request-id': id } }).then(({ headers }) =>
        headers.get('x-request-id'),
      )
    t.equal(await named('trace-0123.abc'), 'trace-0123.abc')
    t.match(await named('x'.repeat(129)), /^req_[0-9a-f]{24}$/)
    const ids = await Promise.all(Array.from({ length: 250 }, () => named('short')))
    t.ok(ids.every((id) => id !== null && /^req_[0-9a-f]{24}$/.test(id)))
    t.equal(new Set(ids).size, 250, 'each is a new one')
  },
)
