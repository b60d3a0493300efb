import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { createTransfers } from '../../daemon/http/transfers.ts'
import { SECOND } from '../../lib/time.ts'
import { PATH, boxWorld, send } from '../support/box-world.ts'
import { createClock } from '../support/clock.ts'
import type { Knowledge } from '../support/knowledge.ts'
import { createKnowledge } from '../support/knowledge.ts'
import type { SentPart } from '../support/multipart.ts'
import { BOUNDARY, MULTIPART, beginPouring, bodyOf, headerOf } from '../support/multipart.ts'
import { until } from '../support/processing.ts'

const MIB = 1_048_576
const FILE: SentPart = { name: 'file', filename: 'a', content: 'a' }

await t.test('a body that trickles is given up, and one that is slow is not', async (t) => {
  const clock = createClock(Date.parse('2026-01-31T12:00:00Z'))
  const { world, filling } = await boxWorld(t, {}, { clock })
  const { key } = await world.mintKey({ scopes: ['boxes:write'] })
  let taken = 0
  filling.onChunk = (size) => void (taken += size)
  const begin = async () => {
    taken = 0
    const upload = await beginPouring(world, PATH, { ...MULTIPART, authorization: `Bearer ${key}` })
    upload.pour(`--${BOUNDARY}\r\n${headerOf(FILE)}\r\n\r\na`)
    await until(() => taken === 1)
    return upload
  }
  const slow = await begin()
  for (let sent = 1; sent <= 60; sent++) {
    slow.pour(Buffer.alloc(2500, 'x'))
    await until(() => taken === 1 + 2500 * sent)
    await clock.advance(2 * SECOND)
  }
  slow.pour(`\r\n--${BOUNDARY}--\r\n`)
  slow.end()
  t.match(await slow.answer, /^HTTP\/1\.1 200/, 'for two minutes')

  const crumbs = await begin()
  let seconds = 0
  while (filling.reading === 1) {
    crumbs.pour(Buffer.alloc(500, 'x'))
    const before = taken
    await until(() => taken > before || filling.reading === 0)
    await clock.advance(SECOND)
    seconds += 1
  }
  t.match(await crumbs.answer, /^HTTP\/1\.1 408[^]*body_too_slow/)
  // It earns half of what it spends.
  t.ok(seconds >= 55 && seconds <= 70, `${seconds} s`)
})

await t.test('an account has eight uploads at once while another has one', async (t) => {
  const { world, bearer, filling } = await boxWorld(t)
  const headers = { ...bearer, ...MULTIPART }
  const begin = async (as = headers) => {
    const upload = await beginPouring(world, PATH, as)
    upload.pour(`--${BOUNDARY}\r\n${headerOf(FILE)}\r\n\r\na`)
    return upload
  }
  const uploads = await Promise.all(Array.from({ length: 9 }, () => begin()))
  await until(() => filling.reading === 9)
  t.match(await send(world, bodyOf([FILE]), headers), { status: 200 }, 'alone it may have more')
  const stranger = await world.mintKey(
    { scopes: ['boxes:write'] },
    world.userOf(await world.addAccount()),
  )
  const elsewhere = { ...MULTIPART, authorization: `Bearer ${stranger.key}` }
  const other = await begin(elsewhere)
  await until(() => filling.reading === 10)
  const refused = await send(world, bodyOf([FILE]), headers)
  t.match(refused, {
    status: 429,
    body: { error: { code: 'too_many_transfers', details: { limit: 8 } } },
  })
  t.equal(refused.headers.get('retry-after'), '2')
  t.match(await send(world, bodyOf([FILE]), elsewhere), { status: 200 })
  for (const { socket } of uploads.splice(0, 2)) socket.destroy()
  await until(() => filling.reading === 8)
  t.match(await send(world, bodyOf([FILE]), headers), { status: 200 })
  for (const { socket } of [...uploads, other]) socket.destroy()
  await until(() => filling.reading === 0)
})

await t.test('what uploads of an account have under way is bounded', (t) => {
  const GIB = 1_073_741_824
  const transfers = createTransfers()
  const [one, two] = [1, 2].map(() => transfers.begin('upload', undefined, '192.0.2.1'))
  t.equal(one?.hold(GIB), undefined)
  t.match(two?.hold(1), { code: 'too_many_transfers', details: { limit_bytes: GIB } })
  one?.end()
  one?.end()
  t.equal(two?.hold(GIB - 1), undefined)
  t.equal(transfers.begin('upload', undefined, '192.0.2.2').hold(GIB), undefined)
  t.end()
})

