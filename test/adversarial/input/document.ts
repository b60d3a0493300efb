import type { Operation } from '../../../daemon/operations/operation.ts'
import {
  DOCUMENTED,
  DOCUMENT_TEXT,
  faultsOf,
  placeOfBody,
  resolveSchema,
} from '../../support/openapi.ts'
import type { Checks } from '../run.ts'
import { OPERATIONS, openInputWorld, operationOf } from './world.ts'

const event = { type: 'order.paid', data: {} }
const file = { path: 'a.txt', content: 'a' }

/** Bodies that the document once allowed, and the daemon refused. */
const REFUSED: readonly (readonly [operation: string, body: object])[] = [
  ['keys.update', {}],
  ['webhooks.update', {}],
  ['apps.update', {}],
  ['settings.update_auth', {}],
  ['settings.update_auth', { providers: ['password', 'password'] }],
  ['settings.put_service', { kind: 'database', config: { A: 'postgres://user:secret@host' } }],
  ['webhooks.create', { url: 'https://a.example/', events: ['app.deployed', 'app.deployed'] }],
  ['webhooks.create', { url: 'https://a.example/', events: ['\0'] }],
  ['apps.create', { template_id: 'blank', alias: 'abcdefghjkmn' }],
  ['settings.update_auth', { allowed_redirects: ['https://shop.example.com/\0'] }],
  ['settings.update_auth', { allowed_redirects: ['not an address'] }],
  ['settings.create_domain', { hostname: 'https://shop.example.com' }],
  ['accounts.sign_in', { email: 'nobody', password: 'correct horse' }],
  ['keys.create', { name: 'a\0', scopes: ['apps:read'] }],
  ['keys.create', { name: ' \ufeff', scopes: ['apps:read'] }],
  ['events.publish', { ...event, id: 'order-1' }],
  ['events.publish', { ...event, type: 'order' }],
  ['events.publish', { ...event, data: { a: ['\0'] } }],
  ['webhooks.create', { url: 'https://a.example/', events: ['a.b'], headers: { 'a b': 'x' } }],
  ['webhooks.create', { url: 'https://a.example/', events: ['a.b'], headers: { a: ' x' } }],
  ['webhooks.create', { url: 'https://a.example/', events: ['a.b'], headers: { hOSt: 'x' } }],
  [
    'webhooks.create',
    { url: 'https://a.example/', events: ['a.b'], headers: { 'Content-Md5': 'x' } },
  ],
  ...[
    'a.example',
    'ftp://a.example/',
    'https://u@a.example/',
    'https://a.example/#a',
    'https:///',
  ].map((url) => ['webhooks.create', { url, events: ['app.deployed'] }] as const),
  ...[
    '../a',
    '/a',
    'a//b',
    'a\\b',
    '.a',
    'a/.b',
    'a.',
    'a ',
    'a:b',
    'a\u200bb',
    'a/'.repeat(12) + 'a',
  ].map(
    (path) =>
      [
        'edits.create',
        { operations: [{ op: 'write', path, content: 'a' }], base_revision: 1 },
      ] as const,
  ),
  ...[
    { key: 'a b', value: 'x' },
    { key: 'a', value: 'x'.repeat(4001) },
    { key: 'observe', value: 'none' },
  ].map(
    (config) =>
      [
        'edits.create',
        { operations: [{ op: 'set_config', ...config }], base_revision: 1 },
      ] as const,
  ),
  ['apps.create', { prompt: 'A shop', template_id: 'blank' }],
  ['apps.create', { prompt: 'A shop', files: [{ ...file, content_base64: '' }] }],
  ['apps.create', { template_id: 'blank', files: [file] }],
  ['apps.create', { template_id: 'blank', metadata: { a: '\0' } }],
  ['edits.create', { prompt: 'Do', operations: [{ op: 'delete', path: 'a' }], base_revision: 1 }],
  ['edits.create', { operations: [{ op: 'write', path: 'a' }], base_revision: 1 }],
  ['edits.create', { operations: [{ op: 'delete', path: 'a' }] }],
]

/** What an installation may be set up without. */
const NOT_SET_UP: ReadonlySet<string> = new Set(['capability_unavailable', 'model_not_configured'])

