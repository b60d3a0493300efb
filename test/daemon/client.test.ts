import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ApiError, createClient } from '../../daemon/client/index.ts'
import type { Client } from '../../daemon/client/index.ts'
import { createSend, waitAfter } from '../../daemon/client/send.ts'
import type { Served } from '../../daemon/client/routes.ts'
import { ROUTES } from '../../daemon/client/routes.ts'
import type { SendPorts } from '../../daemon/client/send.ts'
import { SOURCES } from '../../daemon/docs/write.ts'
import { appsFamily } from '../../daemon/families/apps/family.ts'
import { editsFamily } from '../../daemon/families/edits/family.ts'
import { eventsFamily } from '../../daemon/families/events/family.ts'
import { filesFamily } from '../../daemon/families/files/family.ts'
import { FAMILIES } from '../../daemon/families/index.ts'
import { webhooksFamily } from '../../daemon/families/webhooks/family.ts'
import { codeOf, importsIn, ROOT, sourcesIn } from '../arch/source.ts'
import { createMemoryEditor } from '../../plugins/edits/memory.ts'
import { pricesOf } from '../support/billing.ts'
import { formatted } from '../support/formatted.ts'
import type { World } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

type Fetch = typeof globalThis.fetch

/** A world with a client that holds every scope. */
async function start(
  t: Parameters<typeof createWorld>[0],
  wrap: (fetch: Fetch) => Fetch = (fetch) => fetch,
): Promise<World & { readonly client: Client<Served> }> {
  const world = await createWorld(t, { families: [webhooksFamily, eventsFamily] })
  const { key } = await world.mintKey({ scopes: ['*:*'] })
  return { ...world, client: createClient({ baseUrl: world.baseUrl, key, fetch: wrap(fetch) }) }
}

await t.test('the routes of the client are current: npm run docs writes them', async (t) => {
  for (const [path, text] of Object.entries(SOURCES)) {
    const expected = await formatted(path, text)
    t.ok(readFileSync(join(ROOT, path), 'utf8') === expected, path)
  }
})

await t.test('every operation but streams has a route, and every route is a method', (t) => {
  const ids = FAMILIES.flatMap(({ operations }) => operations)
    .filter(({ effect }) => effect !== 'stream')
    .map(({ id }) => id)
  t.same(
    ROUTES.map(({ id }) => id),
    ids,
  )
  const client = createClient({ baseUrl: 'http://127.0.0.1:1', key: 'k' })
  const methods = Object.values(client).flatMap((family) => Object.values(family))
  t.equal(methods.length, ids.length)
  t.type(client.webhooks.retryDelivery, 'function')
  t.end()
})

await t.test('the client loads nothing but itself, and asks nothing of Node', (t) => {
  const own = [
    ...sourcesIn('daemon/client'),
    // Arguments are checked as everywhere: pure functions that import nothing.
    ...sourcesIn('lib/internal').filter(({ path }) => path === 'lib/internal/arguments.ts'),
  ]
  const sources = new Map(own.map((file) => [file.path, file]))
  const loaded = new Set<string>()
  function load(path: string): void {
    if (loaded.has(path)) return
    loaded.add(path)
    const built = path.replace(/\.ts$/, '.js')
    for (const name of importsIn(built, readFileSync(join(ROOT, 'dist', built), 'utf8'))) {
      load(name.startsWith('.') ? join(path, '..', name.replace(/\.js$/, '.ts')) : name)
    }
  }
  load('daemon/client/index.ts')
  t.ok(loaded.size > 5)
  for (const path of loaded) {
    t.ok(sources.has(path), path)
    const code = codeOf(sources.get(path)?.text ?? '')
    t.notMatch(code, /\b(process|Buffer|require|global|setImmediate|__dirname)\b/, path)
  }
  t.end()
})

