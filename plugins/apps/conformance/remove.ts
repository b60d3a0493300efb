import assert from 'node:assert/strict'
import {
  APP,
  type AppBytesCase,
  assertBytes,
  assertNothing,
  bytesOf,
  collect,
  inChunks,
  listOf,
  manyBytes,
  OTHER,
  readAll,
  sha256Of,
} from './samples.ts'

const EVER = Number.MAX_SAFE_INTEGER
const OLD = bytesOf('old')
const NEW = bytesOf('new')

export const removeCases: readonly AppBytesCase[] = [
  {
    name: 'remove: of the named, those last kept before the instant go',
    async run({ open, clock, pass }) {
      const bytes = await open()
      const old = await bytes.put(APP, OLD)
      const unnamed = await bytes.put(APP, bytesOf('unnamed'))
      await pass(10)
      const instant = clock.now()
      const recent = await bytes.put(APP, NEW)
      const named = [old.sha256, recent.sha256, sha256Of(bytesOf('never put'))]
      assert.equal(await bytes.remove(APP, named, instant), 1)
      assert.equal(await bytes.get(APP, old.sha256), undefined)
      assert.equal(await bytes.open(APP, old.sha256), undefined)
      const left = (await listOf(bytes)).map(({ sha256 }) => sha256)
      assert.deepEqual(left, [unnamed.sha256, recent.sha256].sort())
      assert.equal(await bytes.remove(APP, named, EVER), 1)
      assert.equal(await bytes.remove(APP, named, EVER), 0)
    },
  },
  {
    name: 'remove: what was kept at that very instant stays',
    async run({ open }) {
      const bytes = await open()
      const { sha256 } = await bytes.put(APP, OLD)
      const [listed] = await listOf(bytes)
      assert.equal(await bytes.remove(APP, [sha256], listed?.kept_at ?? 0), 0)
      assertBytes(await bytes.get(APP, sha256), OLD)
      assert.equal(await bytes.remove(APP, [sha256], (listed?.kept_at ?? 0) + 1), 1)
    },
  },
  {
    name: 'remove: nothing named, the same named twice, an app that is not there',
    async run({ open }) {
      const bytes = await open()
      const { sha256 } = await bytes.put(APP, OLD)
      assert.equal(await bytes.remove(APP, [], EVER), 0)
      assert.equal(await bytes.remove(OTHER, [sha256], EVER), 0)
      assert.equal(await bytes.remove(APP, [sha256, sha256], EVER), 1)
      await assertNothing(bytes)
    },
  },
  {
    name: 'remove: what was put again meanwhile stays',
    async run({ open, clock, pass }) {
      const bytes = await open()
      for (const again of [OLD, inChunks(OLD, [2])]) {
        const { sha256 } = await bytes.put(APP, OLD)
        await pass(10)
        const instant = clock.now()
        await bytes.put(APP, again)
        assert.equal(await bytes.remove(APP, [sha256], instant), 0)
        assertBytes(await bytes.get(APP, sha256), OLD)
        await pass(10)
      }
    },
  },
  {
    name: 'remove: what went can be put again',
    async run({ open }) {
      const bytes = await open()
      for (let round = 0; round < 3; round += 1) {
        const { sha256 } = await bytes.put(APP, OLD)
        assertBytes(await bytes.get(APP, sha256), OLD)
        assert.equal(await bytes.remove(APP, [sha256], EVER), 1)
        assert.equal(await bytes.get(APP, sha256), undefined)
      }
      await assertNothing(bytes)
    },
  },
  {
    name: 'remove: many at once',
    async run({ open }) {
      const bytes = await open()
      const texts = Array.from({ length: 40 }, (_, index) => bytesOf(`file ${index}`))
      const kept = await Promise.all(texts.map((text) => bytes.put(APP, text)))
      const digests = kept.map(({ sha256 }) => sha256)
      assert.equal(await bytes.remove(APP, digests.slice(5), EVER), 35)
      const left = (await listOf(bytes)).map(({ sha256 }) => sha256)
      assert.deepEqual(left, digests.slice(0, 5).sort())
    },
  },
  {
    name: 'remove: of two that take the same, one counts it',
    async run({ open }) {
      const [a, b] = [await open(), await open()]
      for (let round = 0; round < 10; round += 1) {
        const { sha256 } = await a.put(APP, OLD)
        const went = await Promise.all([
          a.remove(APP, [sha256], EVER),
          b.remove(APP, [sha256], EVER),
        ])
        assert.deepEqual(
          went.toSorted((one, other) => one - other),
          [0, 1],
        )
        assert.equal(await a.get(APP, sha256), undefined)
      }
      await assertNothing(b)
    },
  },
  {
    name: 'remove: racing with 50 puts, it takes nothing that was put last, at any moment',
    async run({ open, clock, pass }) {
      const [a, b] = [await open(), await open()]
      const old = manyBytes(20_000)
      const sha256 = sha256Of(old)
      for (let round = 0; round < 50; round += 1) {
        await pass(2)
        const instant = clock.now()
        const put = async (): Promise<void> => {
          await a.put(APP, round % 2 === 0 ? old : inChunks(old, [7_000]))
          for (let look = 0; look < 3; look += 1) {
            assertBytes(await (look === 1 ? b : a).get(APP, sha256), old)
          }
          assertBytes(await readAll(await b.open(APP, sha256)), old)
        }
        const remove = (): Promise<number> => b.remove(APP, [sha256], instant)
        await Promise.all([remove(), put(), remove(), remove()])
        assertBytes(await b.get(APP, sha256), old)
        assert.equal((await listOf(a)).length, 1)
      }
      assert.equal(await a.remove(APP, [sha256], EVER), 1)
      await assertNothing(b)
      assert.deepEqual(await collect(a.apps()), [])
    },
  },
]
