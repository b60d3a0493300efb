import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import {
  FAILED,
  PROCESSED,
  claimFile,
  clearFile,
  insertFiles,
  purgeRemoved,
  sampleChunk,
  sampleFile,
} from './file-samples.ts'
import { BORN } from '../../plugins/store/conformance/samples.ts'
import { sampleApp } from './app-samples.ts'
import { EAST, MODEL, embedFiles, near } from './vector-samples.ts'
import { Nearest, inTurns } from '../../plugins/platform/nearest.ts'
import { openPlatformStore } from '../../plugins/platform/open.ts'
import { compareWith, packVectors } from '../../plugins/platform/vectors.ts'

const number = fc.float({ noNaN: true, noDefaultInfinity: true, min: -1000, max: 1000 })

await t.test('a kept vector points as the vector did, to a hundredth', async (t) => {
  const pair = fc
    .integer({ min: 1, max: 200 })
    .chain((length) =>
      fc.tuple(
        fc.array(number, { minLength: length, maxLength: length }),
        fc.array(number, { minLength: length, maxLength: length }),
      ),
    )
  const law = fc.property(pair, ([a, b]) => {
    const kept = Float32Array.from(a)
    const comparison = compareWith(Float32Array.from(b))
    if (comparison === undefined) return b.every((one) => one === 0)
    const packed = packVectors([kept, kept])
    const lengths = Math.hypot(...a) * Math.hypot(...b)
    const dot = a.reduce((sum, one, at) => sum + one * (b[at] ?? 0), 0)
    const expected = a.every((one) => one === 0) ? 0 : dot / lengths
    return (
      packed.length === 2 * comparison.size &&
      [0, 1].every((index) => Math.abs(comparison.cosine(packed, index) - expected) < 0.01)
    )
  })
  t.doesNotThrow(() => fc.assert(law))
})

await t.test('the best are kept of whatever comes, as sorting all of it would', async (t) => {
  const comparison = compareWith(EAST)
  t.ok(comparison)
  if (comparison === undefined) return
  const angles = fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 60 })
  const law = fc.property(angles, fc.integer({ min: 1, max: 9 }), (given, limit) => {
    const nearest = new Nearest(comparison, limit)
    const all = given.map((angle, ordinal) => {
      const packed = packVectors([Float32Array.of(Math.cos(angle / 10), Math.sin(angle / 10))])
      const file_id = `file_${ordinal % 3}`
      nearest.compare({ file_id, ordinal, chunks: 1, packed })
      return { file_id, ordinal, score: comparison.cosine(packed, 0) }
    })
    const sorted = all
      .filter(({ score }) => score > 0)
      .sort(
        (a, b) => b.score - a.score || a.file_id.localeCompare(b.file_id) || a.ordinal - b.ordinal,
      )
    return JSON.stringify(nearest.best()) === JSON.stringify(sorted.slice(0, limit))
  })
  t.doesNotThrow(() => fc.assert(law))
})

await t.test('blocks come a few at a time, however large each is', async (t) => {
  const blocks = (...chunks: readonly number[]) => chunks.map((one) => ({ chunks: one }))
  const turns = [...inTurns(blocks(100, 100, 100, 256, 1, 900, 1))]
  t.same(
    turns.map((some) => some.map(({ chunks }) => chunks)),
    [[100, 100], [100], [256], [1], [900], [1]],
  )
  t.same([...inTurns([])], [])
})

const { store: sqlite, client } = await openPlatformStore(join(t.testdir(), 'keyhook.sqlite'), {
  tablePrefix: '',
})
t.teardown(() => sqlite.close())

for (const [name, store] of Object.entries({ SQLite: sqlite })) {
  await t.test(`${name}: others have their turn while very many are compared`, async (t) => {
    const file = sampleFile('file_0', { app_id: 'app_0' })
    await insertFiles(store, file)
    await claimFile(store, 'a', BORN)
    const lots = 20
    for (let lot = 0; lot < lots; lot++) {
      const vectors = Array.from({ length: 256 }, () => EAST)
      const added = { model: MODEL, first: lot * 256, vectors }
      await store.write((tx) => tx.files.addVectors('file_0', 'a', added))
    }
    const chunks = [sampleChunk(0, 'first')]
    await store.write((tx) => tx.files.addChunks('file_0', 'a', chunks))
    await store.write((tx) => tx.files.finish('file_0', 'a', BORN, PROCESSED))
    let turns = 0
    let isDone = false
    const count = (): void => {
      turns++
      if (!isDone) setImmediate(count)
    }
    setImmediate(count)
    const found = await near(store, { app_id: 'app_0', most: lots * 256, limit: 1 })
    isDone = true
    t.equal(found.length, 1)
    t.ok(turns >= lots, `${turns} turns`)
    await store.write((tx) => tx.files.remove('app_0', 'file_0'))
    await purgeRemoved(store)
  })
}

await t.test('SQLite: what is gone leaves no vectors', async (t) => {
  const kept = async (): Promise<number> => {
    const [row] = await client.read<{ all: number }>(
      'SELECT COALESCE(sum(chunks), 0) AS "all" FROM file_vectors',
    )
    return row?.all ?? NaN
  }
  const vectors = [EAST, EAST]
  const begin = async (id: string, claim: string, now = BORN): Promise<void> => {
    await claimFile(sqlite, claim, now)
    const added = { model: MODEL, first: 0, vectors }
    await sqlite.write((tx) => tx.files.addVectors(id, claim, added))
  }
  t.equal(await kept(), 0)

  await embedFiles(sqlite, [sampleFile('file_1'), vectors])
  t.equal(await kept(), 2)
  await sqlite.write((tx) => tx.files.remove('app_1', 'file_1'))
  await purgeRemoved(sqlite)
  t.equal(await kept(), 0, 'a file that is deleted')

  await insertFiles(sqlite, sampleFile('file_2'))
  await begin('file_2', 'a')
  await clearFile(sqlite, 'file_2', 'a')
  await sqlite.write((tx) => tx.files.finish('file_2', 'a', BORN, FAILED))
  t.equal(await kept(), 0, 'a file that failed')

  await insertFiles(sqlite, sampleFile('file_3'))
  await begin('file_3', 'a')
  await claimFile(sqlite, 'b', BORN + 60_000)
  await clearFile(sqlite, 'file_3', 'b')
  t.equal(await kept(), 0, 'an attempt that was taken over')
  await sqlite.write((tx) => tx.files.remove('app_1', 'file_3'))

  await embedFiles(
    sqlite,
    [sampleFile('file_4'), vectors],
    [sampleFile('file_5', { app_id: 'app_2' }), vectors],
  )
  await sqlite.write(async (tx) => {
    await tx.apps.insert(sampleApp('app_1', { archived_at: BORN, purge_at: BORN }))
    await tx.apps.purge('app_1', BORN)
  })
  await purgeRemoved(sqlite)
  t.equal(await kept(), 2, 'an app that is purged')
})
