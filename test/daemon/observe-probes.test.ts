import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import { createLog } from '../../daemon/telemetry/log.ts'
import type { ProbeAnswer, ProbePorts, ProbeTimes } from '../../daemon/hosting/probes.ts'
import { startProbing } from '../../daemon/hosting/probes.ts'
import { DAY, MINUTE } from '../../lib/time.ts'
import { until } from '../support/daemon.ts'
import { observedWorld, publishedApp } from '../support/observed.ts'
import type { World } from '../support/world.ts'

type Handler = (host: string, response: ServerResponse) => void

/** A server of apps, asked by their hosts over loopback. */
async function startApps(t: { teardown(end: () => unknown): void }, handle: Handler) {
  const hosts: string[] = []
  const server = createServer((request, response) => {
    const host = request.headers.host ?? ''
    hosts.push(host)
    handle(host, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const ports: ProbePorts = {
    hostOf: (appId) => `${appId}.localhost`,
    async probe(host): Promise<ProbeAnswer> {
      const begun = performance.now()
      const asked = httpRequest({ port, host: '127.0.0.1', headers: { host }, agent: false })
      asked.end()
      const [response] = (await once(asked, 'response')) as [IncomingMessage]
      response.resume()
      return { status: response.statusCode ?? 0, latency: performance.now() - begun }
    },
  }
  return { hosts, ports }
}

const TIMES: ProbeTimes = { every: DAY, look: 10, timeout: MINUTE }

function probe(
  t: { teardown(end: () => Promise<void>): void },
  world: World,
  ports: ProbePorts,
  times: Partial<ProbeTimes> = {},
) {
  const probing = startProbing(world.platform, createLog('silent'), ports, { ...TIMES, ...times })
  t.teardown(() => probing.stop())
  return probing
}

const checksOf = (store: PlatformStore, app: string) => store.observations.checks(app, 100)

async function untilChecked(store: PlatformStore, app: string, count = 1) {
  await until('it was checked', async () => (await checksOf(store, app)).length >= count)
  return checksOf(store, app)
}

void t.test('published apps are asked for their page, and what came of it is noted', async (t) => {
  const world = await observedWorld(t)
  const { store } = world.platform
  const [fine, broken, lost] = [
    await publishedApp(world),
    await publishedApp(world),
    await publishedApp(world),
  ]
  const { id: unpublished } = (
    await world.request<{ id: string }>('POST', '/v1/apps', { body: { template_id: 'blank' } })
  ).body
  const { hosts, ports } = await startApps(t, (host, response) => {
    if (host.startsWith(lost)) response.destroy()
    else response.writeHead(host.startsWith(broken) ? 500 : 200).end('a page')
  })
  probe(t, world, ports)
  const [passed] = await untilChecked(store, fine)
  t.match(passed, { status: 'pass', message: null })
  t.ok((passed?.latency_ms ?? -1) >= 0)
  t.match(await untilChecked(store, broken), [{ status: 'fail', message: 'The app answered 500.' }])
  t.match(await untilChecked(store, lost), [
    { status: 'fail', latency_ms: null, message: 'The app did not answer.' },
  ])
  t.same(hosts.toSorted(), [fine, broken, lost].map((app) => `${app}.localhost`).sort())
  t.same(await checksOf(store, unpublished), [])
  t.match(await world.request('GET', `/v1/apps/${fine}/health`), { body: { status: 'healthy' } })
})

void t.test('of several processes one asks at a time, again and again', async (t) => {
  const world = await observedWorld(t)
  const { store } = world.platform
  const apps = [await publishedApp(world), await publishedApp(world)]
  const asked = new Map<string, number>()
  const { ports } = await startApps(t, (host, response) => {
    asked.set(host, (asked.get(host) ?? 0) + 1)
    response.end()
  })
  const begun = world.platform.clock.now()
  const workers = [1, 2, 3].map(() => probe(t, world, ports, { every: 300 }))
  for (const app of apps) await untilChecked(store, app, 3)
  await Promise.all(workers.map((worker) => worker.stop()))
  const turns = (world.platform.clock.now() - begun) / (0.9 * 300)
  for (const app of apps) {
    const count = asked.get(`${app}.localhost`) ?? 0
    t.ok(count <= turns + 1, `asked ${count} times in ${turns} turns`)
    const checks = await checksOf(store, app)
    t.ok(count - checks.length <= workers.length, 'all but what was under way at the end is noted')
  }
})

void t.test('an app that does not answer in time did not; others do not wait for it', async (t) => {
  const world = await observedWorld(t)
  const { store } = world.platform
  const [slow, fine] = [await publishedApp(world), await publishedApp(world)]
  const { ports } = await startApps(t, (host, response) => {
    if (host.startsWith(fine)) response.end()
  })
  probe(t, world, ports, { timeout: 500 })
  t.match(await untilChecked(store, slow), [
    { status: 'fail', latency_ms: null, message: 'The app did not answer within 0.5 seconds.' },
  ])
  t.match(await untilChecked(store, fine), [{ status: 'pass' }])
})

void t.test('stopping waits for no app, and notes nothing of it', async (t) => {
  const world = await observedWorld(t)
  const { store } = world.platform
  const app = await publishedApp(world)
  const { hosts, ports } = await startApps(t, () => undefined)
  const probing = probe(t, world, ports)
  await until('it is asked', () => hosts.length === 1)
  await probing.stop()
  t.same(await checksOf(store, app), [])
})

void t.test('one that is unpublished meanwhile did not fail', async (t) => {
  const world = await observedWorld(t)
  const { store, clock, newId } = world.platform
  const app = await publishedApp(world)
  const other = await publishedApp(world)
  const { ports } = await startApps(t, (host, response) => {
    if (!host.startsWith(app)) {
      response.end()
      return
    }
    const gone = {
      id: newId(),
      app_id: app,
      account_id: world.account.id,
      message: null,
      reason: 'request',
      created_by: { type: 'operator', id: null },
      created_at: clock.now(),
    } as const
    void store
      .write((tx) => tx.deployments.unpublish(gone))
      .then(() => response.writeHead(404).end())
  })
  probe(t, world, ports)
  await untilChecked(store, other)
  t.same(await checksOf(store, app), [])
})

void t.test('a store that fails for a while is asked again', async (t) => {
  const world = await observedWorld(t)
  const { store } = world.platform
  const app = await publishedApp(world)
  const { ports } = await startApps(t, (_, response) => void response.end())
  let failures = 0
  const failing: PlatformStore = {
    ...store,
    write: (work) =>
      failures++ < 2 ? Promise.reject(new Error('no database')) : store.write(work),
  }
  const platform = { ...world.platform, store: failing }
  probe(t, { ...world, platform }, ports)
  t.match(await untilChecked(store, app), [{ status: 'pass' }])
  t.ok(failures > 2)
})
