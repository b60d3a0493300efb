import t from 'tap'
import { packKeyhook } from '../support/packed.ts'
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
