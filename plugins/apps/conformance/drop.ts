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
  sha256Of,
} from './samples.ts'

const FILE = bytesOf('file')

export const dropCases: readonly AppBytesCase[] = [
  {
    name: 'drop: takes all of an app and nothing of another; what is not there is fine',
    async run({ open }) {
      const bytes = await open()
      const { sha256 } = await bytes.put(APP, FILE)
      await bytes.put(APP, manyBytes(700_000))
      await bytes.put(OTHER, FILE)
      await bytes.drop(APP)
      await assertNothing(bytes)
      assert.equal(await bytes.get(APP, sha256), undefined)
      assertBytes(await bytes.get(OTHER, sha256), FILE)
      await bytes.drop(APP)
      await bytes.drop('never0001')
      assert.deepEqual(await collect(bytes.apps()), [OTHER])
    },
  },
  {
    name: 'drop: what is put afterwards stays',
    async run({ open }) {
      const [a, b] = [await open(), await open()]
      for (let round = 0; round < 3; round += 1) {
        const { sha256 } = await a.put(APP, FILE)
        await b.drop(APP)
        assert.equal(await a.get(APP, sha256), undefined)
        await a.put(APP, FILE)
        assertBytes(await b.get(APP, sha256), FILE)
      }
    },
  },
  {
    name: 'drop: racing with puts, each goes with the app or stays whole, and all resolve',
    async run({ open }) {
      const [a, b] = [await open(), await open()]
      for (let round = 0; round < 10; round += 1) {
        const parts = Array.from({ length: 5 }, (_, index) => manyBytes(40_000 + index))
        const puts = parts.map((part) => a.put(APP, inChunks(part, [15_000])))
        const [kept] = await Promise.all([Promise.all(puts), b.drop(APP), b.drop(APP)])
        const listed = (await listOf(b)).map(({ sha256 }) => sha256)
        for (const [index, { sha256 }] of kept.entries()) {
          const read = await b.get(APP, sha256)
          assert.equal(read !== undefined, listed.includes(sha256))
          if (read !== undefined) assertBytes(read, parts[index] ?? FILE)
        }
        await a.drop(APP)
        await assertNothing(b)
      }
    },
  },
  {
    name: 'drop: a stream that began before and ends after it is kept or not, and resolves',
    async run({ open }) {
      const bytes = await open()
      await bytes.put(APP, FILE)
      const stream = async function* (): AsyncGenerator<Uint8Array> {
        yield FILE
        await bytes.drop(APP)
        yield FILE
      }
      const twice = bytesOf('filefile')
      const kept = await bytes.put(APP, stream())
      assert.deepEqual(kept, { sha256: sha256Of(twice), size: twice.length })
      const read = await bytes.get(APP, kept.sha256)
      if (read !== undefined) assertBytes(read, twice)
      assert.equal(await bytes.get(APP, sha256Of(FILE)), undefined)
    },
  },
]
