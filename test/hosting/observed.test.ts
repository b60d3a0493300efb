import t from 'tap'
import { openDiskBytes } from '../../plugins/apps/disk.ts'
import { until } from '../support/daemon.ts'
import { plain } from '../support/hosted-apps.ts'
import { DEPLOYMENT, openHosting } from '../support/hosting.ts'
import { openRaw } from '../support/raw-http.ts'
import { SHOP, publishAll } from './rows/apps.ts'
import { ask, get } from './rows/row.ts'

const SHOP_HOST = { Host: 'shop.localhost' }
const { body, encoded } = SHOP['about.html']

/** What is asked for, and what is told of it. */
const REQUESTS: readonly (readonly [send: string, status: number, path: string, bytes: number])[] =
  [
    [get('/about?token=secret'), 200, '/about', body.length],
    [get('/about', { 'Accept-Encoding': 'br' }), 200, '/about', encoded.br?.length ?? 0],
    [ask('HEAD', '/about', SHOP_HOST), 200, '/about', 0],
    [get('/about', { 'If-None-Match': '*' }), 304, '/about', 0],
    [get('/letters.txt', { Range: 'bytes=1-3' }), 206, '/letters.txt', 3],
    [get('/big.bin'), 200, '/big.bin', 300_000],
    [get('/big.bin', { Range: 'bytes=0-99999' }), 206, '/big.bin', 100_000],
    [get('/guide'), 308, '/guide', 0],
    [get('/missing'), 404, '/missing', SHOP['404.html'].body.length],
    [ask('OPTIONS', '/about', SHOP_HOST), 204, '/about', 0],
    [get(`/${'a'.repeat(2000)}`), 404, `/${'a'.repeat(1023)}`, SHOP['404.html'].body.length],
  ]

await t.test('each answer of an app is told of, with what was sent of its body', async (t) => {
  const hosting = await openHosting(t)
  await publishAll(hosting)
  const before = Date.now()
  for (const [at, [send, status, path, bytes]] of REQUESTS.entries()) {
    const connection = await openRaw(hosting.port)
    connection.send(send)
    const isHead = send.startsWith('HEAD')
    const answer = await connection.answer(isHead)
    connection.destroy()
    await until('it is told of', () => hosting.served.length > at)
    const told = hosting.served[at]
    t.match(told, {
      app_id: 'shop0001',
      kind: 'published',
      deployment_id: DEPLOYMENT,
      request_id: answer?.headers.get('x-request-id')?.join(),
      method: send.split(' ', 1)[0],
      status,
      bytes,
    })
    t.equal(told?.path, path)
    t.ok((told?.at ?? 0) >= before && (told?.at ?? Infinity) <= Date.now())
    t.ok(Number.isInteger(told?.duration) && (told?.duration ?? -1) >= 0)
  }
})

await t.test('what no app answers is told of nobody, nor what is ours', async (t) => {
  const hosting = await openHosting(t)
  await publishAll(hosting)
  const requests = [
    ask('GET', '/', { Host: 'nobody.localhost' }),
    ask('GET', '/', { Host: 'gone.localhost' }),
    get('/_p/obs.js'),
    ask('GET', '/', { Host: 'abc123--shop.localhost' }),
  ]
  for (const request of requests) {
    const connection = await openRaw(hosting.port)
    connection.send(request)
    await connection.answer()
    connection.destroy()
  }
  await until('the last is told of', () => hosting.served.length > 0)
  t.match(hosting.served, [{ kind: 'preview', deployment_id: null, status: 200 }])
})

await t.test('of what is broken off, as much as was taken', async (t) => {
  const bytes = await openDiskBytes({ folder: t.testdir(), clock: { now: Date.now } })
  const size = 64 * 1024 * 1024
  const hosting = await openHosting(t, { bytes })
  const tree = { 'film.mp4': plain(Buffer.alloc(size, 'film'), 'video/mp4') }
  await hosting.publish('shop.localhost', { app_id: 'shop0001', tree })
  const connection = await openRaw(hosting.port)
  connection.send(get('/film.mp4', { Range: `bytes=0-${size / 2}` }))
  await connection.some(1_000_000)
  connection.destroy()
  await until('it is told of', () => hosting.served.length > 0)
  const [told] = hosting.served
  t.match(told, { status: 206, path: '/film.mp4' })
  t.ok((told?.bytes ?? 0) >= 500_000, 'most of what came')
  t.ok((told?.bytes ?? Infinity) < size / 2, 'and not all of it')
  t.strictSame(hosting.failures, [])
})