/** Paths that would match another one with a parameter in place of a literal, and what that one takes. */
const SIBLINGS: ReadonlyMap<string, readonly Operation['method'][]> = new Map(
  OPERATIONS.map(({ path }) => [
    path,
    OPERATIONS.filter(
      (one) =>
        one.path.split('{').length > path.split('{').length &&
        new RegExp(`^${one.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
    ).map(({ method }) => method),
  ]),
)

export const DOCUMENT_CHECKS: Checks = {
  async E12(t, saw) {
    const { send, request } = await openInputWorld(t, saw)
    const { body: app } = await request('POST', '/v1/apps', { body: { template_id: 'blank' } })
    for (const [id, body] of REFUSED) {
      const operation = operationOf(id)
      const documented = DOCUMENTED.find(({ operationId }) => operationId === id)
      if (documented === undefined) throw new Error(`${id} is not documented`)
      const shown = `${id} ${JSON.stringify(body)}`
      t.not(faultsOf(body, ...placeOfBody(documented), 'schema').length, 0, `document: ${shown}`)
      const path = operation.path
        .replace('{app_id}', String(app['id']))
        .replaceAll(/\{\w+\}/g, 'none')
      const answer = await send(operation, path, { text: JSON.stringify(body) })
      t.equal(answer.status, 400, shown)
    }
  },
  async E13(t, saw) {
    const { baseUrl, request } = await openInputWorld(t, saw)
    const allowed: Readonly<Record<string, string>> = {
      '/v1/keys/verify': 'POST',
      '/v1/keys/self': 'GET',
      '/v1/apps/none/files/search': 'POST',
      '/v1/keys/none': 'GET, PATCH, DELETE',
    }
    for (const [path, methods] of Object.entries(allowed)) {
      const response = await fetch(baseUrl + path, { method: 'PUT' })
      saw(`${response.status} method_not_allowed`)
      t.equal(response.headers.get('allow'), methods, path)
    }
    t.equal((await request('PUT', '/v1/nothing')).status, 404)
    let refused = 0
    for (const [path, methods] of SIBLINGS) {
      const own = OPERATIONS.filter((one) => one.path === path).map(({ method }) => method)
      for (const method of methods) {
        if (own.includes(method)) continue
        const answer = await request(method, path.replaceAll(/\{\w+\}/g, 'none'))
        t.match(answer, { status: 405, body: { error: { code: 'method_not_allowed' } } }, path)
        t.equal(answer.headers.get('allow'), own.join(', '), `${method} ${path}`)
        refused += 1
      }
    }
    t.ok(refused >= 7, `${refused} methods`)
  },
  async E14(t, saw) {
    const { send } = await openInputWorld(t, saw)
    let asked = 0
    for (const operation of OPERATIONS) {
      const { id, path, errors, example, input } = operation
      if (!errors.some((code) => NOT_SET_UP.has(code))) continue
      if (input.parts !== undefined) continue
      if (path.includes('{')) {
        const text = input.body === undefined ? {} : { text: JSON.stringify(example.body ?? {}) }
        const { code } = await send(operation, path.replaceAll(/\{\w+\}/g, '%00'), text)
        t.match(code, /(_not_found|^invalid_request)$/, id)
      }
      if (input.body === undefined) continue
      const wrong = await send(operation, path.replaceAll(/\{\w+\}/g, 'none'), {
        text: '{"no_such_name":1}',
      })
      t.equal(wrong.code, 'invalid_request', id)
      asked += 1
    }
    t.ok(asked >= 5, `${asked} operations`)
  },
  async E15(t, saw) {
    const streams = DOCUMENTED.flatMap(({ responses }) => {
      const stream = responses['200']?.content?.['text/event-stream']
      return stream === undefined ? [] : [stream.schema]
    })
    t.equal(streams.length, OPERATIONS.filter(({ effect }) => effect === 'stream').length)
    for (const { required, properties } of streams) {
      t.same(required, ['event', 'data'])
      t.match(properties?.['data'], { type: 'string', contentMediaType: 'application/json' })
    }
    saw('200')
  },
  async E19(t, saw) {
    const patterns = [...DOCUMENT_TEXT.matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(
      ([, text = '']) => JSON.parse(text) as string,
    )
    t.ok(patterns.length > 50, `${patterns.length} patterns`)
    // Classes whose members differ between engines, and groups that some engines lack.
    const differing = patterns.filter((pattern) => /\\[dDwWsSpPbBk]|\(\?[^:]/.test(pattern))
    t.same(differing, [])
    saw(`${differing.length}`)
    await Promise.resolve()
  },
  async E20(t, saw) {
    const { send } = await openInputWorld(t, saw)
    const email = '\u{f6044}\u00da@\u011a.\u0127\u00c7'
    const body = { email, password: 'correct horse' }
    const signIn = DOCUMENTED.find(({ operationId }) => operationId === 'accounts.sign_in')
    const list = DOCUMENTED.find(({ operationId }) => operationId === 'keys.list')
    const create = DOCUMENTED.find(({ operationId }) => operationId === 'apps.create')
    if (signIn === undefined || create === undefined) throw new Error('not documented')
    t.same(faultsOf(body, ...placeOfBody(signIn), 'schema'), [])
    const text = JSON.stringify(body)
    t.equal((await send(operationOf('accounts.sign_in'), '/v1/session', { text })).status, 401)

    const limit = list?.parameters?.find(({ name }) => name === 'limit')
    t.match(limit?.schema, { type: 'integer', minimum: 1, maximum: 100 })
    t.equal((await send(operationOf('keys.list'), '/v1/keys?limit=101')).status, 400)

    const form = resolveSchema(create.requestBody?.content?.['multipart/form-data']?.schema ?? {})
    t.equal(form.properties?.['prompt']?.minLength, 1)
    t.equal(form.properties?.['metadata']?.type, 'object')
  },
}
