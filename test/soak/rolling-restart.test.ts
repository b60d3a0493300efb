/**
 * Two daemons on PostgreSQL behind Caddy, as docs/operate.md sets them up: each is restarted under load, and no request
 * fails. Lateness is printed beside that of the same load without a restart: it depends on the machine.
 */
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { MINUTE, SECOND } from '../../lib/time.ts'
import { runKeyhook } from '../support/backups.ts'
import { askControl } from '../support/control.ts'
import type { DaemonProcess } from '../support/daemon.ts'
import { startDaemonProcess, until } from '../support/daemon.ts'
import { freePort } from '../support/free-port.ts'
import { siteClient, startFrontProxy } from '../support/front-proxy.ts'
import { startPostgres } from '../support/postgres.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Load } from '../support/site-load.ts'
import { printLoad, startLoad } from '../support/site-load.ts'
import { sized } from '../support/soak.ts'

t.setTimeout(15 * MINUTE)

const isInstalled = spawnSync('caddy', ['version']).status === 0
if (!isInstalled && process.env['CI'] === 'true') t.fail('a machine of CI has Caddy')
if (!isInstalled) {
  t.comment('Caddy is not installed, and not run')
  process.exit(0)
}

/** Restarts of every daemon. */
const ROUNDS = sized(1, 1, 5)
const STEADY = sized(5, 10, 30) * SECOND
/** The proxy asks every second, and waits up to two for the answer. */
const PROXY_KNOWS = 5 * SECOND
const API = 'api.localhost'
const APPS = 'apps.localhost'
/** Addresses of loopback: both daemons have the same ports, as on two machines. */
const HOSTS = ['127.0.0.2', '127.0.0.3'] as const

const folder = t.testdir()
const server = await startPostgres()
t.teardown(() => server.stop())
const [port, apiPort, appsPort] = [await freePort(), await freePort(), await freePort()]
/** When each event arrived first. */
const received = new Map<string, number>()
const receiver = await startReceiver((socket, { body }) => {
  const { id } = JSON.parse(body) as { readonly id: string }
  if (!received.has(id)) received.set(id, Date.now())
  socket.write('HTTP/1.1 204 No Content\r\n\r\n')
})
t.teardown(() => receiver.close())
const settings = {
  KEYHOOK_DATABASE_URL: await server.createDatabase(),
  KEYHOOK_MASTER_KEY: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
  KEYHOOK_PORT: String(apiPort),
  KEYHOOK_APPS_PORT: String(appsPort),
  KEYHOOK_BASE_URL: `https://${API}:${port}`,
  KEYHOOK_APPS_URL: `https://${APPS}:${port}`,
  KEYHOOK_TRUSTED_PROXIES: '127.0.0.1',
  KEYHOOK_OWNER_EMAIL: 'owner@example.com',
  KEYHOOK_OWNER_PASSWORD: 'a password of this test',
  KEYHOOK_EVENT_TYPES: 'order.paid',
  KEYHOOK_WEBHOOK_ALLOW: '127.0.0.1',
  KEYHOOK_STOP_DELAY: '3',
  KEYHOOK_RATE_READS: '0',
  KEYHOOK_RATE_WRITES: '0',
  KEYHOOK_LOG_LEVEL: 'warn',
}
const dataOf = (host: string): string => join(folder, host)
const start = (host: string): Promise<DaemonProcess> =>
  startDaemonProcess(
    { ...settings, KEYHOOK_HOST: host, KEYHOOK_DATA_DIR: dataOf(host) },
    undefined,
    { command: ['serve'] },
  )
const daemons = new Map<string, DaemonProcess>()
for (const host of HOSTS) daemons.set(host, await start(host))
t.teardown(async () => {
  for (const daemon of daemons.values()) await daemon.end('SIGTERM')
})
const [first] = HOSTS
const example = ['proxy-example', 'caddy', '--upstream', HOSTS.join(','), '--internal-ca']
const printed = await runKeyhook(dataOf(first), example, { env: settings })
if (printed.code !== 0) throw new Error(printed.err)
const proxy = await startFrontProxy('caddy', { folder, port, config: printed.out })
t.teardown(() => proxy.end())
const ca = await readFile(join(folder, 'caddy/pki/authorities/local/root.crt'), 'utf8')
const client = siteClient(port, [ca])
t.teardown(() => {
  client.close()
})

const ask = askControl(dataOf(first))
await ask('POST', '/v1/webhooks', {
  url: `http://127.0.0.1:${receiver.port}/`,
  events: ['order.paid'],
})
const { id: app } = await ask('POST', '/v1/apps', { name: 'Shop', template_id: 'landing' })
await ask('POST', `/v1/apps/${String(app)}/deploy/publish`, {})
const { key } = await ask('POST', '/v1/keys', {
  name: 'load',
  scopes: ['events:*', 'keys:read', 'apps:read'],
})
const site = `${String(app)}.${APPS}`
await until('the app is served', async () => (await client.ask(site, '/')).status === 200)

/** Waits until everything that was accepted has arrived. */
async function finish(load: Load): Promise<void> {
  await load.stop()
  await until('every event is delivered', () =>
    [...load.accepted.keys()].every((id) => received.has(id)),
  )
}

const newLoad = (): Load => startLoad({ client, api: API, site, key: String(key) })

await t.test('without a restart no request fails either', async (t) => {
  const load = newLoad()
  await pause(STEADY)
  await finish(load)
  t.comment(`without a restart: ${printLoad(load, received)}`)
  t.same(load.failures, [])
})

await t.test('each daemon is restarted under load, and no request fails', async (t) => {
  const load = newLoad()
  for (let round = 0; round < ROUNDS; round++) {
    for (const host of HOSTS) {
      // As docs/operate.md says: `systemctl restart`, `keyhook doctor --ready`, and until the proxy knows it.
      t.equal(await daemons.get(host)?.end('SIGTERM'), 0, `${host} stops by itself`)
      daemons.set(host, await start(host))
      const env = { ...settings, KEYHOOK_HOST: host }
      await until('it is ready', async () => {
        const { code } = await runKeyhook(dataOf(host), ['doctor', '--ready'], { env })
        return code === 0
      })
      await pause(PROXY_KNOWS)
    }
  }
  await finish(load)
  t.comment(`with ${ROUNDS * HOSTS.length} restarts: ${printLoad(load, received)}`)
  t.same(load.failures, [], `${load.requests} requests`)
  t.ok(load.accepted.size > 0)
})
