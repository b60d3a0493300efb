import t from 'tap'
import { readConfig } from '../../daemon/config/config.ts'
import { startDaemon } from '../../daemon/daemon.ts'
import { APPS_LIMITS, reportRefusals } from '../../daemon/listener/refusals.ts'
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

/** Sites of which one never answers, so that whoever asks for it stays busy. */
function slowSites() {
  let waiting = 0
  return {
    get waiting() {
      return waiting
    },
    sites: {
      find(host: string) {
        if (host !== 'slow.localhost') return undefined
        waiting += 1
        return new Promise<undefined>(() => undefined)
      },
    },
  }
}

await t.test('one network leaves room for others', async (t) => {
  const settings = { KEYHOOK_APPS_NETWORK_CONNECTIONS: '3' }
  const slow = slowSites()
  const { port, refused } = await openEntrance(t, { settings, hosting: { sites: slow.sites } })
  const busy = await Promise.all([1, 2, 3].map(() => openRaw(port)))
  t.teardown(() => busy.forEach((one) => one.destroy()))
  for (const one of busy) one.send(get('/', { Host: 'slow.localhost' }))
  await until('all of them are busy', () => slow.waiting === 3)
  t.equal((await (await openRaw(port)).closed()).length, 0, 'nothing of the network gives way')
  t.strictSame(refused, ['network_connections'])
  const other = await openRaw(port, '127.0.0.1', '127.0.0.2')
  other.send(get('/'))
  t.equal((await other.answer())?.status, 404)
  other.destroy()
  busy[0]?.destroy()
  await until('there is room again', async () => {
    const next = await openRaw(port)
    next.send(get('/'))
    const answer = await next.answer()
    next.destroy()
    return answer?.status === 404
  })
})

/** A visitor who sends half a request, and stays. */
async function linger(port: number, from?: string) {
  const visitor = await openRaw(port, '127.0.0.1', from)
  visitor.send('GET / HTTP/1.1\r\n')
  return visitor
}

await t.test('the connection that is idle for longest gives way to a new one', async (t) => {
  const settings = { KEYHOOK_APPS_CONNECTIONS: '2', KEYHOOK_APPS_NETWORK_CONNECTIONS: '2' }
  const { port, refused } = await openShop(t, { settings })
  const [first, second] = [await linger(port), await linger(port)]
  const third = await stay(port)
  t.ok(third.isServed)
  t.equal((await first.closed()).length, 0)
  t.equal((await third.closed()).length, 0, 'of few connections, none is kept')
  const fourth = await linger(port)
  const other = await stay(port, '127.0.0.2')
  t.ok(other.isServed)
  t.equal((await second.closed()).length, 0)
  t.strictSame(refused, ['evicted', 'evicted'])
  for (const visitor of [fourth, other]) visitor.destroy()
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

await t.test('what is refused is counted, and what may be mended is logged now and then', (t) => {
  let now = 0
  const { visitors } = createMetrics()
  const logged: unknown[] = []
  const refused = reportRefusals(
    visitors,
    { warn: (...told: unknown[]) => void logged.push(told) },
    { steady: () => now },
    APPS_LIMITS,
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
  const { port } = new URL(daemon.platform.appsHosting?.urlOf('shop') ?? '')
  const first = await linger(Number(port))
  const second = await openRaw(Number(port))
  t.equal((await first.closed()).length, 0)
  const text = await daemon.metrics()
  t.match(text, 'keyhook_visitors_refused_total{why="evicted"} 1\n')
  t.match(text, 'keyhook_clients_refused_total{why="evicted"} 0\n')
  t.match(text, 'keyhook_visitors_refused_total{why="slow"} 0\n')
  t.match(text, 'keyhook_reports_dropped_total{why="at_once"} 0\n')
  second.destroy()
})
