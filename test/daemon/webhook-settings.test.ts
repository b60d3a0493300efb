import { readdir, readFile } from 'node:fs/promises'
import t from 'tap'
import { auditFamily } from '../../daemon/families/audit/family.ts'
import { SECOND } from '../../lib/time.ts'
import { codeOf } from '../support/answer.ts'
import { createClock, turn } from '../support/clock.ts'
import type { ReceivedRequest } from '../support/receiver.ts'
import {
  deliveryOf,
  hasStatus,
  headersOf,
  heldAnswer,
  publish,
  receiverFor,
  register,
  shopWorld,
} from '../support/webhooks.ts'
import type { Answer, AnyBody, World } from '../support/world.ts'

const NO_REQUEST: ReceivedRequest = { head: '', body: '', connection: 0 }
const VALUE = 'Bearer r_3b9f1c7a'

type Headers = Readonly<Record<string, string>>

const hook = (url: string, changes: AnyBody = {}): AnyBody => ({
  url,
  events: ['app.deployed'],
  ...changes,
})

const eventIn = ({ body }: ReceivedRequest): AnyBody => JSON.parse(body) as AnyBody

const change = (world: World, id: string, body: AnyBody): Promise<Answer<AnyBody>> =>
  world.request('PATCH', `/v1/webhooks/${id}`, { body })

