import { EventEmitter } from 'node:events'
import t from 'tap'
import { readConfig } from '../../daemon/config.ts'
import { startDaemon } from '../../daemon/daemon.ts'
import type { Crowd } from '../../daemon/hosting/crowd.ts'
import { createCrowd } from '../../daemon/hosting/crowd.ts'
import { tellRefusals } from '../../daemon/hosting/refusals.ts'
import { createLog } from '../../daemon/telemetry/log.ts'
import { createMetrics } from '../../daemon/telemetry/metrics.ts'
import { MINUTE } from '../../lib/time.ts'
import type { Entering } from '../support/apps-listener.ts'
import { openEntrance } from '../support/apps-listener.ts'
import { until } from '../support/daemon.ts'
import { openRaw } from '../support/raw-http.ts'
import { CANARY, publishAll } from './rows/apps.ts'
import { get } from './rows/row.ts'

type Scope = Parameters<typeof openEntrance>[0]

async function openShop(test: Scope, given: Entering) {
  const entrance = await openEntrance(test, given)
  await publishAll(entrance.hosting)
  return entrance
}

/** A visitor who was answered once, and stays. */
async function stay(port: number, from?: string) {
  const visitor = await openRaw(port, '127.0.0.1', from)
  visitor.send(get('/canary.txt'))
  const answer = await visitor.answer()
  return { ...visitor, isServed: answer?.body.toString() === CANARY }
}

await t.test('one network leaves room for others', async (t) => {
  const settings = { KEYHOOK_APPS_NETWORK_CONNECTIONS: '3' }
  const { port, refused } = await openShop(t, { settings })
  const crowd = await Promise.all([1, 2, 3].map(() => stay(port)))
  t.ok(crowd.every(({ isServed }) => isServed))
  const fourth = await stay(port)
  t.notOk(fourth.isServed)
  t.equal((await fourth.closed()).length, 0)
  t.strictSame(refused, ['network_connections'])
  const other = await stay(port, '127.0.0.2')
  t.ok(other.isServed)
  crowd[0]?.destroy()
  await until('there is room again', async () => {
    const next = await stay(port)
    t.teardown(() => next.destroy())
    return next.isServed
  })
  for (const visitor of [...crowd, other]) visitor.destroy()
})

await t.test('and all of them for the daemon', async (t) => {
  const { port, refused } = await openShop(t, { settings: { KEYHOOK_APPS_CONNECTIONS: '2' } })
  const [first, second] = [await stay(port), await stay(port, '127.0.0.2')]
  t.ok(first.isServed && second.isServed)
  t.notOk((await stay(port, '127.0.0.3')).isServed)
  t.strictSame(refused, ['connections'])
  first.destroy()
  await until('there is room again', async () => {
    const next = await stay(port)
    t.teardown(() => next.destroy())
    return next.isServed
  })
  second.destroy()
})

