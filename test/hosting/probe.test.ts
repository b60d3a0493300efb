import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import t from 'tap'
import { createProbe } from '../../daemon/hosting/probe.ts'
import { until } from '../support/daemon.ts'
import { PROBE_TOKEN, openHosting } from '../support/hosting.ts'
import { publishAll } from './rows/apps.ts'

const clock = { steady: () => performance.now() }

await t.test('a probe is answered as a visitor is, and is none', async (t) => {
  const hosting = await openHosting(t)
  await publishAll(hosting)
  const address = { host: '0.0.0.0', port: hosting.port }
  const probe = createProbe({ address, token: PROBE_TOKEN, clock })
  const { status, latency } = await probe('shop.localhost')
  t.equal(status, 200)
  t.ok(latency > 0 && latency < 10_000)
  t.equal((await probe('gone.localhost')).status, 410)
  t.equal((await probe('nobody.localhost')).status, 404)
  t.strictSame(hosting.served, [])

  const stranger = createProbe({ address, token: 'another', clock })
  t.equal((await stranger('shop.localhost')).status, 200)
  await until('it is told of', () => hosting.served.length > 0)
  t.match(hosting.served, [{ path: '/', status: 200 }])
})

await t.test('it rejects when nothing is answered', async (t) => {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const probe = createProbe({ address: { host: '127.0.0.1', port }, token: '', clock })
  await t.rejects(probe('shop.localhost'))
  server.close()
  await once(server, 'close')
  await t.rejects(probe('shop.localhost'), { code: 'ECONNREFUSED' })
})