await t.test('headers of one’s own', async (t) => {
  await t.test('are sent, their names shown, their values never again', async (t) => {
    const world = await shopWorld(t, { families: [auditFamily] })
    const receiver = await receiverFor(t)
    const headers = { 'X-Receiver': 'billing', Authorization: VALUE }
    const asking = { body: hook(receiver.url, { headers }), headers: { 'idempotency-key': 'one' } }
    const made = await world.request('POST', '/v1/webhooks', asking)
    const id = String(made.body['id'])
    t.match(made.body, { header_names: ['X-Receiver', 'Authorization'] })
    await deliveryOf(world, { id }, await publish(world), hasStatus('succeeded'))
    t.match(headersOf(receiver.requests[0] ?? NO_REQUEST), headers)

    const answers = [
      made,
      await world.request('POST', '/v1/webhooks', asking),
      await change(world, id, { headers: { Authorization: VALUE } }),
      ...(await Promise.all(
        [
          '/v1/webhooks',
          `/v1/webhooks/${id}`,
          `/v1/webhooks/${id}/deliveries`,
          '/v1/audit-log',
        ].map((path) => world.request('GET', path)),
      )),
    ]
    t.match(answers[2]?.body, { header_names: ['Authorization'] })
    for (const { status, body } of answers) {
      t.ok(status < 300)
      t.notMatch(JSON.stringify(body), VALUE)
      t.notMatch(JSON.stringify(body), 'billing')
    }
    const names = await readdir(t.testdirName)
    const files = await Promise.all(names.map((name) => readFile(`${t.testdirName}/${name}`)))
    const rows = Buffer.concat(files)
    t.ok(rows.includes('X-Receiver'), 'the rows are in what is searched')
    t.notOk(rows.includes(VALUE))
  })

  await t.test('are refused with one answer that names each, and never a value', async (t) => {
    const world = await shopWorld(t)
    const { url } = await receiverFor(t)
    const webhook = await register(world, { url, headers: { 'X-Kept': 'kept' } })
    const secret = 'never-said'
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`X-${at}`, secret]))
    const tables: readonly (readonly [why: string, headers: AnyBody, faulty: readonly string[]])[] =
      [
        [
          'ours',
          { 'service-signature': secret, 'X-Service-Event': secret },
          ['service-signature', 'X-Service-Event'],
        ],
        ['those of Standard Webhooks', { 'Webhook-Id': secret }, ['Webhook-Id']],
        ['of the message', { 'Content-Type': secret, HOST: secret }, ['Content-Type', 'HOST']],
        [
          'of the connection',
          { Connection: secret, 'Transfer-Encoding': secret },
          ['Connection', 'Transfer-Encoding'],
        ],
        ['a line break in a value', { 'X-A': `${secret}\r\nX-B: c` }, ['X-A']],
        ['a line break in a name', { 'X-A\r\nX-B': secret }, ['X-A\r\nX-B']],
        ['no name', { '': secret }, ['']],
        ['the same in another case', { 'X-Tenant': secret, 'x-tenant': secret }, ['x-tenant']],
        ['white space around', { 'X-A': ` ${secret}` }, ['X-A']],
        ['beyond Latin-1', { 'X-A': `${secret}€` }, ['X-A']],
        [
          'too long',
          { 'X-A': secret.padEnd(1001, '.'), ['X'.repeat(101)]: secret },
          ['X-A', 'X'.repeat(101)],
        ],
      ]
    for (const [why, headers, faulty] of tables) {
      const made = await world.request('POST', '/v1/webhooks', { body: hook(url, { headers }) })
      const changed = await change(world, webhook.id, { headers })
      for (const refused of [made, changed]) {
        t.equal(codeOf(refused), '400 invalid_request', why)
        const { errors } = refused.body['error'] as { errors: { location: string; code: string }[] }
        t.same(
          errors.map(({ location }) => location),
          faulty.map((name) => `body.headers.${name}`),
        )
        t.notMatch(JSON.stringify(refused.body), secret)
      }
    }
    for (const headers of [many, [], 'X-A: b', { 'X-A': 1 }, { 'X-A': null }]) {
      t.equal(codeOf(await change(world, webhook.id, { headers })), '400 invalid_request')
    }
    const { body } = await world.request('GET', `/v1/webhooks/${webhook.id}`)
    t.same(body['header_names'], ['X-Kept'], 'a refusal changes nothing')
    const twenty = Object.fromEntries(Object.entries(many).slice(0, 20))
    t.equal(codeOf(await change(world, webhook.id, { headers: twenty })), '200')
  })

  await t.test('stay with their origin: another one is not sent them', async (t) => {
    const world = await shopWorld(t)
    const [receiver, other] = [await receiverFor(t), await receiverFor(t)]
    const webhook = await register(world, { url: receiver.url, headers: { Authorization: VALUE } })
    const namesAfter = async (body: AnyBody): Promise<unknown> =>
      (await change(world, webhook.id, body)).body['header_names']
    const sendTo = async ({ requests }: typeof receiver): Promise<Headers> => {
      await deliveryOf(world, webhook, await publish(world), hasStatus('succeeded'))
      return headersOf(requests.at(-1) ?? NO_REQUEST)
    }
    t.same(await namesAfter({ url: `${receiver.url}/elsewhere?v=2` }), ['Authorization'])
    t.equal((await sendTo(receiver))['Authorization'], VALUE)
    t.same(await namesAfter({ url: other.url }), [], 'another port is another origin')
    t.notOk('Authorization' in (await sendTo(other)))
    t.same(await namesAfter({ url: receiver.url }), [], 'moving back brings nothing back')
    const together = { url: other.url, headers: { Authorization: 'Bearer new' } }
    t.same(await namesAfter(together), ['Authorization'], 'given with the move they go along')
    t.equal((await sendTo(other))['Authorization'], 'Bearer new')
    t.same(await namesAfter({ headers: null }), [])
    t.notOk('Authorization' in (await sendTo(other)))
  })
})

await t.test(
  'a rate limit spaces what is sent, and a change holds from the next send on',
  async (t) => {
    const clock = createClock(Date.UTC(2026, 0, 31))
    const world = await shopWorld(t, { clock })
    const receiver = await receiverFor(t)
    const webhook = await register(world, { url: receiver.url, rate_limit: 2 })
    t.equal(webhook['rate_limit'], 2)
    const publishMany = (count: number): Promise<unknown> =>
      Promise.all(Array.from({ length: count }, () => publish(world)))
    const sent = async (count: number): Promise<void> => {
      while (receiver.requests.length < count) await turn()
    }

    await publishMany(16)
    await sent(1)
    for (let count = 2; count <= 6; count += 1) {
      await clock.advance(SECOND / 2)
      await sent(count)
    }
    t.same(perSecond(receiver.requests), [2, 2, 2])

    t.match((await change(world, webhook.id, { rate_limit: 10 })).body, { rate_limit: 10 })
    // The next is due as it was; what is claimed behind it learns of the change.
    await clock.advance(SECOND / 2)
    await sent(7)
    for (let count = 8; count <= 16; count += 1) {
      await clock.advance(SECOND / 10)
      await sent(count)
    }
    t.same(perSecond(receiver.requests), [2, 2, 2, 10])

    t.match((await change(world, webhook.id, { rate_limit: null })).body, { rate_limit: null })
    await publishMany(40)
    await sent(56)
    t.equal(perSecond(receiver.requests).at(-1), 50, 'no second waits for the next')
  },
)

