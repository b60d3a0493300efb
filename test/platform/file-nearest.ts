import assert from 'node:assert/strict'
import {
  FAILED,
  PROCESSED,
  claimFile,
  insertFiles,
  sampleChunk,
  sampleFile,
  purgeRemoved,
} from './file-samples.ts'
import type { PlatformCase } from './harness.ts'
import { BORN } from '../../plugins/store/conformance/samples.ts'
import { sampleApp } from './app-samples.ts'
import {
  EAST,
  MODEL,
  NORTH,
  NORTH_EAST,
  WEST,
  addEmbedded,
  assertAlmost,
  embedFiles,
  near,
  nearTexts,
  vector,
} from './vector-samples.ts'

const rankCases: readonly PlatformCase[] = [
  {
    name: 'nearest: a passage comes with its file and place, and the cosine, the nearest first',
    async run({ open }) {
      const store = await open()
      const place = { heading: 'A > B', page: 3, start: 4_294_967_296, end: 4_294_967_299 }
      const chunks = [sampleChunk(0, 'one', place), sampleChunk(1, 'two'), sampleChunk(2, 'three')]
      await insertFiles(store, sampleFile('file_1', { name: 'Größe.pdf' }))
      await claimFile(store, 'a', BORN)
      await store.write(async (tx) => {
        await tx.files.addChunks('file_1', 'a', chunks)
        const vectors = [NORTH_EAST, WEST, EAST]
        await tx.files.addVectors('file_1', 'a', { model: MODEL, first: 0, vectors })
        await tx.files.finish('file_1', 'a', BORN, PROCESSED)
      })
      const found = await near(store)
      const file = { file_id: 'file_1', name: 'Größe.pdf' }
      const expected = [chunks[2], chunks[0]].map((chunk, index) => {
        return { ...file, ...chunk, score: found[index]?.score }
      })
      assert.deepEqual(found, expected)
      assertAlmost(found[0]?.score, 1)
      assertAlmost(found[1]?.score, Math.SQRT1_2)
    },
  },
  {
    name: 'nearest: how long a vector is does not matter, and what points nowhere is never found',
    async run({ open }) {
      const store = await open()
      const tiny = vector(1e-30, 1e-30)
      const huge = vector(3e30, 0)
      await embedFiles(store, [sampleFile('file_1'), [huge, tiny, vector(0, 0), NORTH]])
      assert.deepEqual(await nearTexts(store), ['file_1 0', 'file_1 1'])
      assert.deepEqual(await nearTexts(store, { vector: vector(0, 5e20) }), [
        'file_1 3',
        'file_1 1',
      ])
      assert.deepEqual(await near(store, { vector: vector(0, 0) }), [])
      assert.deepEqual(await near(store, { vector: vector(NaN, 1) }), [])
    },
  },
  {
    name: 'nearest: vectors of another model are not compared, nor those of another length',
    async run({ open }) {
      const store = await open()
      await embedFiles(
        store,
        [sampleFile('file_1'), [EAST]],
        [sampleFile('file_2'), [EAST], 'model-2'],
        [sampleFile('file_3'), [vector(1, 0, 0)]],
      )
      await insertFiles(store, sampleFile('file_4', { status: 'processed' }))
      assert.deepEqual(await nearTexts(store), ['file_1 0'])
      assert.deepEqual(await nearTexts(store, { model: 'model-2' }), ['file_2 0'])
      assert.deepEqual(await nearTexts(store, { vector: vector(1, 0, 0) }), ['file_3 0'])
      assert.deepEqual(await near(store, { model: 'model-3' }), [])
      const known = ['file_1', 'file_2', 'file_3'].map((file_id) => ({ file_id, ordinal: 0 }))
      assert.deepEqual(await nearTexts(store, { most: 0, known }), ['file_1 0'])
    },
  },
  {
    name: 'nearest: of very many the best are answered, whichever way they lie',
    async run({ open }) {
      const store = await open()
      const turn = (at: number): Float32Array => vector(Math.cos(at / 400), Math.sin(at / 400), 0.1)
      const orders = [(at: number) => at, (at: number) => 599 - at, (at: number) => (at * 7) % 600]
      const files = orders.map(
        (order, index) =>
          [
            sampleFile(`file_${index}`),
            Array.from({ length: 600 }, (_, at) => turn(order(at))),
          ] as const,
      )
      await embedFiles(store, ...files)
      const found = await near(store, { vector: turn(300), limit: 30, most: 1800 })
      assert.equal(found.length, 30)
      for (const [index, { file_id, ordinal, score }] of found.entries()) {
        assert.ok(score <= (found[index - 1]?.score ?? 1.01), 'the nearest first')
        const at = orders[Number(file_id.slice(-1))]?.(ordinal) ?? NaN
        assert.ok(Math.abs(at - 300) <= 20, `${at} is among the nearest to 300`)
      }
      assert.deepEqual(await near(store, { vector: turn(300), limit: 30, most: 1799 }), [])
    },
  },
]

