import t from 'tap'
import { z } from 'zod'
import type { Answer as Printed } from '../../daemon/cli/ask.ts'
import { runCli } from '../../daemon/cli/program.ts'
import { commandsOf } from '../../daemon/operations/commands.ts'
import type { CommandRequest } from '../../daemon/cli/request.ts'
import { routesOf } from '../../daemon/client/route.ts'
import { errorRows } from '../../daemon/families/index.ts'
import { pageOf, pageQuery } from '../../daemon/families/wire.ts'
import { answer } from '../../daemon/http/middleware/answer.ts'
import type { AdmissionSteps } from '../../daemon/http/middleware/admit.ts'
import type { Answered } from '../../daemon/http/perform.ts'
import type { Family } from '../../daemon/operations/family.ts'
import type { Operation } from '../../daemon/operations/operation.ts'
import { operation } from '../../daemon/operations/operation.ts'
import { describeApi } from '../../daemon/openapi/document.ts'
import { defineErrors } from '../../lib/errors.ts'
import type { World } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

const bean = z.strictObject({ id: z.string(), note: z.string().nullable(), grams: z.int() })
const BEANS = [
  { id: 'b1', note: '=HYPERLINK("http://evil")', grams: -5 },
  { id: 'b2', note: 'dark, "oily"\nroast', grams: 7 },
  { id: 'b3', note: null, grams: 0 },
  { id: 'b4', note: '-0.10', grams: 0 },
  { id: 'b5', note: '-1+1', grams: 0 },
]

interface Shop {
  price: string
  sold: { readonly key: string | undefined; readonly grams: number }[]
}

function shopOf(shop: Shop): readonly Operation[] {
  const readPrices = operation({
    effect: 'read',
    id: 'beans.prices',
    summary: 'Read the prices',
    method: 'GET',
    path: '/v1/beans/prices',
    access: 'public',
    agent: { toolset: 'beans' },
    emits: ['beans'],
    input: {},
    output: z.strictObject({ price: z.string() }),
    errors: [],
    example: { response: { price: '1.00' } },
    cache: { seconds: 300 },
    run: async () => ({ price: shop.price }),
  })
  const listBeans = operation({
    effect: 'read',
    id: 'beans.list',
    summary: 'List beans',
    method: 'GET',
    path: '/v1/beans',
    access: { scope: 'beans:read', pinned: 'allowed' },
    agent: { toolset: 'beans' },
    emits: ['beans'],
    input: { query: z.strictObject(pageQuery) },
    output: pageOf(bean),
    errors: ['invalid_cursor'],
    example: { response: { data: [], has_more: false, next_cursor: null } },
    csv: { columns: ['id', 'note', 'grams'], row: ({ id, note, grams }) => [id, note, grams] },
    command: 'bean list',
    async run({ query }) {
      const first = query.cursor === undefined ? 0 : 2
      const data = BEANS.slice(first, first === 0 ? 2 : undefined)
      const has_more = first === 0
      return { data, has_more, next_cursor: has_more ? 'c2' : null }
    },
  })
  const buyBeans = operation({
    effect: 'write',
    id: 'beans.buy',
    summary: 'Buy beans',
    method: 'POST',
    path: '/v1/beans',
    access: { scope: 'beans:write', pinned: 'allowed' },
    agent: { toolset: 'beans' },
    emits: ['beans'],
    input: { body: z.strictObject({ grams: z.int().min(1) }) },
    output: z.strictObject({ grams: z.int() }),
    status: 201,
    errors: [],
    example: { body: { grams: 5 }, response: { grams: 5 } },
    quote: {
      output: z.strictObject({ dry_run: z.literal(true), cents: z.int() }),
      example: { dry_run: true, cents: 10 },
      run: async ({ body }) => ({ dry_run: true, cents: body.grams * 2 }),
    },
    idempotency: 'required',
    command: 'bean buy',
    conclusion: ({ grams }) => `Bought ${String(grams)} g.`,
    async run({ body, idempotencyKey }) {
      shop.sold.push({ key: idempotencyKey, grams: body.grams })
      return { grams: body.grams }
    },
  })
  return [readPrices, listBeans, buyBeans]
}

function familyOf(operations: readonly Operation[]): Family {
  return {
    name: 'beans',
    scopes: { beans: ['read', 'write'] },
    events: [],
    errors: defineErrors({}),
    operations,
  }
}

