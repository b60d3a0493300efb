import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { PAGES } from '../../daemon/docs/write.ts'
import { FAMILIES, errorRows } from '../../daemon/families/index.ts'
import type { Operation } from '../../daemon/operations/operation.ts'
import { describeApi } from '../../daemon/openapi/document.ts'
import { sharedErrors } from '../../daemon/openapi/shared-errors.ts'
import { JOB_KINDS } from '../../plugins/platform/contract/jobs.ts'
import { ROOT } from '../arch/source.ts'
import { formatted } from '../support/formatted.ts'
import type { AnyBody, MintedKey, World } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

const operations = FAMILIES.flatMap((family) => family.operations)
const rows = errorRows(FAMILIES)

await t.test('every operation has its own id and its own place', async (t) => {
  const ids = operations.map(({ id }) => id)
  const places = operations.map(({ method, path }) => `${method} ${path}`)
  t.equal(new Set(ids).size, ids.length)
  t.equal(new Set(places).size, places.length)
  t.ok(operations.length >= 25)
})

await t.test('every operation declares who may call it, by a scope that exists', async (t) => {
  const scopes = new Set(
    FAMILIES.flatMap(({ scopes }) =>
      Object.entries(scopes).flatMap(([name, actions]) =>
        actions.map((action) => `${name}:${action}`),
      ),
    ),
  )
  for (const { id, access } of operations) {
    if (typeof access === 'object') t.ok(scopes.has(access.scope), `${id}: ${access.scope}`)
    else t.ok(['key', 'user', 'owner', 'operator', 'portal', 'public'].includes(access), id)
  }
})

await t.test('every example satisfies the schemas it stands for', async (t) => {
  for (const { id, input, output, example } of operations) {
    t.match(output.safeParse(example.response), { success: true }, `${id}: response`)
    if (input.params !== undefined) {
      t.match(input.params.safeParse(example.params), { success: true }, `${id}: params`)
    }
    if (input.body !== undefined && example.body !== undefined) {
      t.match(input.body.safeParse(example.body), { success: true }, `${id}: body`)
    }
    if (input.body !== undefined && example.body === undefined) {
      t.match(input.body.safeParse(undefined), { success: true }, `${id}: needs an example body`)
    }
  }
})

await t.test(
  'every code that an operation may answer is declared once and documented',
  async (t) => {
    const docs = readFileSync(join(ROOT, 'docs/errors.md'), 'utf8')
    for (const operation of operations) {
      for (const code of [...operation.errors, ...sharedErrors(operation)]) {
        t.ok(code in rows, `${operation.id}: ${code}`)
      }
    }
    for (const code of Object.keys(rows)) t.ok(docs.includes(`<a id="${code}"></a>`), code)
    const declared = FAMILIES.flatMap(({ errors }) => Object.keys(errors.rows))
    t.equal(new Set(declared).size, declared.length, 'no two families declare the same code')
  },
)

await t.test('the generated pages of docs/ are current: npm run docs writes them', async (t) => {
  for (const [name, text] of Object.entries(PAGES)) {
    const expected = await formatted(name, text)
    t.ok(readFileSync(join(ROOT, 'docs', name), 'utf8') === expected, name)
  }
})

await t.test('the OpenAPI document holds every operation and nothing else', async (t) => {
  const document = describeApi(FAMILIES, rows, 'http://127.0.0.1:8420')
  const described = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  )
  t.same(described.sort(), operations.map(({ method, path }) => `${method} ${path}`).sort())
})

/** A path with each parameter filled in, and the query of the example. */
function pathOf(
  { path, example }: Operation,
  ids: Readonly<Record<string, string>>,
  query: Readonly<Record<string, string>> = {},
): string {
  const asked = new URLSearchParams({ ...example.query, ...query }).toString()
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'nothing')
  return asked === '' ? filled : `${filled}?${asked}`
}

function bodyOf({ input, example }: Operation): { body?: unknown; form?: FormData } {
  if (input.parts !== undefined) return { form: formOfFile() }
  return input.body === undefined || example.body === undefined ? {} : { body: example.body }
}

function formOfFile(): FormData {
  const form = new FormData()
  form.append('file', new File(['# Hours'], 'hours.md'))
  return form
}