await t.test('a concurrency bounds what is under way, until it is lifted', async (t) => {
  const world = await shopWorld(t)
  const held = heldAnswer()
  let underWay = 0
  let most = 0
  const receiver = await receiverFor(t, (socket, request) => {
    underWay += 1
    most = Math.max(most, underWay)
    held.answer(socket, request)
  })
  const webhook = await register(world, { url: receiver.url, concurrency: 2 })
  t.equal(webhook['concurrency'], 2)
  /** Lets go what is under way only when so many are, and whoever is too many had time to come. */
  async function sendTwenty(atOnce: number): Promise<number> {
    most = 0
    await Promise.all(Array.from({ length: 20 }, () => publish(world)))
    let left = 20
    while (left > 0) {
      while (underWay < Math.min(atOnce, left)) await turn()
      await world.request('GET', `/v1/webhooks/${webhook.id}`)
      left -= underWay
      underWay = 0
      held.letGo()
    }
    return most
  }
  t.equal(await sendTwenty(2), 2)
  t.match((await change(world, webhook.id, { concurrency: 5 })).body, { concurrency: 5 })
  t.equal(await sendTwenty(5), 5)
  t.match((await change(world, webhook.id, { concurrency: null })).body, { concurrency: null })
  t.equal(await sendTwenty(8), 8, 'as many as to any')
})

await t.test(
  'a webhook that is made disabled is sent tests alone until it is enabled',
  async (t) => {
    const world = await shopWorld(t)
    const receiver = await receiverFor(t)
    const webhook = await register(world, { url: receiver.url, status: 'disabled' })
    t.match(webhook, {
      status: 'disabled',
      disabled_reason: 'manual',
      disabled_at: webhook['created_at'],
      secret: /^whsec_/,
    })
    const test = await world.request('POST', `/v1/webhooks/${webhook.id}/test`, {})
    t.match(test, { status: 200, body: { status: 'succeeded', event_type: 'webhook.test' } })
    const missed = await publish(world)
    await deliveryOf(world, webhook, missed, hasStatus('skipped'))
    const sent = (): readonly unknown[] => receiver.requests.map((one) => eventIn(one)['type'])
    t.same(sent(), ['webhook.test'])
    const enabled = await change(world, webhook.id, { status: 'active' })
    t.match(enabled.body, { status: 'active', disabled_reason: null, disabled_at: null })
    await deliveryOf(world, webhook, await publish(world), hasStatus('succeeded'))
    t.same(sent(), ['webhook.test', 'app.deployed'])
  },
)

await t.test('a rate is 1 to 1000 a second, a concurrency 1 to 64', async (t) => {
  const world = await shopWorld(t)
  const webhook = await register(world, { url: (await receiverFor(t)).url })
  for (const [field, most] of [
    ['rate_limit', 1000],
    ['concurrency', 64],
  ] as const) {
    for (const value of [0, -1, most + 1, 1.5, '2', true]) {
      const refused = await change(world, webhook.id, { [field]: value })
      t.equal(codeOf(refused), '400 invalid_request', `${field} ${value}`)
    }
    for (const value of [1, most, null]) {
      t.match((await change(world, webhook.id, { [field]: value })).body, { [field]: value })
    }
  }
})

/** How many requests were signed in each second. */
function perSecond(requests: readonly ReceivedRequest[]): readonly number[] {
  const counts = new Map<string, number>()
  for (const request of requests) {
    const [second = ''] = headersOf(request)['Service-Signature']?.split(',') ?? []
    counts.set(second, (counts.get(second) ?? 0) + 1)
  }
  return [...counts.values()]
}