/** A client that asks for a file and reads none of it. */
async function beginReading({ baseUrl }: Knowledge, path: string, key: string) {
  const socket = connect(Number(new URL(baseUrl).port), '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.pause()
  socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${key}\r\n\r\n`)
  return socket
}

/** A world with a file that is larger than what sockets hold, and how many read it. */
async function largeWorld(t: Parameters<typeof createKnowledge>[0]) {
  const clock = createClock(Date.parse('2026-01-31T12:00:00Z'))
  const world = await createKnowledge(t, { clock })
  const [file] = (await world.upload([['a.md', Buffer.alloc(25 * MIB, 'x')]])).body.data
  const { key } = await world.mintKey({ scopes: ['files:read'] })
  const { appBytes } = world.platform.plugins
  if (appBytes === undefined) throw new Error('the world keeps no bytes')
  const open = appBytes.open.bind(appBytes)
  const readers = { now: 0 }
  appBytes.open = async (...given) => {
    const bytes = await open(...given)
    return bytes && counted(bytes, readers)
  }
  return { ...world, clock, key, readers, path: `/v1/apps/${world.app}/files/${file?.id}/content` }
}

async function* counted(bytes: AsyncIterable<Uint8Array>, readers: { now: number }) {
  readers.now += 1
  try {
    for await (const chunk of bytes) {
      for (let at = 0; at < chunk.length; at += 65_536) yield chunk.subarray(at, at + 65_536)
    }
  } finally {
    readers.now -= 1
  }
}

await t.test('a client that does not take what it asked for is let go', async (t) => {
  const world = await largeWorld(t)
  const { clock, readers, path, key } = world
  // What looks at the upload has ended with it.
  await clock.advance(10 * SECOND)
  const { timers } = clock
  const socket = await beginReading(world, path, key)
  await until(() => readers.now === 1)
  await clock.advance(25 * SECOND)
  t.equal(readers.now, 1)
  await clock.advance(20 * SECOND)
  await until(() => readers.now === 0)
  const closed = once(socket, 'close')
  let taken = 0
  socket.on('data', (chunk: Buffer) => (taken += chunk.length))
  socket.resume()
  await closed
  t.ok(taken < 25 * MIB, `${taken} bytes were under way`)
  await clock.advance(10 * SECOND)
  t.equal(clock.timers, timers, 'nobody looks at it any more')
})

await t.test('an account has eight downloads at once while another has one', async (t) => {
  const world = await largeWorld(t)
  const { readers, path, key, request, mintKey, traffic } = world
  const sockets = await Promise.all(Array.from({ length: 9 }, () => beginReading(world, path, key)))
  await until(() => readers.now === 9)
  const another = traffic.transfers.begin('download', undefined, '192.0.2.1')
  const other = await mintKey({ scopes: ['files:read'] })
  for (const as of [key, other.key]) {
    const refused = await request('GET', path, { as })
    t.match(refused, {
      status: 429,
      body: { error: { code: 'too_many_transfers', details: { limit: 8 } } },
    })
    t.equal(refused.headers.get('retry-after'), '2')
    t.equal(refused.headers.get('etag'), null)
  }
  t.equal((await fetch(world.baseUrl + path, bearing(key, 'HEAD'))).status, 200)
  t.equal((await world.upload([['b.md', 'two']])).status, 202, 'uploads are counted apart')
  for (const socket of sockets.splice(0, 2)) socket.destroy()
  await until(() => readers.now === 7)
  const answer = await fetch(world.baseUrl + path, bearing(key, 'GET'))
  t.equal(answer.status, 200)
  t.equal((await answer.arrayBuffer()).byteLength, 25 * MIB)
  another.end()
  for (const _ of [1, 2]) sockets.push(await beginReading(world, path, key))
  await until(() => readers.now === 9)
  for (const socket of sockets) socket.destroy()
  await until(() => readers.now === 0)
})

function bearing(key: string, method: string): RequestInit {
  return { method, headers: { authorization: `Bearer ${key}` } }
}