/** Those whose records belong to an account: the others serve users, operators and everybody. */
const served = FAMILIES.filter(
  ({ name }) => !['accounts', 'audit', 'discovery', 'operator', 'seals'].includes(name),
)
const world = (t: Parameters<typeof createWorld>[0]): Promise<World> =>
  createWorld(t, {
    families: served.filter(({ name }) => name !== 'keys'),
  })
const mounted = served.flatMap((family) => family.operations)

/** Jobs that run whichever families are served: holds have deadlines, and payments arrive, without any. */
const OF_THE_PROCESS = ['billing_event', 'billing_sweep']

await t.test('every kind of job has one handler, of a family or of the process', async (t) => {
  const { platform } = await world(t)
  const kinds = FAMILIES.flatMap(({ jobs = [] }) => jobs).map(
    ({ createHandler }) => createHandler(platform, () => undefined).kind,
  )
  t.same([...kinds, ...OF_THE_PROCESS].sort(), Object.keys(JOB_KINDS).sort())
})

await t.test('without credentials every operation that is not public is refused', async (t) => {
  const { request } = await world(t)
  for (const operation of mounted.filter(({ access }) => access !== 'public')) {
    const answer = await request(operation.method, pathOf(operation, {}), {
      as: null,
      ...bodyOf(operation),
    })
    t.equal(answer.status, 401, operation.id)
    t.match(answer.body, { error: { code: 'missing_credentials' } }, operation.id)
    t.equal(answer.headers.get('www-authenticate'), 'Bearer', operation.id)
  }
})

await t.test('a key without the scope is refused, whatever the path names', async (t) => {
  const { request, mintKey } = await world(t)
  const { key } = await mintKey({ scopes: ['discovery:read'] })
  for (const operation of mounted) {
    const { access } = operation
    if (typeof access !== 'object') continue
    const answer = await request(operation.method, pathOf(operation, {}), {
      as: key,
      ...bodyOf(operation),
    })
    t.match(
      answer,
      {
        status: 403,
        body: {
          error: { code: 'insufficient_scope', details: { required_scopes: [access.scope] } },
        },
      },
      operation.id,
    )
    t.match(answer.headers.get('www-authenticate'), access.scope, operation.id)
  }
})

await t.test(
  'unknown query parameters and body fields are refused by every operation',
  async (t) => {
    const { request, user, operator } = await world(t)
    for (const operation of mounted) {
      const path = pathOf(operation, {})
      if (operation.access === 'key' || operation.access === 'portal') continue
      const as = operation.access === 'operator' ? operator : user
      const surprising = pathOf(operation, {}, { surprise: '1' })
      const query = await request(operation.method, surprising, {
        as,
        ...bodyOf(operation),
      })
      t.match(
        query,
        { status: 400, body: { error: { code: 'invalid_request' } } },
        `${operation.id}: query`,
      )
      const { errors } = query.body['error'] as { errors: readonly { location: string }[] }
      const locations = errors.map(({ location }) => location)
      t.ok(locations.includes('query.surprise'), `${operation.id}: ${locations.join()}`)
      if (operation.method === 'GET' || operation.input.parts !== undefined) continue
      const body = { ...(bodyOf(operation).body as object), surprise: 1 }
      const answer = await request(operation.method, path, { as, body })
      t.match(
        answer,
        { status: 400, body: { error: { code: 'invalid_request' } } },
        `${operation.id}: body`,
      )
    }
  },
)

await t.test('foreign and unknown ids give the same answer', async (t) => {
  const { request, addAccount, userOf } = await world(t)
  const other = userOf(await addAccount())
  const theirs = await idsOf(request, other)
  const unknown = {
    app_id: '000000000000',
    key_id: '01890a5d-ac96-774b-bcce-b302099a8057',
    webhook_id: '01890a5d-ac96-774b-bcce-b302099a8057',
    delivery_id: '01890a5d-ac96-774b-bcce-b302099a8057',
    deployment_id: '01890a5d-ac96-774b-bcce-b302099a8057',
    file_id: '01890a5d-ac96-774b-bcce-b302099a8057',
    domain_id: '01890a5d-ac96-774b-bcce-b302099a8057',
    edit_id: '01890a5d-ac96-774b-bcce-b302099a8057',
    error_id: '01890a5d-ac96-774b-bcce-b302099a8057',
    event_id: 'evt_00000000000000000000000000',
  }
  // A user is refused by those of the operator, whatever the path names.
  const asked = mounted.filter(({ path, access }) => /_id\}/.test(path) && access !== 'operator')
  for (const operation of asked) {
    const answers = await Promise.all(
      [theirs, unknown].map((ids) =>
        request(operation.method, pathOf(operation, ids), bodyOf(operation)),
      ),
    )
    const [foreign, missing] = answers.map(({ status, body }) => ({
      status,
      error: { ...(body['error'] as AnyBody), request_id: null },
    }))
    t.equal(foreign?.status, 404, operation.id)
    t.same(foreign, missing, operation.id)
  }
})

