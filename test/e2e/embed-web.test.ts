import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import t from 'tap'
import { ROOT } from '../arch/source.ts'
import { packKeyhook } from '../support/packed.ts'
import type { RunningShop } from '../support/shop.ts'
import { openShop } from '../support/shop.ts'

const packed = await packKeyhook()
t.teardown(() => packed.remove())
const shop = await openShop(packed, { database: 'own-file', server: 'hono' })

/** What every framework's function must do, by the name `respond`. */
const CLAIMS = `
  const base = 'http://127.0.0.1:3000/developer/v1'
  const { key } = await keyhook.as('acct_1').keys.create({ name: 'k', scopes: ['keys:*', 'webhooks:*'] })
  const headers = { authorization: 'Bearer ' + key, 'content-type': 'application/json' }
  const ask = (path, init) => respond(new Request(base + path, { ...init, headers }))
  const post = (path, body) => ask(path, { method: 'POST', body: JSON.stringify(body) })

  const made = await post('/keys', { name: 'narrow', scopes: ['keys:read'] })
  console.log('made', made.status, (await made.json()).name)
  const unknown = await ask('/keys/0198c0de-0000-7000-8000-000000000000')
  console.log('unknown', unknown.status)
  const wrong = await post('/keys', { name: 5 })
  console.log('wrong', wrong.status, (await wrong.json()).error.code)
  const anonymous = await respond(new Request(base + '/keys'))
  console.log('anonymous', anonymous.status, anonymous.headers.get('content-type'))
  const large = await ask('/openapi.json')
  console.log('document', Object.keys((await large.json()).paths).length > 20)
  const head = await ask('/openapi.json', { method: 'HEAD' })
  console.log('head', head.body)
  const elsewhere = await respond(new Request('http://127.0.0.1:3000/other'))
  console.log('elsewhere', elsewhere.status, (await elsewhere.json()).error.code)
  const pieces = new ReadableStream({
    pull(body) {
      body.enqueue(new TextEncoder().encode('{"name":"streamed","scopes":["keys:read"]}'))
      body.close()
    },
  })
  const streamed = await ask('/keys', { method: 'POST', body: pieces, duplex: 'half' })
  console.log('streamed', streamed.status, (await streamed.json()).name)
  await close()
`

const SEEN = [
  'made 201 narrow',
  'unknown 404',
  'wrong 400 invalid_request',
  'anonymous 401 application/json; charset=utf-8',
  'document true',
  'head null',
  'elsewhere 404 route_not_found',
  'streamed 201 streamed',
]

/** How a framework calls what its file exports. */
const FRAMEWORKS: Readonly<Record<string, string>> = {
  'a plain Request': `const respond = keyhook.fetch`,
  'Next, with its context': `
    import * as route from './app/developer/[[...path]]/route.js'
    const respond = (request) => {
      const handle = route[request.method === 'HEAD' ? 'GET' : request.method]
      return handle(request, { params: Promise.resolve({ path: [] }) })
    }`,
  'SvelteKit, with its event': `
    import { fallback } from './src/routes/developer/[...path]/+server.js'
    const respond = (request) => fallback({ request, getClientAddress: () => '192.0.2.1' })`,
  'Hono, without a server': `
    import { Hono } from 'hono'
    const app = new Hono()
    app.all('/developer/*', (c) => keyhook.fetch(c.req.raw))
    app.notFound((c) => keyhook.fetch(c.req.raw))
    const respond = (request) => app.fetch(request)`,
}

for (const [name, respond] of Object.entries(FRAMEWORKS)) {
  await t.test(name, async (t) => {
    const printed = await shop.run(`
      import { close, keyhook } from './database.mjs'
      ${respond}
      ${CLAIMS}
    `)
    for (const line of SEEN) t.ok(printed.includes(line), line, { printed })
  })
}

/** Runtimes that npm has; where one is not installed, its test says so. */
const RUNTIMES = { bun: ['run', 'bun.mjs'], deno: ['run', '--allow-all', 'deno.mjs'] } as const

for (const [name, args] of Object.entries(RUNTIMES)) {
  await t.test(`${name} serves it`, async (t) => {
    const program = join(ROOT, 'node_modules', '.bin', name)
    const isThere = existsSync(program) && spawnSync(program, ['--version']).status === 0
    if (!isThere) {
      t.comment(`${name} is not installed: npm install --no-save ${name}`)
      t.pass('left out')
      return
    }
    const running = await shop.start([program, ...args])
    t.teardown(() => running.stop())
    await serves(t, running)
  })
}

async function serves(t: Test, { url }: RunningShop): Promise<void> {
  const answer = await fetch(`${url}/developer/v1/keys`)
  t.equal(answer.status, 401)
  const document = await fetch(`${url}/developer/v1/openapi.json`)
  t.ok(Object.keys(((await document.json()) as { paths: object }).paths).length > 20)
}
