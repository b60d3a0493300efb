import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { createHotFiles } from '../../daemon/hosting/hot-files.ts'
import type { Site } from '../../daemon/hosting/site.ts'
import type { AppBytes } from '../../plugins/apps/contract.ts'
import { createMemoryBytes } from '../../plugins/apps/memory.ts'
import { until } from '../support/daemon.ts'
import { digestOf } from '../support/hosted-apps.ts'
import { openHosting } from '../support/hosting.ts'
import type { RawAnswer } from '../support/raw-http.ts'
import { openRaw } from '../support/raw-http.ts'
import { signal } from '../support/signal.ts'
import { get } from './rows/row.ts'

const MIB = 1024 * 1024
const CHUNK = Buffer.alloc(64 * 1024, 'x')

/** Bytes that are kept nowhere, and what is called at their end. */
function flowing(size: number, pull: () => void, end: () => void): AppBytes {
  async function* give(): AsyncGenerator<Uint8Array> {
    for (let given = 0; given < size; given += CHUNK.length) {
      pull()
      yield CHUNK
    }
    end()
  }
  return { ...createMemoryBytes({ clock: { now: Date.now } }), open: async () => give() }
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/**
 * What is in use, garbage aside: the bytes of a buffer are given back beside the collection, by another
 * thread, and are counted until then.
 */
async function usedBytes(): Promise<number> {
  let used = Infinity
  for (let turn = 0; turn < 10; turn += 1) {
    collect()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    used = Math.min(used, heapUsed + arrayBuffers)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return used
}

function siteOf(sha256: string, size: number): Site {
  const file = { path: 'film', sha256, size, type: 'video/mp4', immutable: false, encoded: {} }
  const manifest = { files: new Map([['film', file]]), spa: false }
  return { app_id: 'shop0001', kind: 'published', deployment_id: null, manifest, earlier: [] }
}

await t.test('a file is read as fast as it is taken, and held nowhere', async (t) => {
  const size = 256 * MIB
  let pulled = 0
  const pull = (): void => void (pulled += CHUNK.length)
  const hosting = await openHosting(t, { bytes: flowing(size, pull, () => undefined) })
  hosting.sites.set('shop.localhost', siteOf('0'.repeat(64), size))
  const connection = await openRaw(hosting.port)
  connection.send(get('/film'))
  await connection.some(100)
  let seen = -1
  await until('the buffers of both sockets are full', async () => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 5))
    const rests = seen === pulled
    seen = pulled
    return rests
  })
  t.ok(pulled < size / 4, `${pulled} bytes`)
  connection.destroy()
  await until('it is over', () => hosting.served.length === 1)
})

await t.test('what is found damaged at its end does not arrive as if it were whole', async (t) => {
  const size = 4 * MIB
  const damage = (): void => {
    throw new Error('damaged')
  }
  const hosting = await openHosting(t, { bytes: flowing(size, () => undefined, damage) })
  hosting.sites.set('shop.localhost', siteOf('0'.repeat(64), size))
  const connection = await openRaw(hosting.port)
  connection.send(get('/film'))
  let length = 0
  await connection.each((chunk) => {
    length += chunk.length
  })
  t.ok(length > 0 && length < size, 'the last piece is missing')
  t.match(hosting.failures, [{ app_id: 'shop0001', err: { message: 'damaged' } }])
})

await t.test('whoever leaves while it is read is missed by nobody', async (t) => {
  const { promise: left, resolve: isLeft } = signal()
  const ended: string[] = []
  async function* give(sha256: string): AsyncGenerator<Uint8Array> {
    try {
      for (let given = 0; given < MIB; given += CHUNK.length) {
        yield CHUNK
        if (given > 0) await left
      }
    } finally {
      ended.push(sha256.slice(0, 1))
    }
  }
  const bytes = createMemoryBytes({ clock: { now: Date.now } })
  const open: AppBytes['open'] = async (_, sha256) => give(sha256)
  const hosting = await openHosting(t, { bytes: { ...bytes, open } })
  // Of the second nothing is left to be read by then.
  for (const [digit, size] of [
    ['0', MIB],
    ['1', 2 * CHUNK.length],
  ] as const) {
    hosting.sites.set('shop.localhost', siteOf(digit.repeat(64), size))
    const connection = await openRaw(hosting.port)
    connection.send(get('/film'))
    await connection.some(100)
    connection.destroy()
  }
  await until('both are known to have left', () => hosting.served.length === 2)
  isLeft()
  await until('neither is read any more', () => ended.length === 2)
  t.match(hosting.served, [{ status: 200 }, { status: 200 }])
  t.ok(hosting.served.every(({ bytes: sent }) => sent <= 2 * CHUNK.length))
  t.match(hosting.failures, [], 'and nothing failed')
})

await t.test('a file that is longer or shorter than its manifest says is cut off', async (t) => {
  for (const [size, kept] of [
    [100_000, 99_999],
    [100_000, 100_001],
  ] as const) {
    const bytes = createMemoryBytes({ clock: { now: Date.now } })
    const { sha256 } = await bytes.put('shop0001', Buffer.alloc(kept))
    const hosting = await openHosting(t, { bytes })
    hosting.sites.set('shop.localhost', siteOf(sha256, size))
    const connection = await openRaw(hosting.port)
    connection.send(get('/film'))
    t.equal(await connection.answer(), undefined)
    t.equal(hosting.failures.length, 1)
  }
})

