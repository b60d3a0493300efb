import assert from 'node:assert/strict'
import type { FileChunk, FileEnd } from '../../plugins/platform/contract/files.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import {
  FAILED,
  PROCESSED,
  claimFile,
  clearFile,
  findTexts,
  insertFiles,
  sampleChunk,
  sampleFile,
} from './file-samples.ts'
import type { PlatformCase } from './harness.ts'
import { assertOneWon } from '../../plugins/store/conformance/harness.ts'
import { openRacers } from './harness.ts'
import { BORN, STRANGER } from '../../plugins/store/conformance/samples.ts'

const LEASE = 60_000
const NO_PLACE = { stage: null, done: 0, total: null }
const PLACE = { stage: 'chunk', done: 3, total: 7 }

const file = (store: PlatformStore) => store.files.get('app_1', 'file_1')
const beat = (store: PlatformStore, claim: string, now: number) =>
  store.write((tx) => tx.jobs.heartbeat('file_1', claim, { lease_until: now + LEASE, ...PLACE }))
const addChunks = (store: PlatformStore, claim: string, ...chunks: readonly FileChunk[]) =>
  store.write((tx) => tx.files.addChunks('file_1', claim, chunks))
const finish = (store: PlatformStore, claim: string, end: FileEnd = PROCESSED) =>
  store.write((tx) => tx.files.finish('file_1', claim, BORN + 500, end))
const retry = (store: PlatformStore) => store.write((tx) => tx.files.retry('file_1'))

