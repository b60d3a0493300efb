import t from 'tap'
import type { Delivery } from '../../plugins/billing/conformance.ts'
import { openShop } from '../support/payments.ts'

const SECOND = 1000

type Shop = Awaited<ReturnType<typeof openShop>>

interface Hostile {
  readonly what: string
  readonly status: number
  made(shop: Shop, right: Delivery): Delivery
}

const text = (value: string): Uint8Array => new TextEncoder().encode(value)

const TABLE: readonly Hostile[] = [
  {
    what: 'another secret',
    status: 400,
    made: ({ till, clock }, { body }) => till.forge(body, clock.now()),
  },
  {
    what: 'one byte changed',
    status: 400,
    made: (_, { headers, body }) => ({
      headers,
      body: body.map((byte, at) => (at === 9 ? byte ^ 1 : byte)),
    }),
  },
  {
    what: 'cut short',
    status: 400,
    made: (_, { headers, body }) => ({ headers, body: body.slice(0, -1) }),
  },
  { what: 'empty', status: 400, made: (_, { headers }) => ({ headers, body: text('') }) },
  { what: 'no signature', status: 400, made: (_, { body }) => ({ headers: {}, body }) },
  {
    what: '301 s old',
    status: 400,
    made: ({ till, clock }, { body }) => till.sign(body, clock.now() - 301 * SECOND),
  },
  {
    what: '301 s ahead',
    status: 400,
    made: ({ till, clock }, { body }) => till.sign(body, clock.now() + 301 * SECOND),
  },
  {
    what: 'over 512 KiB',
    status: 413,
    made: ({ till, clock }) => till.sign(text(' '.repeat(512 * 1024 + 1)), clock.now()),
  },
]

await t.test('what is not signed by the processor changes nothing', async (t) => {
  const shop = await openShop(t)
  await shop.payTopup(10_000_000, 'order-1')
  const sent = await shop.till.take()
  const right = sent.find(({ body }) => Buffer.from(body).includes('"checkout"'))
  if (right === undefined) throw new Error('no event')
  for (const { what, status, made } of TABLE) {
    t.equal(await shop.send(made(shop, right)), status, what)
  }
  await shop.work()
  t.same(await shop.wallet(), { balance: 0, held: 0 })
  t.equal(await shop.send(right), 200, 'the same event as it was sent')
  await shop.work()
  t.same(await shop.wallet(), { balance: 10_000_000, held: 0 })
})

await t.test(
  'an event is kept before the answer; again, and of an unknown type, it is 200',
  async (t) => {
    const shop = await openShop(t)
    await shop.payTopup(10_000_000, 'order-1')
    const sent = await shop.till.take()
    for (const delivery of [...sent, ...sent, shop.till.stray()]) {
      t.equal(await shop.send(delivery), 200)
    }
    t.same(await shop.wallet(), { balance: 0, held: 0 }, 'an event moves no money by itself')
    await shop.work()
    t.same(await shop.wallet(), { balance: 10_000_000, held: 0 })
    t.same(await shop.verified(), [])
  },
)

await t.test('there is an intake of the configured processor alone', async (t) => {
  const { baseUrl, till } = await openShop(t)
  const { body } = till.stray()
  for (const path of ['/hooks/billing/stripe', '/hooks/billing', '/hooks/billing/memory/x']) {
    const answer = await fetch(baseUrl + path, { method: 'POST', body: Buffer.from(body) })
    t.equal(answer.status, 404, path)
    await answer.arrayBuffer()
  }
})

await t.test('an event whose unit fails is not answered with 200', async (t) => {
  const shop = await openShop(t)
  await shop.payTopup(10_000_000, 'order-1')
  const [first] = await shop.till.take()
  if (first === undefined) throw new Error('no event')
  const { store } = shop.platform
  const { write } = store
  Object.assign(store, { write: () => Promise.reject(new Error('disk full')) })
  t.equal(await shop.send(first), 500)
  Object.assign(store, { write })
  t.equal(await shop.send(first), 200)
})