async function openShop(t: Parameters<typeof createWorld>[0]) {
  const shop: Shop = { price: '1.00', sold: [] }
  const world = await createWorld(t, { families: [familyOf(shopOf(shop))] })
  return { world, shop }
}

async function get({ baseUrl, mintKey }: World, path: string, headers = {}) {
  const { key } = await mintKey({ scopes: ['beans:read'] })
  const response = await fetch(baseUrl + path, {
    headers: { authorization: `Bearer ${key}`, ...headers },
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

await t.test('a public read may be kept by any cache, until it changes', async (t) => {
  const { world, shop } = await openShop(t)
  const first = await get(world, '/v1/beans/prices')
  const etag = first.headers.get('etag') ?? ''
  t.match(first, { status: 200, text: '{"price":"1.00"}' })
  t.equal(first.headers.get('cache-control'), 'public, max-age=300')
  t.match(etag, /^"[\w-]{22}"$/)
  const same = await get(world, '/v1/beans/prices', { 'if-none-match': etag })
  t.match(same, { status: 304, text: '' })
  t.equal(same.headers.get('etag'), etag)
  shop.price = '2.00'
  const changed = await get(world, '/v1/beans/prices', { 'if-none-match': etag })
  t.match(changed, { status: 200, text: '{"price":"2.00"}' })
})

await t.test('what is not public cannot be declared as cacheable', async (t) => {
  const { platform } = (await openShop(t)).world
  const [prices] = shopOf({ price: '1.00', sold: [] })
  for (const access of ['key', 'owner', { scope: 'beans:read', pinned: 'allowed' }] as const) {
    const declared = { ...prices, access } as Answered
    t.throws(() => answer(declared, platform, {} as AdmissionSteps), {
      message: 'beans.prices: only a public read may be cached',
    })
  }
})

await t.test('a list is CSV too, page by page', async (t) => {
  const { world } = await openShop(t)
  const first = await get(world, '/v1/beans?limit=2&format=csv')
  t.equal(first.status, 200)
  t.equal(
    first.text,
    'id,note,grams\r\n' +
      'b1,"\'=HYPERLINK(""http://evil"")",-5\r\n' +
      'b2,"dark, ""oily""\nroast",7\r\n',
    'a text is never a formula; a number stays one',
  )
  t.equal(first.headers.get('content-type'), 'text/csv; charset=utf-8; header=present')
  t.equal(first.headers.get('content-disposition'), 'attachment')
  t.equal(first.headers.get('cache-control'), 'no-store')
  const link = first.headers.get('link') ?? ''
  t.equal(link, '<?limit=2&format=csv&cursor=c2>; rel="next"')
  const last = await get(world, `/v1/beans${/<(.*)>/.exec(link)?.[1] ?? ''}`)
  t.equal(
    last.text,
    "id,note,grams\r\nb3,,0\r\nb4,-0.10,0\r\nb5,'-1+1,0\r\n",
    'an amount is one too',
  )
  t.equal(last.headers.get('link'), null)
  t.match(await get(world, '/v1/beans?format=json'), { status: 200, text: /^\{"data":/ })
  t.match(await get(world, '/v1/beans?format=xml'), { status: 400, text: /query\.format/ })
})

await t.test('a dry run is a price: nothing is done, and no Idempotency-Key is used', async (t) => {
  const { world, shop } = await openShop(t)
  const { request } = world
  const buying = { body: { grams: 5 }, headers: { 'idempotency-key': 'one' } }
  const quoted = await request('POST', '/v1/beans?dry_run=true', buying)
  t.match(quoted, { status: 200, body: { dry_run: true, cents: 10 } })
  t.same(shop.sold, [])
  t.match(await request('POST', '/v1/beans', buying), { status: 201, body: { grams: 5 } })
  t.match(await request('POST', '/v1/beans?dry_run=true', buying), { status: 200 })
  t.match(await request('POST', '/v1/beans?dry_run=true', { body: { grams: 5 } }), { status: 200 })
  t.match(await request('POST', '/v1/beans?dry_run=true', { body: { grams: 0 } }), { status: 400 })
  t.equal(shop.sold.length, 1)
  const { key } = await world.mintKey({ scopes: ['beans:read'] })
  t.match(await request('POST', '/v1/beans?dry_run=true', { ...buying, as: key }), { status: 403 })
})

await t.test('an operation may need an Idempotency-Key, and knows it', async (t) => {
  const { world, shop } = await openShop(t)
  const { request } = world
  const body = { grams: 5 }
  t.match(await request('POST', '/v1/beans', { body }), {
    status: 400,
    body: { error: { code: 'idempotency_key_required' } },
  })
  t.same(shop.sold, [])
  const headers = { 'idempotency-key': 'order-77' }
  for (const replayed of [null, 'true']) {
    const bought = await request('POST', '/v1/beans', { body, headers })
    t.equal(bought.status, 201)
    t.equal(bought.headers.get('idempotency-replayed'), replayed)
  }
  t.same(shop.sold, [{ key: 'order-77', grams: 5 }])
})

await t.test('all of this is described', (t) => {
  const families = [familyOf(shopOf({ price: '1.00', sold: [] }))]
  const { paths } = describeApi(families, errorRows(families), 'http://127.0.0.1:8420')
  t.match(paths, {
    '/v1/beans/prices': {
      get: { responses: { 200: { headers: { ETag: {}, 'Cache-Control': {} } }, 304: {} } },
    },
    '/v1/beans': {
      get: {
        parameters: [
          { name: 'limit', schema: { type: 'integer' } },
          { name: 'cursor' },
          { in: 'query', name: 'format' },
          { in: 'header', name: 'Keyhook-Account' },
        ],
        responses: {
          200: {
            headers: { Link: {} },
            content: { 'text/csv': { schema: { description: 'Columns: id, note, grams.' } } },
          },
        },
      },
      post: {
        parameters: [
          { in: 'query', name: 'dry_run', schema: { type: 'boolean', default: false } },
          { in: 'header', name: 'Idempotency-Key', required: true },
          { in: 'header', name: 'Keyhook-Account' },
        ],
        responses: {
          200: { content: { 'application/json': { example: { dry_run: true, cents: 10 } } } },
          201: { content: { 'application/json': { example: { grams: 5 } } } },
          400: { description: /idempotency_key_required/ },
        },
      },
    },
  })
  t.end()
})

await t.test('the client has none of the responses that are no record', (t) => {
  const operations = shopOf({ price: '1.00', sold: [] })
  const queries = routesOf(operations).map(({ id, query = [] }) => [id, query])
  t.same(queries, [
    ['beans.prices', []],
    ['beans.list', ['limit', 'cursor']],
    ['beans.buy', ['dry_run']],
  ])
  t.end()
})

/** A command line over answers that are given. */
async function run(line: string, answers: readonly unknown[]) {
  const ran = { code: 0, out: '', err: '', asked: [] as CommandRequest[] }
  const terminal = {
    env: {},
    out: (text: string) => void (ran.out += text),
    err: (text: string) => void (ran.err += text),
    readInput: () => Promise.resolve(''),
  }
  const ask = async (request: CommandRequest): Promise<Printed> => {
    ran.asked.push(request)
    return { status: 200, text: JSON.stringify(answers[ran.asked.length - 1]) }
  }
  const families = [familyOf(shopOf({ price: '1.00', sold: [] }))]
  ran.code = await runCli(line.split(' '), terminal, commandsOf(families), ask)
  return ran
}

await t.test('the command line prints a list as CSV, all of its pages as one table', async (t) => {
  const pages = [
    { data: BEANS.slice(1, 2), has_more: true, next_cursor: 'c2' },
    { data: BEANS.slice(2, 3), has_more: false, next_cursor: null },
  ]
  const one = await run('bean list --format csv --limit 1', pages)
  t.match(one, { code: 0, err: 'There is more: --cursor c2\n' })
  t.equal(one.out, 'id,note,grams\r\nb2,"dark, ""oily""\nroast",7\r\n')
  const all = await run('bean list --format csv --all', pages)
  t.equal(all.out, 'id,note,grams\r\nb2,"dark, ""oily""\nroast",7\r\nb3,,0\r\n')
  t.same(
    all.asked.map(({ path }) => path),
    ['/v1/beans', '/v1/beans?cursor=c2'],
  )
})

await t.test('the command line concludes nothing from a dry run', async (t) => {
  const quoted = await run('bean buy --grams 5 --dry-run', [{ dry_run: true, cents: 10 }])
  t.match(quoted.asked, [{ path: '/v1/beans?dry_run=true' }])
  t.equal(quoted.out, 'dry_run  true\ncents    10\n')
  const bought = await run('bean buy --grams 5', [{ grams: 5 }])
  t.match(bought.out, /Bought 5 g\./)
})
