import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import t from 'tap'
import { readConfig } from '../../daemon/config/config.ts'
import { openAppsListener } from '../../daemon/hosting/listener.ts'
import { closeServer } from '../../daemon/listener/listen.ts'
import { openDiskBytes } from '../../plugins/apps/disk.ts'
import { until } from '../support/daemon.ts'
import { plain } from '../support/hosted-apps.ts'
import { openHosting } from '../support/hosting.ts'
import { openRaw } from '../support/raw-http.ts'
import { SHOP, publishAll } from './rows/apps.ts'
import { get } from './rows/row.ts'

const MIB = 1024 * 1024

/** An app with a file that no pair of sockets holds. */
async function openFilms(test: Test) {
  const bytes = await openDiskBytes({ folder: test.testdir(), clock: { now: Date.now } })
  const hosting = await openHosting(test, { bytes })
  const tree = { 'film.mp4': plain(Buffer.alloc(64 * MIB, 'film'), 'video/mp4') }
  await hosting.publish('shop.localhost', { app_id: 'shop0001', tree })
  return hosting
}

await t.test('what is under way is finished, and nothing else is begun', async (t) => {
  const { port, server } = await openFilms(t)
  const idle = await openRaw(port)
  idle.send(get('/missing'))
  t.equal((await idle.answer())?.status, 404)
  const busy = await openRaw(port)
  busy.send(get('/film.mp4', { Connection: 'close' }))
  await busy.some(MIB)
  const closing = closeServer(server, 60_000)
  t.equal((await idle.closed()).length, 0, 'whoever asks for nothing is let go')
  await t.rejects(openRaw(port), { code: 'ECONNREFUSED' })
  let length = 0
  await busy.each((chunk) => {
    length += chunk.length
  })
  t.ok(length > 64 * MIB, 'all of it came')
  await closing
})

await t.test('and is cut once it had its time', async (t) => {
  const { port, server, served } = await openFilms(t)
  const busy = await openRaw(port)
  busy.send(get('/film.mp4'))
  await busy.some(MIB)
  await closeServer(server, 10)
  await until('it is told of', () => served.length === 1)
  t.ok((served[0]?.bytes ?? Infinity) < 64 * MIB)
  busy.destroy()
})

await t.test('one listener answers the same as ever from its start to its end', async (t) => {
  const config = readConfig({ KEYHOOK_PORT: '0' })
  const listener = await openAppsListener(config)
  const connection = await openRaw(listener.address.port)
  connection.send(get('/about'))
  const early = await connection.answer()
  t.equal(early?.status, 503)
  t.strictSame(early?.headers.get('retry-after'), ['1'])
  t.strictSame(early?.headers.get('cache-control'), ['no-store'])
  await connection.closed()

  const hosting = await openHosting(t)
  await publishAll(hosting)
  const [handler] = hosting.server.listeners('request')
  listener.serve(handler as Parameters<typeof listener.serve>[0])
  const later = await openRaw(listener.address.port)
  later.send(get('/about'))
  t.strictSame((await later.answer())?.body, SHOP['about.html'].body)
  await listener.close(1000)
  t.equal((await later.closed()).length, 0)
})

await t.test('a port that is taken is named with its setting', async (t) => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => void other.close())
  const { port } = other.address() as AddressInfo
  const config = readConfig({ KEYHOOK_APPS_PORT: String(port) })
  await t.rejects(openAppsListener(config), {
    name: 'ConfigError',
    message: new RegExp(`^KEYHOOK_APPS_PORT 127\\.0\\.0\\.1:${port} is in use by another process`),
  })
})