await t.test('one argument names path, query and body; the answer is the record', async (t) => {
  const { client } = await start(t)
  const made = await client.keys.create({ name: 'CI', scopes: ['apps:read'] })
  t.match(made, { name: 'CI', status: 'active', key: /^service_dk_/ })
  const rotated = await client.keys.rotate({ key_id: made.id, grace_seconds: 60 })
  t.match(rotated, { id: made.id, status: 'rotating' })
  t.not(rotated.key, made.key)
  t.match(await client.keys.update({ key_id: made.id, name: 'CI 2' }), { name: 'CI 2' })

  await client.events.declareType({ type: 'order.paid', description: 'An order was paid.' })
  const url = 'http://127.0.0.1:9/in'
  const webhook = await client.webhooks.create({ url, events: ['order.paid'] })
  const event = await client.events.publish({ type: 'order.paid', data: { order: 'ö/1' } })
  t.match(event, { status: 'accepted' })
  t.match(await client.events.list({ type: 'order.paid', limit: 1 }), {
    data: [{ type: 'order.paid', data: { order: 'ö/1' } }],
  })
  t.match(await client.webhooks.listDeliveries({ webhook_id: webhook.id }), { has_more: false })
  t.match(await client.keys.revoke({ key_id: made.id, webhooks: 'keep' }), { status: 'revoked' })
  t.match(await client.keys.self(), { effective_scopes: ['*:*'] })
})

await t.test('all walks a list page by page, and asks for no page before its time', async (t) => {
  let asked = 0
  const { client } = await start(t, (fetch) => (...given) => {
    asked++
    return fetch(...given)
  })
  for (const name of ['a', 'b', 'c', 'd']) await client.keys.create({ name, scopes: ['apps:read'] })
  asked = 0
  const names: string[] = []
  for await (const { name } of client.keys.list.all({ limit: 2 })) names.push(name)
  t.same(names, ['d', 'c', 'b', 'a', 'a key'])
  t.equal(asked, 3)
  asked = 0
  for await (const { name } of client.keys.list.all({ limit: 2 })) {
    if (name === 'd') break
  }
  t.equal(asked, 1)
})

await t.test('a refusal is an ApiError with everything the service told', async (t) => {
  const { client } = await start(t)
  const missing = await failure(client.keys.get({ key_id: 'nothing/../here?' }))
  t.match(missing, { name: 'ApiError', code: 'key_not_found', status: 404, requestId: /^.{8,}$/ })
  const invalid = await failure(client.keys.create({ name: ' ', scopes: ['apps:read'] }))
  t.match(invalid, { code: 'invalid_request', errors: [{ location: 'body.name' }] })
  const stranger = createClient({ baseUrl: 'http://127.0.0.1:1', key: 'line\nbreak' })
  await t.rejects(stranger.keys.self(), TypeError)
  t.throws(() => createClient({ baseUrl: 'nowhere', key: 'k' }), TypeError)
})

await t.test('a path parameter that is missing or leads elsewhere is not sent', async (t) => {
  const fetch = scripted([undefined])
  const client = createClient({ baseUrl: 'http://127.0.0.1:1', key: 'k', fetch })
  for (const key_id of ['', '.', '..']) {
    await t.rejects(client.keys.revoke({ key_id }), TypeError('keys.revoke: key_id must be an id'))
  }
  // @ts-expect-error: the compiler says so too
  await t.rejects(client.keys.revoke({}), TypeError)
  t.equal(fetch.asked.length, 0)
})

await t.test(
  'without a key a call carries none: a page has the session of its browser',
  async (t) => {
    const headers: Headers[] = []
    const fetch: typeof globalThis.fetch = (_, init) => {
      headers.push(new Headers(init?.headers))
      return Promise.resolve(Response.json({ id: 'k' }))
    }
    const client = createClient({ baseUrl: 'http://127.0.0.1:1', fetch })
    await client.keys.get({ key_id: 'k' })
    t.notOk(headers[0]?.has('authorization'))
  },
)

await t.test('the compiler refuses what the operation does not declare', async (t) => {
  const client = createClient({ baseUrl: 'http://127.0.0.1:1', key: 'k', fetch: answers({}) })
  // @ts-expect-error: a misspelt field
  await client.webhooks.create({ url: 'https://a.example', event: [] })
  // @ts-expect-error: a value that is none of the status
  await client.keys.list({ status: 'dead' })
  // @ts-expect-error: the record has no such field
  t.equal((await client.keys.self()).nothing, undefined)
  // @ts-expect-error: what is no list has no pages
  t.equal(client.keys.get.all, undefined)
  // @ts-expect-error: no such operation
  t.equal(client.keys.brew, undefined)
})

