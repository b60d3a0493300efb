import t from 'tap'
import { BODY_BYTES } from '../../daemon/limits/amounts.ts'
import { codeOf } from '../support/answer.ts'
import { until } from '../support/daemon.ts'
import { readFile } from '../support/edits.ts'
import type { FormWorld } from '../support/form-world.ts'
import { formWorld, treeOf } from '../support/form-world.ts'
import type { SentPart } from '../support/multipart.ts'
import { MULTIPART, beginPouring, bodyOf, headerOf } from '../support/multipart.ts'
import { signal } from '../support/signal.ts'
import type { AnyBody, Answer, World } from '../support/world.ts'

const MIB = 1_048_576
/** Five forms with such a file leave less than 2 MiB of the pool. */
const LARGE = Math.floor((BODY_BYTES - MIB) / 5)
const PROMPT: SentPart = { name: 'prompt', content: 'A bakery' }

/** Sends a form as it is. */
async function send(
  { baseUrl, bearer }: FormWorld,
  parts: readonly SentPart[],
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer<AnyBody>> {
  const response = await fetch(`${baseUrl}/v1/apps`, {
    method: 'POST',
    headers: { ...bearer, ...MULTIPART, ...headers },
    body: bodyOf(parts),
  })
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as AnyBody,
  }
}

async function appsOf(world: World): Promise<unknown> {
  return (await world.request('GET', '/v1/apps')).body['data']
}

await t.test('an app is made of a form as it is of JSON', async (t) => {
  const world = await formWorld(t)
  const made = await send(world, [
    { name: 'files[]', filename: 'index.html', content: '<h1>Mine</h1>' },
    PROMPT,
    { name: 'name', content: 'Bakery' },
    { name: 'alias', content: 'bakery' },
    { name: 'model', content: 'a-model' },
    { name: 'metadata', content: '{"stage":"trial"}' },
    { name: 'files', filename: 'img/logo.png', content: Uint8Array.of(255, 0, 255) },
    { name: 'files', filename: 'empty.txt', content: '' },
  ])
  t.match(made, {
    status: 202,
    body: {
      name: 'Bakery',
      alias: 'bakery',
      status: 'creating',
      source: { kind: 'prompt_files' },
      metadata: { stage: 'trial' },
      edit_id: String,
    },
  })
  const { id, edit_id } = made.body
  t.same(await treeOf(world, id), { 'index.html': 13, 'img/logo.png': 3, 'empty.txt': 0 })
  t.equal(await readFile(world, String(id), 'index.html'), '<h1>Mine</h1>')
  t.match(await world.request('GET', `/v1/apps/${String(id)}/edits/${String(edit_id)}`), {
    body: { prompt: 'A bakery', model: 'a-model', initial: true },
  })
  const alone = await send(world, [PROMPT])
  t.match(alone, { status: 202, body: { source: { kind: 'prompt' }, name: 'A bakery' } })
  t.ok('style.css' in (await treeOf(world, alone.body['id'])), 'the blank template')
})

const FILE: SentPart = { name: 'files', filename: 'a.html', content: 'a' }
const REFUSED: readonly (readonly [parts: readonly SentPart[], code: string, location?: string])[] =
  [
    [[FILE], 'invalid_request', 'body.prompt'],
    [[{ ...PROMPT, content: ' ' }], 'invalid_request', 'body.prompt'],
    [[PROMPT, PROMPT], 'invalid_request', 'body.prompt'],
    [[PROMPT, { name: 'template_id', content: 'blank' }], 'invalid_request', 'body.template_id'],
    [[PROMPT, { name: 'alias', content: 'A B' }], 'invalid_request', 'body.alias'],
    [[PROMPT, { name: 'metadata', content: '{' }], 'invalid_request', 'body.metadata'],
    [[PROMPT, { name: 'metadata', content: '{"__proto__":{}}' }], 'invalid_request'],
    [[PROMPT, { name: 'metadata', content: '[]' }], 'invalid_request', 'body.metadata'],
    [[PROMPT, { name: 'files', content: 'a' }], 'invalid_request', 'body.files'],
    [[PROMPT, { ...FILE, name: 'file' }], 'invalid_request', 'body.file'],
    [[PROMPT, { ...FILE, filename: '' }], 'invalid_request', 'body.files'],
    [[PROMPT, { ...FILE, filename: '../a.html' }], 'path_not_allowed', 'body.files[0]'],
    [[PROMPT, FILE, { ...FILE, filename: '/etc/passwd' }], 'path_not_allowed', 'body.files[1]'],
    [[PROMPT, FILE, { ...FILE, filename: 'A.html' }], 'path_not_allowed', 'body.files'],
    [[PROMPT, ...Array.from({ length: 501 }, () => FILE)], 'invalid_request', 'body.files'],
    [
      [
        PROMPT,
        ...Array.from({ length: 501 }, (_, at) => ({
          ...FILE,
          name: at % 2 ? 'files' : 'files[]',
        })),
      ],
      'invalid_request',
      'body.files',
    ],
  ]