await t.test('bytes that cannot be read are a 503, and are looked for again', async (t) => {
  const body = Buffer.from('small')
  const bytes = createMemoryBytes({ clock: { now: Date.now } })
  const hosting = await openHosting(t, { bytes })
  const ask = async (path: string): Promise<RawAnswer | undefined> => {
    const connection = await openRaw(hosting.port)
    connection.send(get(path))
    const answer = await connection.answer()
    connection.destroy()
    return answer
  }
  hosting.sites.set('shop.localhost', siteOf(digestOf(body), body.length))
  const missing = await ask('/film')
  t.equal(missing?.status, 503)
  t.strictSame(missing?.headers.get('cache-control'), ['no-store'])
  t.strictSame(missing?.headers.get('retry-after'), ['5'])
  t.equal(missing?.headers.get('etag'), undefined)
  await bytes.put('shop0001', body)
  t.equal((await ask('/film'))?.body.toString(), 'small')
  hosting.sites.set('shop.localhost', siteOf('1'.repeat(64), 10 * MIB))
  t.equal((await ask('/film'))?.status, 503, 'a large one too')
  t.equal(hosting.failures.length, 2)
})

await t.test('sites that are found later, or not at all for now', async (t) => {
  const found = siteOf(digestOf(Buffer.alloc(0)), 0)
  const bytes = createMemoryBytes({ clock: { now: Date.now } })
  await bytes.put('shop0001', Buffer.alloc(0))
  const hosting = await openHosting(t, {
    bytes,
    sites: {
      find(host) {
        if (host === 'throws.localhost') throw new Error('at once')
        if (host === 'rejects.localhost') return Promise.reject(new Error('later'))
        return Promise.resolve(host === 'shop.localhost' ? found : undefined)
      },
    },
  })
  const statuses: (number | undefined)[] = []
  for (const host of ['shop', 'nobody', 'throws', 'rejects']) {
    const connection = await openRaw(hosting.port)
    connection.send(get('/film', { Host: `${host}.localhost` }))
    statuses.push((await connection.answer())?.status)
    connection.destroy()
  }
  t.strictSame(statuses, [200, 404, 503, 503])
  t.equal(hosting.failures.length, 2)
})

await t.test(
  'what is asked for at once is read once, and kept by what was used last',
  async (t) => {
    const reads: string[] = []
    const bytes: Pick<AppBytes, 'get'> = {
      async get(_, sha256) {
        reads.push(sha256)
        return Buffer.alloc(1000)
      },
    }
    const hot = createHotFiles(bytes, { file: 2000, total: 10 * 1512 })
    const load = (sha256: string) => hot.load('shop0001', { sha256, size: 1000 })
    const [one, other] = await Promise.all([load('a'), load('a')])
    t.equal(one, other)
    t.strictSame(reads, ['a'])
    for (let at = 0; at < 9; at++) await load(`b${at}`)
    t.ok(hot.peek('a'), 'used just now')
    await load('c')
    t.ok(hot.peek('a'))
    t.notOk(hot.peek('b0'), 'used longest ago')
    t.notOk(hot.takes(2001))
    for (let at = 0; at < 100_000; at++) await load(`d${at}`)
    t.ok(hot.size <= 10 * 1512)
    t.ok(hot.peek('d99999'))
  },
)

await t.test('10,000 apps of 10 releases take no more memory than is set apart', async (t) => {
  const APPS = 10_000
  const body = Buffer.alloc(8192, 'a')
  const bytes = createMemoryBytes({ clock: { now: Date.now } })
  const hosting = await openHosting(t, {
    bytes: { ...bytes, get: async () => Buffer.from(body) },
    // What a test is told it would keep.
    observer: { served: () => undefined, reported: () => undefined },
  })
  const digest = (app: number, release: number): string =>
    `${app.toString(16).padStart(32, '0')}${release.toString(16).padStart(32, '0')}`
  for (let app = 0; app < APPS; app++) {
    const releases = Array.from({ length: 10 }, (_, release) => {
      const path = `a.${release}.js`
      const kept = { sha256: digest(app, release), size: body.length }
      const file = { ...kept, path, type: 'text/javascript', immutable: true, encoded: {} }
      return { files: new Map([[path, file]]), spa: false }
    })
    const [manifest, ...earlier] = releases
    if (manifest === undefined) continue
    const app_id = `app${String(app).padStart(6, '0')}`
    const site: Site = { app_id, kind: 'published', deployment_id: null, manifest, earlier }
    hosting.sites.set(`app${app}.localhost`, site)
  }
  const before = await usedBytes()
  const connection = await openRaw(hosting.port)
  for (let app = 0; app < APPS; app += 100) {
    const releases = [(app / 100) % 10, (app / 100 + 5) % 10]
    for (const release of releases) {
      const batch = Array.from({ length: 100 }, (_, at) =>
        get(`/a.${release}.js`, { Host: `app${app + at}.localhost` }),
      )
      connection.send(batch.join(''))
      for (let at = 0; at < 100; at++) {
        const answer = await connection.answer()
        if (answer?.status !== 200 || answer.body.length !== body.length) t.fail(`app ${app + at}`)
      }
    }
  }
  connection.destroy()
  const grown = (await usedBytes()) - before
  t.ok(grown < 80 * MIB, `${Math.round(grown / MIB)} MiB of the 156 MiB that were asked for`)
})