await t.test(
  'a dry run of an operation with a price returns the price, and does nothing',
  async (t) => {
    const world = await createWorld(t, {
      families: [appsFamily, editsFamily, filesFamily],
      editor: createMemoryEditor({ script: () => [] }),
      prices: pricesOf({ 'apps.create': 500, 'edits.create': 100, 'files.upload': 2 }),
    })
    const { key } = await world.mintKey({ scopes: ['apps:*', 'edits:*', 'files:*'] })
    const { apps, edits, files } = createClient({ baseUrl: world.baseUrl, key })
    const app = await apps.create({ template_id: 'blank', dry_run: 'false' })
    const app_id: string = app.id
    const priced = await apps.create({ prompt: 'A shop', dry_run: 'true' })
    const required: number = priced.required_micros
    t.equal(required, 500)
    const edit = await edits.create({ app_id, prompt: 'Add hours.', dry_run: 'true' })
    t.match(edit, { dry_run: true, operation: 'edits.create', required_micros: 100 })
    const file = new File(['hours'], 'hours.md', { type: 'text/markdown' })
    const upload = await files.upload({ app_id, file: [file], dry_run: 'true' })
    t.match(upload, { operation: 'files.upload', quantity: 5, required_micros: 10 })
    t.equal((await apps.list()).data.length, 1)
    t.same((await edits.list({ app_id })).data, [])
    t.same((await files.list({ app_id })).data, [])
    // @ts-expect-error: a price is no app
    t.equal(priced.alias, undefined)
    // @ts-expect-error: an app is no price
    t.equal(app.required_micros, undefined)
  },
)

await t.test('a lost answer is asked for again, and what was asked is done once', async (t) => {
  let lost = 0
  const { client } = await start(t, (fetch) => async (...given) => {
    const answer = await fetch(...given)
    if (given[1]?.method !== 'POST' || lost++ > 0) return answer
    throw new TypeError('the connection was reset')
  })
  const body = { name: 'once', scopes: ['apps:read'] }
  const refused = { code: 'unexpected_answer', message: /^It was created, and the response/ }
  await t.rejects(client.keys.create(body), refused, 'a replay shows no secret')
  t.equal(lost, 2)
  lost = 0
  const id = (await client.keys.list()).data[0]?.id ?? ''
  await t.rejects(client.keys.rotate({ key_id: id }), {
    code: 'unexpected_answer',
    message: /^It was rotated, .* Rotate it once more\.$/,
    details: { id },
  })
  lost = 0
  const made = await client.keys.create(body, { idempotencyKey: 'a-key-of-the-caller' })
  t.equal(made.key, null, 'nor with a key of the caller, which may repeat it')
  const named: string[] = []
  for await (const { name } of client.keys.list.all()) named.push(name)
  t.same(named, ['once', 'once', 'a key'])
})