const boundCases: readonly PlatformCase[] = [
  {
    name: 'nearest: nothing of another app is found, nor of files that are not asked for',
    async run({ open }) {
      const store = await open()
      await embedFiles(
        store,
        [sampleFile('file_1'), [EAST, NORTH_EAST]],
        [sampleFile('file_2'), [EAST]],
        [sampleFile('file_3', { app_id: 'app_2' }), [EAST]],
      )
      assert.deepEqual(await nearTexts(store, { app_id: 'app_2' }), ['file_3 0'])
      const files = ['file_2', 'file_3']
      assert.deepEqual(await nearTexts(store, { files }), ['file_2 0'])
      assert.deepEqual(await near(store, { files: [] }), [])
      assert.deepEqual(await nearTexts(store, { limit: 2 }), ['file_1 0', 'file_2 0'])
      const known = ['file_1', 'file_2', 'file_3'].map((file_id) => ({ file_id, ordinal: 0 }))
      assert.deepEqual(await nearTexts(store, { most: 0, known }), ['file_1 0', 'file_2 0'])
      assert.deepEqual(await nearTexts(store, { most: 0, known, files }), ['file_2 0'])
    },
  },
  {
    name: 'nearest: beyond the bound what is known already is compared, and nothing else',
    async run({ open }) {
      const store = await open()
      await embedFiles(
        store,
        [sampleFile('file_1'), [EAST, WEST, NORTH_EAST, EAST, NORTH_EAST]],
        [sampleFile('file_2'), [NORTH_EAST, EAST]],
      )
      const known = [
        { file_id: 'file_1', ordinal: 1 },
        { file_id: 'file_1', ordinal: 2 },
        { file_id: 'file_1', ordinal: 9 },
        { file_id: 'file_2', ordinal: 1 },
        { file_id: 'file_9', ordinal: 0 },
      ]
      assert.deepEqual(await nearTexts(store, { most: 6, known }), ['file_2 1', 'file_1 2'])
      assert.deepEqual(await near(store, { most: 6 }), [])
      assert.equal((await near(store, { most: 7 })).length, 6)
      // What is beyond the bound elsewhere does not count.
      const files = ['file_2']
      assert.deepEqual(await nearTexts(store, { most: 2, files }), ['file_2 1', 'file_2 0'])
    },
  },
  {
    name: 'nearest: nothing is found of a file that waits, is processed, failed or was deleted',
    async run({ open }) {
      const store = await open()
      await embedFiles(store, [sampleFile('file_1'), [EAST]])
      const begin = async (id: string): Promise<void> => {
        await insertFiles(store, sampleFile(id))
        await claimFile(store, id, BORN)
        await addEmbedded(store, id, [EAST])
      }
      await begin('file_2')
      await begin('file_3')
      await store.write((tx) => tx.files.finish('file_3', 'file_3', BORN, FAILED))
      await begin('file_4')
      await store.write((tx) => tx.files.finish('file_4', 'file_4', BORN, PROCESSED))
      await store.write((tx) => tx.files.remove('app_1', 'file_4'))
      assert.deepEqual(await nearTexts(store), ['file_1 0'])
      const known = ['file_2', 'file_3', 'file_4'].map((file_id) => ({ file_id, ordinal: 0 }))
      assert.deepEqual(await near(store, { most: 0, known }), [])
      await store.write((tx) => tx.files.finish('file_2', 'file_2', BORN, PROCESSED))
      assert.deepEqual(await nearTexts(store), ['file_1 0', 'file_2 0'])
    },
  },
  {
    name: 'nearest: a purged app leaves no vectors, and others keep theirs',
    async run({ open }) {
      const store = await open()
      await embedFiles(
        store,
        [sampleFile('file_1'), [EAST]],
        [sampleFile('file_2', { app_id: 'app_2' }), [EAST]],
      )
      await store.write(async (tx) => {
        await tx.apps.insert(sampleApp('app_1', { archived_at: BORN, purge_at: BORN }))
        await tx.apps.purge('app_1', BORN)
      })
      await purgeRemoved(store)
      const anew = sampleFile('file_1', { status: 'processed' })
      await insertFiles(store, anew)
      assert.deepEqual(await near(store), [])
      assert.deepEqual(await nearTexts(store, { app_id: 'app_2' }), ['file_2 0'])
    },
  },
]

/** Knowledge-base files: which passages lie near. */
export const fileNearestCases: readonly PlatformCase[] = [...rankCases, ...boundCases]
