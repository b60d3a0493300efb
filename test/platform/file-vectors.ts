import assert from 'node:assert/strict'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import {
  PROCESSED,
  claimFile,
  clearFile,
  findTexts,
  insertFiles,
  sampleChunk,
  sampleFile,
} from './file-samples.ts'
import type { PlatformCase } from './harness.ts'
import { openRacers } from './harness.ts'
import { BORN } from '../../plugins/store/conformance/samples.ts'
import {
  EAST,
  MODEL,
  NORTH_EAST,
  WEST,
  addEmbedded,
  assertAlmost,
  near,
  nearTexts,
} from './vector-samples.ts'

/** Knowledge-base files: who adds vectors to their passages. */
export const fileVectorCases: readonly PlatformCase[] = [
  {
    name: 'vectors: who lost the claim adds none, and a take-over clears those of before',
    async run(harness) {
      const [store, other] = await openRacers(harness)
      const add = (by: PlatformStore, claim: string, ...vectors: readonly Float32Array[]) =>
        by.write((tx) => tx.files.addVectors('file_1', claim, { model: MODEL, first: 0, vectors }))
      assert.equal(await add(store, 'a', EAST), false)
      await insertFiles(store, sampleFile('file_1'))
      await claimFile(store, 'a', BORN)
      assert.equal(await add(store, 'b', EAST), false)
      assert.equal(await add(store, 'a', WEST), true)
      assert.equal(await add(store, 'a'), true)
      await claimFile(other, 'b', BORN + 60_000)
      assert.equal(await add(store, 'a', EAST), false)
      assert.equal(await add(store, 'a'), false)
      assert.equal(await clearFile(other, 'file_1', 'b'), 1)
      await store.write((tx) => tx.files.addChunks('file_1', 'b', [sampleChunk(0, 'alpha')]))
      assert.equal(await add(other, 'b', NORTH_EAST), true)
      await store.write((tx) => tx.files.finish('file_1', 'b', BORN, PROCESSED))
      assert.equal(await add(store, 'b', EAST), false)
      const [found, ...more] = await near(store)
      assertAlmost(found?.score, Math.SQRT1_2)
      assert.deepEqual(more, [])
    },
  },
  {
    name: 'vectors: of a unit that rolls back none are kept',
    async run({ open }) {
      const store = await open()
      await insertFiles(store, sampleFile('file_1'))
      await claimFile(store, 'file_1', BORN)
      const added = { model: MODEL, first: 0, vectors: [EAST] }
      const failed = store.write(async (tx) => {
        await tx.files.addVectors('file_1', 'file_1', added)
        throw new Error('no')
      })
      await assert.rejects(failed, /no/)
      await addEmbedded(store, 'file_1', [NORTH_EAST])
      await store.write((tx) => tx.files.finish('file_1', 'file_1', BORN, PROCESSED))
      assertAlmost((await near(store))[0]?.score, Math.SQRT1_2)
    },
  },
  {
    name: 'vectors: they come in several lots, and a file may have some alone',
    async run({ open }) {
      const store = await open()
      await insertFiles(store, sampleFile('file_1'))
      await claimFile(store, 'a', BORN)
      const chunks = [0, 1, 2, 3].map((ordinal) => sampleChunk(ordinal, `alpha ${ordinal}`))
      await store.write((tx) => tx.files.addChunks('file_1', 'a', chunks))
      const lots: readonly (readonly [number, readonly Float32Array[]])[] = [
        [2, [EAST]],
        [0, [NORTH_EAST, WEST]],
      ]
      for (const [first, vectors] of lots) {
        const added = { model: MODEL, first, vectors }
        assert.equal(await store.write((tx) => tx.files.addVectors('file_1', 'a', added)), true)
      }
      await store.write((tx) => tx.files.finish('file_1', 'a', BORN, PROCESSED))
      assert.deepEqual(await nearTexts(store), ['alpha 2', 'alpha 0'])
      assert.equal((await findTexts(store, 'alpha')).length, 4)
      const known = [0, 1, 2, 3].map((ordinal) => ({ file_id: 'file_1', ordinal }))
      assert.deepEqual(await nearTexts(store, { most: 0, known }), ['alpha 2', 'alpha 0'])
    },
  },
  {
    name: 'chunks: they are read in their order, from one on, while the file is processed and after',
    async run({ open }) {
      const store = await open()
      await insertFiles(store, sampleFile('file_1'))
      await claimFile(store, 'a', BORN)
      const chunks = [
        sampleChunk(0, 'zero', { heading: 'A', page: 1 }),
        sampleChunk(1, 'one', { start: 4_294_967_296, end: 4_294_967_300 }),
        sampleChunk(2, 'two'),
      ]
      await store.write((tx) => tx.files.addChunks('file_1', 'a', chunks))
      assert.deepEqual(await store.files.chunks('file_1', 0, 2), chunks.slice(0, 2))
      assert.deepEqual(await store.files.chunks('file_1', 1, 9), chunks.slice(1))
      assert.deepEqual(await store.files.chunks('file_1', 3, 9), [])
      assert.deepEqual(await store.files.chunks('file_9', 0, 9), [])
      await store.write((tx) => tx.files.finish('file_1', 'a', BORN, PROCESSED))
      assert.deepEqual(await store.files.chunks('file_1', 0, 9), chunks)
    },
  },
]