interface Scripted {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** A fetch that gives these answers in turn, the last one for ever; undefined breaks the connection. */
function scripted(answers: readonly (Scripted | undefined)[]): Fetch & { asked: Request[] } {
  const asked: Request[] = []
  const given: Fetch = async function (this: unknown, url, init) {
    // A browser's fetch is no method of anything.
    if (this !== undefined) throw new Error('Illegal invocation')
    const answer = answers[Math.min(asked.length, answers.length - 1)]
    asked.push(new Request(url as string, init))
    if (answer === undefined) throw new TypeError('fetch failed')
    return new Response(answer.body ?? '{}', answer)
  }
  return Object.assign(given, { asked })
}

function answers(body: unknown): Fetch {
  return scripted([{ status: 200, body: JSON.stringify(body) }])
}

/** What a call is rejected with. */
async function failure(call: Promise<unknown>): Promise<ApiError> {
  const error = await call.then(
    () => undefined,
    (cause: unknown) => cause,
  )
  if (error instanceof ApiError) return error
  throw new Error('not rejected with an ApiError', { cause: error })
}

const REQUEST = { method: 'GET', path: '/v1/x', body: undefined, repeatable: true } as const

/** A sender over scripted answers that waits for nothing and notes how long it would have. */
function sender(answers: readonly (Scripted | undefined)[]) {
  const waits: number[] = []
  const request = scripted(answers)
  const ports: SendPorts = {
    baseUrl: 'http://service.example/below/',
    key: 'k',
    account: 'acc',
    timeout: 60_000,
    request,
    wait: async (milliseconds) => void waits.push(milliseconds),
  }
  return { send: createSend(ports), waits, asked: request.asked }
}

const BUSY = { status: 503, headers: { 'retry-after': '2' } }

await t.test('what may be repeated is tried three times, as long apart as asked', async (t) => {
  const recovering = sender([BUSY, undefined, { status: 200, body: '{"done":true}' }])
  t.same(await recovering.send(REQUEST), { done: true })
  t.equal(recovering.asked.length, 3)
  t.equal(recovering.waits[0], 2000)
  const [request] = recovering.asked
  t.equal(request?.url, 'http://service.example/below/v1/x')
  t.equal(request?.headers.get('keyhook-account'), 'acc')

  const limited = { status: 429, headers: { 'retry-after': '0' } }
  for (const answer of [BUSY, limited, undefined]) {
    const { send, asked } = sender([answer])
    await failure(send(REQUEST))
    t.equal(asked.length, 3)
  }
  const tomorrow = sender([{ status: 429, headers: { 'retry-after': '86400' } }])
  t.match(await failure(tomorrow.send(REQUEST)), { status: 429 })
  t.equal(tomorrow.asked.length, 1, 'nobody is kept waiting for a day')
})

await t.test('a call that cannot be repeated, or was refused for good, is sent once', async (t) => {
  for (const answer of [BUSY, undefined]) {
    const { send, asked } = sender([answer])
    await failure(send({ ...REQUEST, method: 'PATCH', repeatable: false }))
    t.equal(asked.length, 1)
  }
  for (const status of [400, 401, 403, 404, 409, 500, 501]) {
    const { send, asked } = sender([{ status }])
    await failure(send(REQUEST))
    t.equal(asked.length, 1, String(status))
  }
  const answered = { status: 200, body: '{}' }
  const patch = scripted([undefined, answered])
  const patching = createClient({ baseUrl: 'http://a.example', key: 'k', fetch: patch })
  t.match(await failure(patching.keys.update({ key_id: 'k1', name: 'b' })), {
    code: 'connection_failed',
    status: 0,
  })
  t.equal(patch.asked.length, 1)
  const open = scripted([undefined, answered])
  const opening = createClient({ baseUrl: 'http://a.example', key: 'k', fetch: open })
  const called = opening as unknown as { accounts: { signIn(given: object): Promise<unknown> } }
  await failure(called.accounts.signIn({ email: 'a@example.com', password: 'p' }))
  t.equal(open.asked.length, 1, 'a public POST has no caller whose repetition could be known')
})

await t.test('an Idempotency-Key is given to every POST, one for all its attempts', async (t) => {
  const body = '{"type":"order.paid"}'
  const post = { ...REQUEST, method: 'POST', body } as const
  const keysOf = (asked: readonly Request[]) =>
    asked.map(({ headers }) => headers.get('idempotency-key'))
  const { send, asked } = sender([undefined, undefined, { status: 202 }])
  await send(post)
  const [first, ...others] = keysOf(asked)
  t.match(first, /^[0-9a-f]{32}$/)
  t.same(others, [first, first])
  t.same(await Promise.all(asked.map((request) => request.text())), [body, body, body])
  t.same(asked[0]?.headers.get('content-type'), 'application/json')
  await send(post)
  t.not(keysOf(asked).at(-1), first, 'another call has another')
  await send(post, { idempotencyKey: 'mine' })
  t.equal(keysOf(asked).at(-1), 'mine')
  await send(REQUEST)
  t.equal(keysOf(asked).at(-1), null)

  const error = { code: 'idempotency_in_progress', message: 'Under way.' }
  const twin = { status: 409, body: JSON.stringify({ error }) }
  const waiting = sender([undefined, twin, { status: 201 }])
  t.same(await waiting.send(post), {}, 'an own attempt that is still under way is waited for')
})

await t.test('the wait doubles, is lengthened at random, or is what the service named', (t) => {
  const now = Date.UTC(2026, 0, 31, 12)
  t.equal(waitAfter(1, null, now, 0), 250)
  t.equal(waitAfter(2, null, now, 0), 500)
  t.equal(waitAfter(2, null, now, 1), 750)
  t.equal(waitAfter(1, '7', now, 1), 7000)
  t.equal(waitAfter(1, 'Sat, 31 Jan 2026 12:00:09 GMT', now, 1), 9000)
  t.equal(waitAfter(1, 'Sat, 31 Jan 2026 11:00:00 GMT', now, 1), 0)
  t.equal(waitAfter(1, 'soon', now, 0), 250)
  t.equal(waitAfter(1, '61', now, 0), undefined)
  t.end()
})

await t.test('an answer that is not the service is told apart, whatever its status', async (t) => {
  for (const answer of [
    { status: 502, body: '<h1>Bad gateway</h1>' },
    { status: 200, body: '<h1>Welcome</h1>' },
    { status: 200, body: '[]' },
    { status: 404, body: '{"error":"not found"}' },
    { status: 302, headers: { location: 'http://elsewhere.example' }, body: '' },
  ]) {
    const { send } = sender([answer])
    t.match(await failure(send(REQUEST)), { code: 'unexpected_answer', status: answer.status })
  }
  const page = createClient({ baseUrl: 'http://a.example', key: 'k', fetch: answers({ data: 1 }) })
  await t.rejects(page.keys.list.all().next(), TypeError('a list must answer a page'))
})

await t.test('a signal ends a call: before, during, and between two attempts', async (t) => {
  const reason = new Error('enough')
  const ended = AbortSignal.abort(reason)
  const unasked = scripted([undefined])
  const before = createClient({ baseUrl: 'http://a.example', key: 'k', fetch: unasked })
  await t.rejects(before.keys.self({}, { signal: ended }), reason)
  t.equal(unasked.asked.length, 0)

  const during = new AbortController()
  const hanging: Fetch = (_, init) =>
    new Promise((_, reject) => {
      init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error))
      during.abort(reason)
    })
  const options = { baseUrl: 'http://a.example', key: 'k' }
  const hung = createClient({ ...options, fetch: hanging })
  await t.rejects(hung.keys.self({}, { signal: during.signal }), reason)

