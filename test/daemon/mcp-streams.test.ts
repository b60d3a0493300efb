import t from 'tap'
import { appsFamily } from '../../daemon/families/apps/family.ts'
import { createAccountsFamily } from '../../daemon/families/accounts/family.ts'
import { editsFamily } from '../../daemon/families/edits/family.ts'
import { holderOf } from '../../daemon/authority/principal.ts'
import { mcp } from '../../daemon/mcp/endpoint.ts'
import { until } from '../support/daemon.ts'
import { message, openMcp, sendMcp } from '../support/mcp.ts'
import type { OpenStream } from '../support/stream.ts'
import { readStream } from '../support/stream.ts'
import type { World } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

/** Streams that one key may have open, and all keys of all accounts together. */
const OF_A_KEY = 20
const IN_ALL = 2000

const LISTEN = message('subscriptions/listen', { notifications: { toolsListChanged: true } })

function listeningWorld(t: Parameters<typeof createWorld>[0]): Promise<World> {
  const families = [appsFamily, editsFamily, createAccountsFamily()]
  return createWorld(t, { families, protocols: [mcp] })
}

async function listen(world: World, key: string): Promise<OpenStream> {
  const leaving = new AbortController()
  const { body, headers } = LISTEN
  const response = await openMcp(world, key, body, { headers, signal: leaving.signal })
  return readStream(response, leaving)
}

const warned: Error[] = []
const onWarning = (warning: Error): unknown => warned.push(warning)
process.on('warning', onWarning)
t.teardown(() => process.off('warning', onWarning))

await t.test('a client that listens is told when its tools have changed', async (t) => {
  const world = await listeningWorld(t)
  const { id, key } = await world.mintKey({ scopes: ['apps:*', 'edits:*'] })
  const other = await world.mintKey({ scopes: ['apps:*', 'edits:*'] })
  const [stream, unmoved] = [await listen(world, key), await listen(world, other.key)]
  t.equal(stream.response.headers.get('content-type'), 'text/event-stream')
  t.match(await stream.until('\n\n'), /subscriptions\/acknowledged.*"toolsListChanged":true/)
  await unmoved.until('\n\n')

  const rename = await world.request('PATCH', `/v1/keys/${id}`, { body: { name: 'Same tools' } })
  t.equal(rename.status, 200)
  const narrow = await world.request('PATCH', `/v1/keys/${id}`, { body: { scopes: ['apps:read'] } })
  t.equal(narrow.status, 200)
  const text = await stream.until('list_changed')
  t.match(
    text,
    /"method":"notifications\/tools\/list_changed".*"io.modelcontextprotocol\/subscriptionId":1/,
  )
  t.equal(text.split('list_changed').length, 2, 'once')
  stream.leave()

  await world.request('DELETE', `/v1/keys/${other.id}`)
  t.notMatch(await unmoved.until(), 'list_changed', 'the tools of another key are its own')
})

/** What ends what a key may do, and the code that its stream ends with. */
const ENDS: readonly [
  what: string,
  code: string,
  end: (world: World, id: string) => Promise<unknown>,
][] = [
  ['revoked', 'key_revoked', ({ request }, id) => request('DELETE', `/v1/keys/${id}`)],
  [
    'suspended with its account',
    'account_suspended',
    ({ request, account, operatorFor }) =>
      request('POST', `/v1/accounts/${account.id}/suspend`, { as: operatorFor(null) }),
  ],
]

for (const [what, code, end] of ENDS) {
  await t.test(`a key that is ${what} reads the reason, and its stream ends`, async (t) => {
    const world = await listeningWorld(t)
    const { id, key } = await world.mintKey({ scopes: ['apps:read'] })
    const stream = await listen(world, key)
    await stream.until('\n\n')
    t.match(await end(world, id), { status: 200 })
    t.match(await stream.until(), `"id":1,"error":{"code":-32603,`)
    t.match(await stream.until(), `"data":{"code":"${code}"}`)
    await until('its bytes are free', () => world.traffic.responses.used === 0)
  })
}

await t.test(
  'a key has as many streams as over REST, and gets those back that it leaves',
  async (t) => {
    const world = await listeningWorld(t)
    const { key } = await world.mintKey({ scopes: ['apps:read'] })
    const open: OpenStream[] = []
    for (let count = 0; count < OF_A_KEY; count += 1) open.push(await listen(world, key))
    for (const stream of open) await stream.until('\n\n')
    t.match(await sendMcp(world, key, LISTEN.body, LISTEN), {
      status: 429,
      text: /too_many_streams/,
    })
    const other = await world.mintKey({ scopes: ['apps:read'] })
    const beside = await listen(world, other.key)
    t.match(await beside.until('\n\n'), 'acknowledged')

    open[0]?.leave()
    let again: OpenStream | undefined
    await until('its place is free', async () => {
      const stream = await listen(world, key)
      if (stream.response.status !== 200) return false
      again = stream
      return true
    })
    t.match(await again?.until('\n\n'), 'acknowledged')
    for (const stream of [...open, beside, again]) stream?.leave()
  },
)

await t.test('an account that has all streams loses its newest to another one', async (t) => {
  const world = await listeningWorld(t)
  const holder = holderOf(world.user, '127.0.0.1')
  const others = Array.from({ length: IN_ALL - 1 }, (_, count) =>
    world.traffic.streams.reserve({ caller: `key ${count % 100}`, holder }),
  )
  const { key } = await world.mintKey({ scopes: ['apps:read'] })
  const newest = await listen(world, key)
  t.match(await newest.until('\n\n'), 'acknowledged')
  const refused = { status: 429, text: /too_many_streams/ }
  t.match(await sendMcp(world, key, LISTEN.body, LISTEN), refused, 'it has most')

  const stranger = world.userOf(await world.addAccount())
  const other = await world.mintKey({ scopes: ['apps:read'] }, stranger)
  const stream = await listen(world, other.key)
  t.match(await stream.until('\n\n'), 'acknowledged')
  t.match(await newest.until(), '"data":{"code":"too_many_streams"}')
  stream.leave()
  for (const one of others) one.release()
})

await t.test('no stream has so many listeners that Node warns of them', (t) => {
  t.same(
    warned.filter(({ name }) => name === 'MaxListenersExceededWarning'),
    [],
  )
  t.end()
})