await t.test('a form that makes no app is refused, and leaves nothing', async (t) => {
  const world = await formWorld(t)
  for (const [parts, code, location] of REFUSED) {
    const what = parts
      .map(({ name, filename }) => filename ?? name)
      .slice(0, 4)
      .join(' ')
    const answer = await send(world, parts)
    const errors = location === undefined ? [] : [{ location }]
    t.match(answer, { status: 400, body: { error: { code, errors } } }, `${code} ${what}`)
  }
  const types: readonly (readonly [Readonly<Record<string, string>>, number, string])[] = [
    [{ 'content-type': 'multipart/form-data' }, 400, 'invalid_multipart'],
    [{ 'content-type': 'text/plain' }, 415, 'unsupported_media_type'],
    [{ 'content-encoding': 'gzip' }, 415, 'unsupported_media_type'],
  ]
  for (const [headers, status, code] of types) {
    const answer = await send(world, [PROMPT], headers)
    t.match(answer, { status, body: { error: { code } } }, JSON.stringify(headers))
  }
  t.same(await appsOf(world), [])
})

await t.test('files are measured while they come in, each and all together', async (t) => {
  const world = await formWorld(t)
  const file = (filename: string, bytes: number): SentPart => ({
    name: 'files',
    filename,
    content: Buffer.alloc(bytes, 'x'),
  })
  const refused = {
    status: 413,
    body: {
      error: { code: 'payload_too_large', details: { part: 'files', limit_bytes: 10 * MIB } },
    },
  }
  t.match(await send(world, [PROMPT, file('a.txt', 10 * MIB + 1)]), refused)
  t.match(await send(world, [PROMPT, file('a.txt', 6 * MIB), file('b.txt', 5 * MIB)]), refused)
  t.match(await send(world, [PROMPT, file('a.txt', 6 * MIB), file('b.txt', 4 * MIB)]), {
    status: 202,
  })

  const headers = { ...world.bearer, ...MULTIPART }
  const { pour, answer } = await beginPouring(world, '/v1/apps', headers)
  pour(bodyOf([{ ...FILE, content: Buffer.alloc(11 * MIB, 'x') }], '').subarray(0, -2))
  t.match(await answer, /^HTTP\/1\.1 413/, 'before the body has ended')
  const { pour: crumb, answer: cut, socket } = await beginPouring(world, '/v1/apps', headers)
  crumb(`--none\r\n${headerOf(FILE)}`)
  socket.end()
  t.match(await cut, /^HTTP\/1\.1 400|^$/)
  t.equal(((await appsOf(world)) as readonly unknown[]).length, 1)
})

await t.test('a form under an Idempotency-Key makes one app', async (t) => {
  const world = await formWorld(t)
  const headers = { 'idempotency-key': 'one' }
  const [first, twin] = await Promise.all([
    send(world, [PROMPT, FILE], headers),
    send(world, [PROMPT, FILE], headers),
  ])
  t.same([first.status, twin.status], [202, 202])
  t.same(twin.body, first.body)
  const form = new FormData()
  form.append('prompt', 'A bakery')
  form.append('files', new File(['a'], 'a.html'))
  const again = await fetch(`${world.baseUrl}/v1/apps`, {
    method: 'POST',
    headers: { ...world.bearer, ...headers },
    body: form,
  })
  t.same(await again.json(), first.body, 'whatever its boundary')
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  const others = [
    [PROMPT, { ...FILE, content: 'b' }],
    [PROMPT, { ...FILE, filename: 'b.html' }],
    [{ ...PROMPT, content: 'A butcher' }, FILE],
  ]
  for (const other of others) {
    const answer = await send(world, other, headers)
    t.match(answer, { status: 422, body: { error: { code: 'idempotency_mismatch' } } })
  }
  t.equal(((await appsOf(world)) as readonly unknown[]).length, 1)
})

await t.test('a form that waits to be written gives way to another account', async (t) => {
  const world = await formWorld(t)
  const other = world.userOf(await world.addAccount())
  const { platform, traffic } = world
  const { writes } = platform.queues
  const { promise: released, resolve: release } = signal()
  t.teardown(async () => release())
  const busy = [1, 2].map(() => writes({ holder: 'busy' }, () => released))
  let asked = 0
  Object.assign(platform.queues, {
    writes: ((turn, work) => {
      asked += 1
      return writes(turn, work)
    }) satisfies typeof writes,
  })
  const large: SentPart = { ...FILE, content: new Uint8Array(LARGE) }
  const sent = Array.from({ length: 5 }, () => send(world, [PROMPT, large]))
  await until('all of them wait', () => asked === sent.length)
  const body = { name: 'x'.repeat(3 * MIB) }
  const answer = await world.request('POST', '/v1/apps', { as: other, body })
  t.equal(codeOf(answer), '400 invalid_request', 'it is read')
  release()
  await Promise.all(busy)
  const answers = (await Promise.all(sent)).map(codeOf)
  t.same(answers.sort(), [...Array<string>(4).fill('202'), '429 too_many_bytes'])
  t.equal(traffic.bodies.used, 0)
})

await t.test('nobody sends a form before they are let in', async (t) => {
  const world = await formWorld(t)
  const { key } = await world.mintKey({ scopes: ['apps:read'] })
  const begun = { ...MULTIPART, 'content-length': '1000', authorization: `Bearer ${key}` }
  const { answer } = await beginPouring(world, '/v1/apps', begun)
  t.match(await answer, /^HTTP\/1\.1 403[^]*insufficient_scope/)
})