  const between = new AbortController()
  const busy: Fetch = async () => {
    setImmediate(() => between.abort(reason))
    return new Response('{}', BUSY)
  }
  const waiting = createClient({ ...options, fetch: busy })
  await t.rejects(waiting.keys.self({}, { signal: between.signal }), reason)
})

await t.test('an attempt that takes too long is a timeout, and may be repeated', async (t) => {
  let asked = 0
  const silent: Fetch = (_, init) =>
    new Promise((_, reject) => {
      asked++
      init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error))
    })
  const client = createClient({ baseUrl: 'http://a.example', key: 'k', timeout: 1, fetch: silent })
  // The timer of a deadline keeps no process alive; a pending test does not either.
  const alive = setInterval(() => undefined, 1000)
  t.match(await failure(client.keys.self()), { code: 'timeout', status: 0 })
  clearInterval(alive)
  t.equal(asked, 3)
})

await t.test(
  'a key may be asked for before each request, which then has no part in cookies',
  async (t) => {
    const sent: (readonly [authorization: string | null, credentials: string | undefined])[] = []
    let key: string | undefined
    const client = createClient({
      baseUrl: 'http://a.example',
      key: () => key,
      fetch: (_, init) => {
        sent.push([new Headers(init?.headers).get('authorization'), init?.credentials])
        return Promise.resolve(Response.json({ data: [], has_more: false, next_cursor: null }))
      },
    })
    await client.keys.list()
    key = 'service_ps_one'
    await client.keys.list()
    key = undefined
    await client.keys.list()
    t.strictSame(sent, [
      [null, undefined],
      ['Bearer service_ps_one', 'omit'],
      [null, undefined],
    ])
  },
)
