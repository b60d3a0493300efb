import { createHash } from 'node:crypto'
import t from 'tap'
import { createBeaconPages } from '../../daemon/hosting/beacon/pages.ts'
import { createSharedWork } from '../../daemon/hosting/beacon/shared-work.ts'
import type { ServedFile } from '../../plugins/deploy/contract.ts'

const TAG = '<script src="/_p/obs.js"></script>'
const CHUNK = 64 * 1024
const CHUNKS = 40
const SIZE = CHUNK * CHUNKS
const LIMITS = { small: 1000, total: 1_000_000, waiting: 1_000_000, reading: SIZE * 8 }

/** Large pages that are made while they are read, and what is read of them. */
function madePages(start: string) {
  const counts = { open: 0, most: 0, begun: 0, read: 0 }
  let goOn: Promise<unknown> = Promise.resolve()
  const bodyOf = (name: string): Buffer[] =>
    Array.from({ length: CHUNKS }, (_, at) =>
      Buffer.from((at === 0 ? start + name : '').padEnd(CHUNK, 'x')),
    )
  async function* read(name: string): AsyncGenerator<Uint8Array> {
    counts.begun += 1
    counts.open += 1
    counts.most = Math.max(counts.most, counts.open)
    try {
      for (const chunk of bodyOf(name)) {
        await goOn
        counts.read += chunk.length
        yield chunk
      }
    } finally {
      counts.open -= 1
    }
  }
  const pages = createBeaconPages({ open: async (_, name) => read(name) }, false, LIMITS)
  return {
    counts,
    hold(until: Promise<unknown>) {
      goOn = until
    },
    bodyOf: (name: string) => Buffer.concat(bodyOf(name)),
    async find(name: string, left?: AbortSignal) {
      const file: ServedFile = {
        path: `${name}.html`,
        sha256: name,
        size: SIZE,
        type: 'text/html; charset=utf-8',
        immutable: false,
        encoded: {},
      }
      const form = { encoding: 'identity' as const, sha256: name, size: SIZE }
      return pages.find('shop0001', file, form, undefined, left && (() => left))
    },
  }
}

const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `p${at}`)

const gate = () => {
  let open!: (value?: unknown) => void
  const opened = new Promise((resolve) => {
    open = resolve
  })
  return { open, opened }
}

/** Until what was begun has gone as far as it goes. */
const settled = async (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

await t.test('of a page without a place no more is read than is scanned', async (t) => {
  const { counts, find } = madePages('<!doctype html><!--')
  const sent = await Promise.all(names(8).map(async (name) => find(name)))
  t.strictSame(
    sent.map(({ sha256 }) => sha256),
    names(8),
    'each is sent as it is kept',
  )
  t.ok(counts.read <= 8 * 5 * CHUNK, `${counts.read} bytes`)
  t.ok(counts.most <= 4, `${counts.most} at once`)
  t.equal(counts.open, 0)
})

await t.test(
  'pages are read some at a time, and those that find no room are as kept',
  async (t) => {
    const { counts, find, bodyOf } = madePages('<!doctype html><head>')
    const asked = [...names(12), ...names(12)]
    const sent = await Promise.all(asked.map(async (name) => find(name)))
    t.equal(counts.begun, 8, 'once for all who ask')
    t.equal(counts.most, 4)
    for (const [at, form] of sent.entries()) {
      const name = asked[at] ?? ''
      const page = bodyOf(name).toString().replace('<head>', `<head>${TAG}`)
      const carries = at % 12 < 8
      t.equal(form.sha256, carries ? createHash('sha256').update(page).digest('hex') : name)
      t.equal(form.size, carries ? page.length : SIZE)
    }
    await find('p11')
    t.equal(counts.begun, 9, 'there is room again')
  },
)

await t.test('what nobody waits for is not read to its end, nor begun', async (t) => {
  const { counts, find, hold } = madePages('<!doctype html><head>')
  const { open, opened } = gate()
  hold(opened)
  const visitor = new AbortController()
  const other = new AbortController()
  const gone = names(8).map(async (name) => find(name, visitor.signal))
  const stays = find('p0', other.signal)
  await settled()
  visitor.abort(new Error('left'))
  for (const result of await Promise.allSettled(gone)) {
    t.match(result, { status: 'rejected', reason: { message: 'left' } })
  }
  t.equal(counts.begun, 4)
  const again = find('p1')
  open()
  t.equal((await stays).size, SIZE + TAG.length, 'one who stays is served')
  t.equal((await again).size, SIZE + TAG.length, 'one who comes later too')
  t.equal(counts.begun, 5, 'those that waited were not begun')
  t.ok(counts.read <= 2 * SIZE + 3 * CHUNK, 'those that were begun ended')
  await t.rejects(find('p7', visitor.signal), { message: 'left' })
  t.equal(counts.begun, 5)
})

await t.test('work that fails leaves its room to others', async (t) => {
  const work = createSharedWork({ atOnce: 1, cost: 10 })
  const fails = async (): Promise<never> => Promise.reject(new Error('broken'))
  const [first, second] = [work.join('a', 5, fails), work.join('b', 5, fails)]
  t.equal(work.join('c', 1, fails), undefined)
  await t.rejects(first ?? Promise.resolve(), { message: 'broken' })
  await t.rejects(second ?? Promise.resolve(), { message: 'broken' })
  t.equal(await work.join('c', 10, async () => 'done'), 'done')
})