await t.test('an app that a key may not see is 404 on every route below it', async (t) => {
  const within = operations.filter(({ path }) => path.includes('{app_id}'))
  const families = new Set(within.map(({ id }) => id.split('.')[0]))
  for (const family of ['apps', 'edits', 'files']) t.ok(families.has(family), family)
  t.same(
    within.filter((operation) => !mounted.includes(operation)),
    [],
    'each of them is walked to',
  )
  const { request, mintKey, addAccount, userOf, user } = await world(t)
  const ids = await idsOf(request, user)
  const app = `/v1/apps/${ids['app_id']}`
  const before = await request('GET', app)
  const other = await request('POST', '/v1/apps', { body: { template_id: 'blank' } })
  const scopes = ['*:*']
  const stranger = userOf(await addAccount())
  const missing = { status: 404, body: { error: { code: 'app_not_found' } } }
  const refused = { status: 403, body: { error: { code: 'key_pinned' } } }
  const foreign = await mintKey({ scopes }, stranger)
  const elsewhere = await mintKey({ scopes, apps: [String(other.body['id'])] })
  for (const operation of within) {
    const { access, id, method } = operation
    const ask = ({ key }: MintedKey) =>
      request(method, pathOf(operation, ids), { as: key, ...bodyOf(operation) })
    t.match(await ask(foreign), missing, `${id}: a key of another account`)
    // Refused by the key and the route alone, whatever there is.
    const isClosed = typeof access === 'object' && access.pinned === 'refused'
    t.match(await ask(elsewhere), isClosed ? refused : missing, `${id}: a key pinned elsewhere`)
  }
  t.same((await request('GET', app)).body, before.body, 'nothing came of it')
  t.equal((await request('GET', `${app}/files/${ids['file_id']}`)).status, 200)
})

/** One of everything that has an id, in an account. */
async function idsOf(
  request: World['request'],
  as: Parameters<World['request']>[2] extends infer Asking
    ? NonNullable<Asking> extends { as?: infer As }
      ? As
      : never
    : never,
): Promise<Readonly<Record<string, string>>> {
  const asking = as === undefined ? {} : { as }
  const post = async (path: string, body?: unknown): Promise<AnyBody> =>
    (await request('POST', path, { ...asking, ...(body === undefined ? {} : { body }) })).body
  const app = await post('/v1/apps', { template_id: 'blank' })
  const files = await request<{ data: readonly AnyBody[] }>(
    'POST',
    `/v1/apps/${String(app['id'])}/files`,
    { ...asking, form: formOfFile() },
  )
  const edit = await post(`/v1/apps/${String(app['id'])}/edits`, {
    operations: [{ op: 'write', path: 'a.txt', content: 'a' }],
    base_revision: 1,
  })
  const domain = await post(`/v1/apps/${String(app['id'])}/settings/domains`, {
    hostname: 'shop.example.com',
  })
  const deployment = await post(`/v1/apps/${String(app['id'])}/deploy/publish`, {})
  const key = await post('/v1/keys', { name: 'theirs', scopes: ['apps:read'] })
  const webhook = await post('/v1/webhooks', { url: 'http://127.0.0.1:9', events: ['app.created'] })
  const delivery = await post(`/v1/webhooks/${String(webhook['id'])}/test`)
  t.equal(typeof delivery['event_id'], 'string')
  return {
    app_id: String(app['id']),
    deployment_id: String(deployment['id']),
    domain_id: String(domain['id']),
    edit_id: String(edit['id']),
    file_id: String(files.body.data[0]?.['id']),
    key_id: String(key['id']),
    webhook_id: String(webhook['id']),
    delivery_id: String(delivery['id']),
    event_id: String(delivery['event_id']),
  }
}