await t.test(
  'behind a proxy each network has its requests, over whatever connection',
  async (t) => {
    let open = (): void => undefined
    const opened = new Promise<undefined>((resolve) => (open = () => resolve(undefined)))
    let waiting = 0
    const find = (host: string) => {
      if (host !== 'slow.localhost') return undefined
      waiting += 1
      return opened
    }
    const { port, refused } = await openEntrance(t, {
      settings: { KEYHOOK_TRUSTED_PROXIES: '127.0.0.1', KEYHOOK_APPS_NETWORK_CONNECTIONS: '2' },
      hosting: { sites: { find } },
    })
    const asking = (host: string, from: string) =>
      get('/', { Host: host, 'X-Forwarded-For': `203.0.113.1, ${from}` })
    const proxy = await Promise.all(Array.from({ length: 5 }, () => openRaw(port)))
    t.teardown(() => proxy.forEach((one) => one.destroy()))
    proxy[0]?.send(asking('slow.localhost', '192.0.2.1'))
    proxy[1]?.send(asking('slow.localhost', '192.0.2.1'))
    await until('both are under way', () => waiting === 2)

    const ask = async (from: string) => {
      proxy[2]?.send(asking('none.localhost', from))
      return proxy[2]?.answer()
    }
    const third = await ask('192.0.2.1')
    t.equal(third?.status, 429)
    t.strictSame(third?.headers.get('retry-after'), ['1'])
    t.strictSame(third?.headers.get('cache-control'), ['no-store'])
    t.strictSame(refused, ['network_requests'])
    for (let times = 0; times < 3; times++) t.equal((await ask('192.0.2.2'))?.status, 404)

    const both = asking('slow.localhost', '2001:db8::1') + asking('slow.localhost', '2001:db8::2')
    proxy[3]?.send(both)
    await until('both are under way', () => waiting === 4)
    t.equal((await ask('2001:db8::3'))?.status, 429, 'one /64 is one network')
    proxy[3]?.destroy()
    await until(
      'what nobody waits for is over',
      async () => (await ask('2001:db8::3'))?.status === 404,
    )
    open()
    t.equal((await proxy[0]?.answer())?.status, 404)
    t.equal((await proxy[1]?.answer())?.status, 404)
    t.equal((await ask('192.0.2.1'))?.status, 404)
  },
)

await t.test('networks are told from each other by address, of IPv6 by its first half', (t) => {
  const crowd = createCrowd({ perNetwork: 1, trustedProxies: [], refused: () => undefined })
  const from = (remoteAddress: string): boolean => {
    const socket = Object.assign(new EventEmitter(), { remoteAddress, destroy: () => undefined })
    return crowd.admitsConnection(socket as unknown as Parameters<Crowd['admitsConnection']>[0])
  }
  t.strictSame(
    ['::ffff:192.0.2.1', '::ffff:192.0.2.2', '192.0.2.1', '2001:db8::1', '2001:db8:0:1::1'].map(
      from,
    ),
    [true, true, false, true, true],
  )
  t.notOk(from('2001:db8::ffff:0:0:1'))
  t.end()
})

await t.test('what is refused is counted, and what may be mended is logged now and then', (t) => {
  let now = 0
  const { visitors } = createMetrics()
  const logged: unknown[] = []
  const refused = tellRefusals(
    visitors,
    { warn: (...told: unknown[]) => void logged.push(told) },
    { steady: () => now },
  )
  for (let times = 0; times < 3; times++) refused('network_connections', '192.0.2.1')
  refused('slow')
  refused('connections')
  t.match(logged, [
    [{ address: '192.0.2.1' }, /KEYHOOK_TRUSTED_PROXIES/],
    [{}, /KEYHOOK_APPS_CONNECTIONS/],
  ])
  t.equal(logged.length, 2)
  now += MINUTE
  refused('network_connections', '192.0.2.1')
  t.equal(logged.length, 3)
  t.match(visitors, { connections: 1, network_connections: 4, network_requests: 0, slow: 1 })
  t.end()
})

await t.test('a daemon says in its metrics whom it refused', async (t) => {
  const config = readConfig({
    KEYHOOK_DATA_DIR: t.testdir(),
    KEYHOOK_PORT: '0',
    KEYHOOK_APPS_NETWORK_CONNECTIONS: '1',
  })
  const daemon = await startDaemon(config, createLog('silent'))
  t.teardown(() => daemon.stop())
  const { port } = new URL(daemon.platform.appsPlace?.urlOf('shop') ?? '')
  const first = await openRaw(Number(port))
  first.send(get('/'))
  t.equal((await first.answer())?.status, 404)
  t.equal((await (await openRaw(Number(port))).closed()).length, 0)
  const text = await daemon.metrics()
  t.match(text, 'keyhook_visitors_refused_total{why="network_connections"} 1\n')
  t.match(text, 'keyhook_visitors_refused_total{why="slow"} 0\n')
  t.match(text, 'keyhook_reports_dropped_total{why="at_once"} 0\n')
  first.destroy()
})
