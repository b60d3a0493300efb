import type { Test } from 'tap'
import t from 'tap'
import { parseBlocks } from '../../daemon/config/values.ts'
import { SECOND } from '../../lib/time.ts'
import { createClock, turn } from '../support/clock.ts'
import { until } from '../support/daemon.ts'
import { html } from '../support/hosted-apps.ts'
import type { Hosting } from '../support/hosting.ts'
import { openHosting } from '../support/hosting.ts'
import type { RawConnection } from '../support/raw-http.ts'
import { openRaw } from '../support/raw-http.ts'
import { ask } from './rows/row.ts'

/** Apps enough that no limit of one app is reached before those of bodies are. */
const APPS = Array.from({ length: 12 }, (_, at) => `app${at}.localhost`)

async function open(test: Test, given: Parameters<typeof openHosting>[1] = {}) {
  const clock = createClock(Date.UTC(2026, 0, 31))
  const hosting = await openHosting(test, {
    clock,
    trustedProxies: parseBlocks('127.0.0.1'),
    ...given,
  })
  for (const [at, host] of APPS.entries()) {
    await hosting.publish(host, { app_id: `app0000${at}`, tree: { 'index.html': html('app') } })
  }
  return { ...hosting, clock }
}

const reportFor = (host: string): string => {
  const report = { type: 'error', message: 'x', stack: null, url: `http://${host}/` }
  return JSON.stringify({ reports: [report] })
}

/** A report whose last byte is held back. */
async function begin({ port }: Hosting, from: string, at: number) {
  const host = APPS[at % APPS.length] ?? ''
  const body = reportFor(host)
  const connection = await openRaw(port)
  const head = {
    Host: host,
    'Sec-Fetch-Site': 'same-origin',
    'X-Forwarded-For': from,
    'Content-Type': 'text/plain',
    'Content-Length': String(body.length),
  }
  connection.send(ask('POST', '/_p/beacon', head, body.slice(0, -1)))
  return { ...connection, end: () => connection.send(body.slice(-1)) }
}

/** One that is sent as a browser does. */
async function tell(hosting: Hosting, from: string, at = 0): Promise<number | undefined> {
  const connection = await begin(hosting, from, at)
  connection.end()
  const answer = await connection.answer()
  connection.destroy()
  return answer?.status
}

/** Bodies that are begun, and whose reading has begun too. */
async function trickle(test: Test, hosting: Hosting, from: (at: number) => string, count: number) {
  const trickling: (RawConnection & { end(): void })[] = []
  for (let at = 0; at < count; at++) {
    trickling.push(await begin(hosting, from(at), at))
    for (let turns = 0; turns < 3; turns++) await turn()
  }
  test.teardown(() => trickling.forEach((one) => one.destroy()))
  return trickling
}

await t.test('a visitor who trickles bodies shuts nobody else out', async (t) => {
  const hosting = await open(t)
  const trickling = await trickle(t, hosting, () => '192.0.2.1', 300)
  await until('the others are let go', () => hosting.dropped.at_once === 300 - 8)
  t.equal(await tell(hosting, '192.0.2.1'), 204)
  t.equal(hosting.reported.length, 0, 'they have as many as they may')
  t.equal(await tell(hosting, '192.0.2.2'), 204)
  t.equal(hosting.reported.length, 1, 'others are heard')
  for (const one of trickling) one.end()
  await until('theirs are heard in the end', () => hosting.reported.length === 1 + 8)
  await tell(hosting, '192.0.2.1')
  t.equal(hosting.reported.length, 10)
})

await t.test('no more than so many are read at once, whoever sends them', async (t) => {
  const hosting = await open(t)
  await trickle(t, hosting, (at) => `192.0.2.${at}`, 250)
  await trickle(t, hosting, (at) => `198.51.100.${at}`, 10)
  await until('the last are let go', () => hosting.dropped.at_once === 4)
  await hosting.clock.advance(5 * SECOND)
  t.equal(hosting.dropped.too_slow, 256)
  t.equal(await tell(hosting, '203.0.113.1'), 204)
  t.equal(hosting.reported.length, 1, 'once they had their time there is room')
})

await t.test('a body has five seconds', async (t) => {
  const hosting = await open(t)
  const timers = hosting.clock.timers
  const [late, inTime] = await trickle(t, hosting, () => '192.0.2.1', 2)
  await until('both are being read', () => hosting.clock.timers === timers + 2)
  await hosting.clock.advance(4 * SECOND)
  inTime?.end()
  t.equal((await inTime?.answer())?.status, 204)
  t.equal(hosting.reported.length, 1)
  await hosting.clock.advance(SECOND)
  const answer = await late?.answer()
  t.equal(answer?.status, 204)
  t.strictSame(answer?.headers.get('connection'), ['close'])
  await late?.closed()
  t.equal(hosting.reported.length, 1)
  t.equal(hosting.dropped.too_slow, 1)
  t.equal(hosting.clock.timers, timers, 'nobody waits for anything any more')
})

await t.test('what is dropped is counted by why', async (t) => {
  const hosting = await open(t)
  for (let times = 0; times < 32; times++) await tell(hosting, '192.0.2.1')
  t.match(hosting.dropped, { too_many: 2, too_large: 0 })
  const connection = await openRaw(hosting.port)
  const head = { Host: APPS[0] ?? '', 'Sec-Fetch-Site': 'same-origin', 'Content-Length': '70000' }
  connection.send(ask('POST', '/_p/beacon', head))
  t.equal((await connection.answer())?.status, 204)
  const endless = await openRaw(hosting.port)
  const chunked = { ...head, 'Content-Length': '', 'Transfer-Encoding': 'chunked' }
  const { 'Content-Length': _, ...framed } = chunked
  endless.send(ask('POST', '/_p/beacon', framed, `11170\r\n${'x'.repeat(70_000)}\r\n`))
  t.equal((await endless.answer())?.status, 204)
  t.strictSame({ ...hosting.dropped }, { too_many: 2, at_once: 0, too_slow: 0, too_large: 2 })
})