const claimCases: readonly PlatformCase[] = [
  {
    name: 'files: one that is claimed is processed from then on, as its record says',
    async run({ open }) {
      const store = await open()
      assert.equal(await store.jobs.isClaimable('file', BORN), false)
      assert.equal(await claimFile(store, 'none', BORN), undefined)
      await insertFiles(
        store,
        sampleFile('file_0', { status: 'failed' }),
        sampleFile('file_3'),
        sampleFile('file_1'),
        sampleFile('file_2'),
        sampleFile('file_4', { account_id: STRANGER, app_id: 'app_2' }),
        sampleFile('file_5', { account_id: 'acc_3', app_id: 'app_3' }),
      )
      assert.equal(await store.jobs.isClaimable('file', BORN + 5), true)
      const begun = sampleFile('file_1', {
        status: 'processing',
        attempts: 1,
      })
      assert.deepEqual(await claimFile(store, 'a', BORN + 5), begun)
      assert.deepEqual(await file(store), begun)
      const next: (string | undefined)[] = []
      for (const claim of ['b', 'c', 'd', 'e', 'f']) {
        next.push((await claimFile(store, claim, BORN + 6))?.id)
      }
      assert.deepEqual(next, ['file_4', 'file_5', 'file_2', 'file_3', undefined])
      assert.equal(await store.jobs.isClaimable('file', BORN + 6), false)
    },
  },
  {
    name: 'files: one that is given back may be claimed at once, and that attempt counts for none',
    async run({ open }) {
      const store = await open()
      await insertFiles(store, sampleFile('file_1'))
      await claimFile(store, 'a', BORN)
      const release = (claim: string) =>
        store.write((tx) => tx.jobs.release('file_1', claim, { until: BORN + 5, counted: false }))
      assert.equal(await release('b'), false)
      assert.equal(await release('a'), true)
      const { status, attempts } = (await file(store)) ?? {}
      assert.deepEqual([status, attempts], ['processing', 0])
      assert.equal((await claimFile(store, 'b', BORN + 5))?.attempts, 1)
      assert.equal(await release('a'), false)
    },
  },
  {
    name: 'files: one whose lease has ended goes to another, without the chunks of before',
    async run(harness) {
      const racers = await openRacers(harness)
      const [store] = racers
      await insertFiles(store, sampleFile('file_1'))
      const first = await claimFile(store, 'a', BORN)
      assert.equal(await beat(store, 'a', BORN), 'held')
      assert.equal(await addChunks(store, 'a', sampleChunk(0, 'alpha first')), true)
      assert.equal(await store.jobs.isClaimable('file', BORN + LEASE - 1), false)
      assert.equal(await claimFile(store, 'b', BORN + LEASE - 1), undefined)
      assert.equal(await store.jobs.isClaimable('file', BORN + LEASE), true)
      const taken = await Promise.all(racers.map((one) => claimFile(one, 'b', BORN + LEASE)))
      assertOneWon(taken.map((one) => one !== undefined))
      const second = { ...first, ...NO_PLACE, attempts: 2 }
      assert.deepEqual(await file(store), second)
      assert.equal(await beat(store, 'a', BORN + LEASE), 'lost')
      assert.equal(await addChunks(store, 'a', sampleChunk(1, 'alpha late')), false)
      assert.equal(await addChunks(store, 'a'), false)
      assert.equal(await finish(store, 'a'), false)
      assert.deepEqual(await file(store), second)
      assert.equal(await clearFile(store, 'file_1', 'a'), undefined)
      assert.equal(await clearFile(store, 'file_1', 'b'), 1)
      assert.equal(await addChunks(store, 'b', sampleChunk(0, 'alpha second')), true)
      assert.equal(await finish(store, 'b'), true)
      assert.deepEqual(await findTexts(store, 'alpha'), ['alpha second'])
    },
  },
  {
    name: 'files: what an attempt has left is cleared in portions, by who holds the claim alone',
    async run({ open }) {
      const store = await open()
      await insertFiles(store, sampleFile('file_1'), sampleFile('file_2'))
      assert.equal(await clearFile(store, 'file_1', 'a'), undefined)
      for (const claim of ['a', 'b']) {
        await claimFile(store, claim, BORN)
        const id = claim === 'a' ? 'file_1' : 'file_2'
        const chunks = [0, 1, 2, 3, 4].map((ordinal) => sampleChunk(ordinal, `alpha ${id}`))
        await store.write(async (tx) => {
          await tx.files.addChunks(id, claim, chunks)
          const vectors = [Float32Array.of(1, 0)]
          await tx.files.addVectors(id, claim, { model: 'm', first: 0, vectors })
        })
      }
      const cleared: (number | undefined)[] = []
      for (let turn = 0; turn < 4; turn++) cleared.push(await clearFile(store, 'file_1', 'a', 2))
      assert.deepEqual(cleared, [2, 2, 2, 0])
      assert.deepEqual(await store.files.chunks('file_1', 0, 9), [])
      assert.equal((await store.files.chunks('file_2', 0, 9)).length, 5)
      assert.equal(await clearFile(store, 'file_1', 'b', 2), undefined)
      assert.equal(await addChunks(store, 'a', sampleChunk(0, 'alpha again')), true)
      assert.equal(await finish(store, 'a'), true)
      assert.equal(await clearFile(store, 'file_1', 'a', 2), undefined)
      assert.deepEqual(await findTexts(store, 'alpha'), ['alpha again'])
    },
  },
  {
    name: 'files: a heartbeat notes the place and moves the lease',
    async run({ open }) {
      const store = await open()
      await insertFiles(store, sampleFile('file_1'))
      assert.equal(await beat(store, 'a', BORN), 'lost')
      const claimed = await claimFile(store, 'a', BORN)
      assert.equal(await beat(store, 'a', BORN + 40_000), 'held')
      assert.deepEqual(await file(store), { ...claimed, ...PLACE })
      assert.equal(await store.jobs.isClaimable('file', BORN + 40_000 + LEASE - 1), false)
      // Nobody took it over: it is still held.
      assert.equal(await beat(store, 'a', BORN + 400_000), 'held')
      assert.equal(await beat(store, 'b', BORN + 900_000), 'lost')
      assert.equal(await store.jobs.isClaimable('file', BORN + 400_000 + LEASE), true)
    },
  },
]

