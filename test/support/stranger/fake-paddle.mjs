/** A fake of the service of docs/plugins.md, on loopback: no money moves. */
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createMemoryProcessor } from 'keyhook/plugins/billing/memory'

const API_KEY = 'pdl_fake_key_a1'
const SECRET = 'pdl_fake_secret_b2'
const STATUS = { rejected: 400, not_found: 404, unavailable: 503 }
const PLAN = { price_micros: 25_000_000, currency: 'USD' }

const failed = (code) => Object.assign(new Error(code), { code })

/** Its address and credentials as settings, and what its customers and their banks do. */
export async function startFakePaddle() {
  const memory = createMemoryProcessor({ clock: { now: () => Date.now() } })
  const { till } = memory
  const never = new AbortController().signal

  const routes = [
    [/^POST \/customers$/, (_, given) => memory.createCustomer(given)],
    [/^POST \/checkouts$/, (_, given) => memory.createCheckout(given)],
    [/^POST \/checkouts\/(\w+)\/expire$/, ([id]) => memory.expireCheckout(id)],
    [/^POST \/checkouts\/(\w+)\/use$/, ([id], { key }) => memory.usePaymentMethod(id, key)],
    [
      /^POST \/subscriptions\/(\w+)\/cancel$/,
      ([id], { key }) => memory.cancelSubscription(id, key),
    ],
    [/^POST \/portals$/, (_, given) => memory.openPortal(given)],
    [/^GET \/plan$/, async () => PLAN],
    [/^GET \/changes\?since=(\d+)&cursor=(\d*)$/, ([since, cursor]) => changes(since, cursor)],
    [/^GET \/objects\/(\w+)\/(\w+)$/, ([kind, id]) => memory.fetchFacts({ kind, id }, never)],
  ]
  const changes = (since, cursor) =>
    memory.changedSince(Number(since), cursor === '' ? null : cursor, never)

  const server = createServer((request, response) => {
    const answer = (status, body) => response.writeHead(status).end(JSON.stringify(body ?? {}))
    carryOut(request).then(
      (body) => answer(200, body),
      ({ code }) => answer(STATUS[code] ?? 500, { code }),
    )
  })

  async function carryOut(request) {
    const parts = []
    for await (const part of request) parts.push(part)
    if (request.headers.authorization !== `Bearer ${API_KEY}`) throw failed('rejected')
    const text = Buffer.concat(parts).toString()
    const key = request.headers['idempotency-key']
    const given = { ...(text === '' ? {} : JSON.parse(text)), key }
    for (const [form, run] of routes) {
      const [, ...found] = form.exec(`${request.method} ${request.url}`) ?? []
      if (form.test(`${request.method} ${request.url}`)) return run(found, given)
    }
    throw failed('not_found')
  }

  const signed = (body, at, secret = SECRET) => {
    const mac = createHmac('sha256', secret).update(`${at}:`).update(body).digest('hex')
    return { headers: { 'paddle-signature': `ts=${at};h1=${mac}` }, body }
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const settings = {
    PADDLE_API_KEY: API_KEY,
    PADDLE_WEBHOOK_SECRET: SECRET,
    PADDLE_URL: `http://127.0.0.1:${server.address().port}`,
  }
  return {
    settings,
    till: {
      ...till,
      take: async (how) => (await till.take(how)).map(({ body }) => signed(body, till.now())),
      sign: (body, at) => signed(body, at),
      forge: (body, at) => signed(body, at, 'another secret'),
      stray: () => signed(till.stray().body, till.now()),
    },
    async close() {
      await memory.close()
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}
