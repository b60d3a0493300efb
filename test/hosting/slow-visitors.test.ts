import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect } from 'node:net'
import type { Test } from 'tap'
import t from 'tap'
import { SECOND } from '../../lib/time.ts'
import type { AppBytes } from '../../plugins/apps/contract.ts'
import { createMemoryBytes } from '../../plugins/apps/memory.ts'
import type { Entering, Entrance } from '../support/apps-listener.ts'
import { openEntrance } from '../support/apps-listener.ts'
import { turn } from '../support/clock.ts'
import { until } from '../support/daemon.ts'
import { plain } from '../support/hosted-apps.ts'
import { openRaw } from '../support/raw-http.ts'
import { get } from './rows/row.ts'

const MIB = 1024 * 1024
const CHUNK = Buffer.alloc(64 * 1024, 'film')
/** More than the sockets of a machine hold. */
const FILM = 256 * MIB

interface Cinema extends Entrance {
  /** Films that are being read, and what was read of all so far. */
  readonly reading: { now: number; bytes: number }
}

async function openCinema(test: Test, given: Entering = {}): Promise<Cinema> {
  const reading = { now: 0, bytes: 0 }
  async function* film(): AsyncGenerator<Uint8Array> {
    reading.now += 1
    try {
      for (let given = 0; given < FILM; given += CHUNK.length) {
        reading.bytes += CHUNK.length
        yield CHUNK
      }
    } finally {
      reading.now -= 1
    }
  }
  const kept = createMemoryBytes({ clock: { now: Date.now } })
  const bytes: AppBytes = { ...kept, open: async () => film() }
  const entrance = await openEntrance(test, { hosting: { bytes }, ...given })
  const tree = { 'film.mp4': plain('', 'video/mp4'), 'small.txt': plain(CHUNK.subarray(0, 60_000)) }
  const { manifest } = await entrance.hosting.publish('shop.localhost', {
    app_id: 'shop0001',
    tree,
  })
  const file = manifest.files.get('film.mp4')
  if (file === undefined) throw new Error('there is no film')
  const files = new Map([...manifest.files, ['film.mp4', { ...file, size: FILM }]])
  const site = entrance.hosting.sites.get('shop.localhost')
  if (typeof site !== 'object') throw new Error('there is no cinema')
  entrance.hosting.sites.set('shop.localhost', { ...site, manifest: { files, spa: false } })
  return { ...entrance, reading }
}

/** A visitor who reads no more than they are told to. */
async function visit(test: Test, port: number, request: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  test.teardown(() => void socket.destroy())
  await once(socket, 'connect')
  socket.pause()
  socket.write(request)
  return socket
}

/** Takes so many bytes, or what comes until the connection is closed. */
async function take(socket: Socket, size: number): Promise<void> {
  let left = size
  while (left > 0 && !socket.destroyed) {
    const chunk = socket.read() as Buffer | null
    left -= chunk?.length ?? 0
    if (chunk === null) await more(socket)
  }
}

function more(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off('readable', done).off('close', done)
      resolve()
    }
    socket.on('readable', done).on('close', done)
  })
}

/** Waits until both sockets are full. */
async function rests(seen: () => number): Promise<void> {
  let before = -1
  await until('nothing moves any more', async () => {
    for (let turns = 0; turns < 20; turns++) await turn()
    const now = seen()
    const isSame = now > 0 && now === before
    before = now
    return isSame
  })
}

await t.test('a visitor who takes nothing is cut off within a minute', async (t) => {
  const { port, clock, hosting, refused, reading } = await openCinema(t)
  const visitor = await visit(t, port, get('/film.mp4'))
  await rests(() => reading.bytes)
  t.equal(reading.now, 1)
  await clock.advance(50 * SECOND)
  t.equal(reading.now, 1, 'not before')
  await clock.advance(10 * SECOND)
  await until('nobody reads the file any more', () => reading.now === 0)
  t.strictSame(refused, ['slow'])
  await until('it is told of', () => hosting.served.length === 1)
  t.match(hosting.served, [{ status: 200, path: '/film.mp4' }])
  t.ok((hosting.served[0]?.bytes ?? Infinity) < FILM)
  await take(visitor, Infinity)
  t.equal(clock.timers, 0, 'nobody looks at it any more')
})

await t.test('a visitor who crawls is cut off, and one who is slow is not', async (t) => {
  // Sockets on one machine hold megabytes: what counts as slow is as much larger.
  const least = MIB / 2
  const { port, clock, refused, reading } = await openCinema(t, { least })
  const slow = await visit(t, port, get('/film.mp4'))
  for (let second = 0; second < 130; second++) {
    await take(slow, 1.5 * least)
    await clock.advance(SECOND)
  }
  t.notOk(slow.destroyed, 'for more than two minutes')
  t.strictSame(refused, [])
  slow.destroy()
  await until('it is over', () => reading.now === 0 && clock.timers === 0)

  const crawling = await visit(t, port, get('/film.mp4'))
  let seconds = 0
  while (!crawling.destroyed && seconds < 400) {
    await take(crawling, least / 2)
    await clock.advance(SECOND)
    seconds += 1
  }
  // They earn half of what they spend, and had what both sockets hold at once.
  t.ok(seconds >= 60 && seconds <= 200, `${seconds} s`)
  t.strictSame(refused, ['slow'])
  await until('nobody reads the file any more', () => reading.now === 0)
})

await t.test('many small answers that nobody takes are no way around it', async (t) => {
  const { port, clock, refused, hosting } = await openCinema(t)
  const visitor = await visit(t, port, get('/small.txt').repeat(1000))
  await rests(() => hosting.served.length)
  t.ok(hosting.served.length < 1000, 'they wait')
  t.strictSame(refused, [])
  await clock.advance(60 * SECOND)
  t.strictSame(refused, ['slow'])
  await take(visitor, Infinity)
})

await t.test('what we hold up ourselves is not held against a visitor', async (t) => {
  let open = (): void => undefined
  const opened = new Promise<undefined>((resolve) => (open = () => resolve(undefined)))
  let asked = 0
  const find = () => {
    asked += 1
    return opened
  }
  const { port, clock, refused } = await openEntrance(t, { hosting: { sites: { find } } })
  const visitor = await openRaw(port)
  visitor.send(get('/film.mp4'))
  await until('it is asked for', () => asked === 1)
  await clock.advance(600 * SECOND)
  t.strictSame(refused, [])
  open()
  t.equal((await visitor.answer())?.status, 404)
  visitor.destroy()
})