const endCases: readonly PlatformCase[] = [
  {
    name: 'files: chunks are found once their file is processed, not before',
    async run({ open }) {
      const store = await open()
      await insertFiles(store, sampleFile('file_1'))
      const claimed = await claimFile(store, 'a', BORN)
      await beat(store, 'a', BORN)
      assert.equal(
        await addChunks(store, 'a', sampleChunk(0, 'alpha'), sampleChunk(1, 'beta')),
        true,
      )
      assert.equal(await addChunks(store, 'a'), true)
      assert.equal(await addChunks(store, 'a', sampleChunk(2, 'gamma')), true)
      assert.deepEqual(await findTexts(store, 'alpha beta gamma'), [])
      assert.equal(await finish(store, 'b'), false)
      assert.equal(await finish(store, 'a'), true)
      const { status, content_type, chunks, characters } = PROCESSED
      const done = { status, content_type, chunks, characters, processed_at: BORN + 500 }
      const processed = { ...claimed, ...done, ...NO_PLACE }
      assert.deepEqual(await file(store), processed)
      assert.deepEqual((await findTexts(store, 'gamma beta alpha')).sort(), [
        'alpha',
        'beta',
        'gamma',
      ])
      assert.equal(await finish(store, 'a', FAILED), false)
      assert.equal(await addChunks(store, 'a', sampleChunk(3, 'delta')), false)
      assert.equal(await beat(store, 'a', BORN), 'lost')
      assert.equal(await retry(store), false)
      assert.equal(await store.jobs.isClaimable('file', BORN + 10 * LEASE), false)
      assert.deepEqual(await file(store), processed)
      assert.deepEqual(await findTexts(store, 'delta'), [])
    },
  },
  {
    name: 'files: chunks that are added in a unit that rolls back are none',
    async run({ open }) {
      const store = await open()
      await insertFiles(store, sampleFile('file_1'))
      await claimFile(store, 'a', BORN)
      const failed = store.write(async (tx) => {
        await tx.files.addChunks('file_1', 'a', [sampleChunk(0, 'alpha')])
        throw new Error('no')
      })
      await assert.rejects(failed, /no/)
      assert.equal(await addChunks(store, 'a', sampleChunk(0, 'beta')), true)
      await finish(store, 'a')
      assert.deepEqual(await findTexts(store, 'alpha beta'), ['beta'])
    },
  },
  {
    name: 'files: one that failed says why, is not found, and waits for a retry alone',
    async run({ open }) {
      const store = await open()
      await insertFiles(store, sampleFile('file_1'))
      assert.equal(await retry(store), false)
      const claimed = await claimFile(store, 'a', BORN)
      assert.equal(await retry(store), false)
      await addChunks(store, 'a', sampleChunk(0, 'alpha'))
      assert.equal(await finish(store, 'a', FAILED), true)
      const { status, error } = FAILED
      const failed = { ...claimed, status, error }
      assert.deepEqual(await file(store), failed)
      assert.deepEqual(await findTexts(store, 'alpha'), [])
      assert.equal(await store.jobs.isClaimable('file', BORN + 10 * LEASE), false)
    },
  },
  {
    name: 'files: one that failed is retried once, as if it were new',
    async run(harness) {
      const racers = await openRacers(harness)
      const [store] = racers
      await insertFiles(store, sampleFile('file_1'))
      await claimFile(store, 'a', BORN)
      await addChunks(store, 'a', sampleChunk(0, 'alpha before'))
      await finish(store, 'a', FAILED)
      assertOneWon(await Promise.all(racers.map(retry)))
      assert.deepEqual(await file(store), sampleFile('file_1'))
      assert.equal(await addChunks(store, 'a', sampleChunk(1, 'alpha late')), false)
      const again = await claimFile(store, 'b', BORN + 7)
      assert.equal(again?.attempts, 1)
      assert.equal(await clearFile(store, 'file_1', 'b'), 1)
      await addChunks(store, 'b', sampleChunk(0, 'alpha after'))
      assert.equal(await finish(store, 'b'), true)
      assert.deepEqual(await findTexts(store, 'alpha'), ['alpha after'])
    },
  },
  {
    name: 'files: of an end and a take-over of the same file one happens',
    async run(harness) {
      const racers = await openRacers(harness)
      await insertFiles(racers[0], sampleFile('file_1'))
      await claimFile(racers[0], 'a', BORN)
      await addChunks(racers[0], 'a', sampleChunk(0, 'alpha'))
      const [ended, taken] = await Promise.all([
        finish(racers[0], 'a'),
        claimFile(racers[1], 'b', BORN + LEASE),
      ])
      assertOneWon([ended, taken !== undefined])
      assert.equal((await file(racers[0]))?.status, ended ? 'processed' : 'processing')
      assert.deepEqual(await findTexts(racers[1], 'alpha'), ended ? ['alpha'] : [])
    },
  },
]

/** Knowledge-base files: who processes one, and how it ends. */
export const fileClaimCases: readonly PlatformCase[] = [...claimCases, ...endCases]
