import assert from 'node:assert/strict'
import type { FileListQuery } from '../../plugins/platform/contract/files.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import {
  FAILED,
  PROCESSED,
  claimFile,
  findTexts,
  insertFiles,
  processFiles,
  purgeRemoved,
  sampleChunk,
  sampleFile,
} from './file-samples.ts'
import type { PlatformCase } from './harness.ts'
import { assertOneWon, readPages } from '../../plugins/store/conformance/harness.ts'
import { openRacers } from './harness.ts'
import { BORN, STRANGER } from '../../plugins/store/conformance/samples.ts'
import { sampleApp } from './app-samples.ts'

const ALL: FileListQuery = {
  app_id: 'app_1',
  status: null,
  content_type: null,
  limit: 100,
  after: null,
}

const remove = (store: PlatformStore, id: string, appId = 'app_1'): Promise<boolean> =>
  store.write((tx) => tx.files.remove(appId, id))

/** Chunks that a file of this id left behind once it is purged would be found with it. */
const insertAnew = async (store: PlatformStore): Promise<void> => {
  await purgeRemoved(store)
  await insertFiles(store, sampleFile('file_1', { status: 'processed', chunks: 2 }))
}

const recordCases: readonly PlatformCase[] = [
  {
    name: 'files: a record comes back as it was inserted; a foreign or unknown id finds nothing',
    async run({ open }) {
      const store = await open()
      const full = sampleFile('file_1', {
        name: 'Größe „S“.docx',
        status: 'failed',
        chunks: 4,
        characters: 5,
        error: FAILED.error,
        attempts: 2,
        created_by: { type: 'operator', id: null },
        processed_at: BORN + 1,
      })
      await insertFiles(store, full, sampleFile('file_2'))
      assert.deepEqual(await store.files.get('app_1', 'file_1'), full)
      assert.deepEqual(await store.files.get('app_1', 'file_2'), sampleFile('file_2'))
      assert.equal(await store.files.get('app_2', 'file_1'), undefined)
      assert.equal(await store.files.get('app_1', 'file_9'), undefined)
    },
  },
  {
    name: 'files: pages run newest first, whole while files are made',
    async run({ open }) {
      const store = await open()
      const ids = ['file_1', 'file_2', 'file_3', 'file_4', 'file_5']
      await insertFiles(store, ...ids.map((id) => sampleFile(id)))
      let made = 5
      const seen = await readPages(
        (after) => store.files.list({ ...ALL, limit: 2, after }),
        () => insertFiles(store, sampleFile(`file_${++made}`)),
      )
      assert.deepEqual(seen, ids.toReversed())
    },
  },
  {
    name: 'files: lists go by app, status and content type',
    async run({ open }) {
      const store = await open()
      await insertFiles(
        store,
        sampleFile('file_1', { status: 'failed' }),
        sampleFile('file_2', { content_type: 'text/html' }),
        sampleFile('file_3', { app_id: 'app_2' }),
      )
      const idsOf = async (query: Partial<FileListQuery>): Promise<string[]> => {
        const { rows, more } = await store.files.list({ ...ALL, ...query })
        assert.equal(more, false)
        return rows.map(({ id }) => id)
      }
      assert.deepEqual(await idsOf({}), ['file_2', 'file_1'])
      assert.deepEqual(await idsOf({ status: 'failed' }), ['file_1'])
      assert.deepEqual(await idsOf({ content_type: 'text/html' }), ['file_2'])
      assert.deepEqual(await idsOf({ status: 'failed', content_type: 'text/html' }), [])
    },
  },
  {
    name: 'files: bytes are known by their digest, the file that was made first, within their app',
    async run({ open }) {
      const store = await open()
      const [one, two, three] = ['1', '2', '3'].map((digit) => digit.repeat(64)) as [
        string,
        string,
        string,
      ]
      await insertFiles(
        store,
        sampleFile('file_2', { sha256: one, size: 5 }),
        sampleFile('file_1', { sha256: one, size: 5, status: 'failed' }),
        sampleFile('file_3', { sha256: two, size: 7 }),
        sampleFile('file_4', { sha256: three, app_id: 'app_2' }),
      )
      assert.equal((await store.files.bySha256('app_1', one))?.id, 'file_1')
      assert.equal(await store.files.bySha256('app_1', three), undefined)
      assert.deepEqual(await store.files.sum('app_1'), { files: 3, bytes: 17 })
      assert.deepEqual(await store.files.sum('app_9'), { files: 0, bytes: 0 })
      const named = await store.files.named('app_1', [three, two, one, one, 'none'])
      assert.deepEqual([...named].sort(), [one, two])
      assert.deepEqual(await store.files.named('app_1', []), [])
    },
  },
]

const removeCases: readonly PlatformCase[] = [
  {
    name: 'files: one is deleted whatever its state, once, and not from another app',
    async run(harness) {
      const racers = await openRacers(harness)
      const [store] = racers
      await insertFiles(store, sampleFile('file_1', { status: 'failed', app_id: 'app_2' }))
      await processFiles(store, { file: sampleFile('file_2'), chunks: [sampleChunk(0, 'alpha')] })
      await insertFiles(store, sampleFile('file_3'), sampleFile('file_4'))
      assert.equal((await claimFile(store, 'a', BORN))?.id, 'file_3')
      assert.equal(await remove(store, 'file_1'), false)
      assert.equal((await store.files.get('app_2', 'file_1'))?.status, 'failed')
      assert.equal(await remove(store, 'file_1', 'app_2'), true)
      for (const id of ['file_2', 'file_3', 'file_4']) {
        assertOneWon(await Promise.all(racers.map((one) => remove(one, id))))
        assert.equal(await store.files.get('app_1', id), undefined)
      }
      assert.deepEqual(await findTexts(store, 'alpha'), [])
      assert.equal(await store.jobs.isClaimable('file', BORN + 900_000), false)
    },
  },
  {
    name: 'files: deleting wins over who processes it: nothing of it is kept, nothing ends',
    async run(harness) {
      const racers = await openRacers(harness)
      await insertFiles(racers[0], sampleFile('file_1'))
      await claimFile(racers[0], 'a', BORN)
      const chunks = [sampleChunk(0, 'alpha')]
      const [, added, removed] = await Promise.all([
        racers[0].write((tx) => tx.files.addChunks('file_1', 'a', chunks)),
        racers[1].write((tx) => tx.files.addChunks('file_1', 'a', [sampleChunk(1, 'beta')])),
        racers[0].write((tx) => tx.files.remove('app_1', 'file_1')),
      ])
      assert.deepEqual([typeof added, removed], ['boolean', true])
      const late = (act: 'chunks' | 'end') =>
        racers[1].write((tx) =>
          act === 'chunks'
            ? tx.files.addChunks('file_1', 'a', chunks)
            : tx.files.finish('file_1', 'a', BORN, PROCESSED),
        )
      assert.deepEqual([await late('chunks'), await late('end')], [false, false])
      await insertAnew(racers[0])
      assert.deepEqual(await findTexts(racers[0], 'alpha beta'), [])
    },
  },
  {
    name: 'files: one that is deleted and ended at once is gone, its end told or not',
    async run(harness) {
      const racers = await openRacers(harness)
      await insertFiles(racers[0], sampleFile('file_1'))
      await claimFile(racers[0], 'a', BORN)
      await racers[0].write((tx) => tx.files.addChunks('file_1', 'a', [sampleChunk(0, 'alpha')]))
      const order: string[] = []
      const note = (name: string) => (did: boolean) => {
        order.push(name)
        return did
      }
      const [ended, removed] = await Promise.all([
        racers[0].write((tx) => tx.files.finish('file_1', 'a', BORN, PROCESSED)).then(note('end')),
        racers[1].write((tx) => tx.files.remove('app_1', 'file_1')).then(note('removal')),
      ])
      assert.equal(removed, true)
      assert.ok(ended || order[0] === 'removal', 'an end is lost to a removal alone')
      assert.equal(await racers[1].files.get('app_1', 'file_1'), undefined)
      await insertAnew(racers[0])
      assert.deepEqual(await findTexts(racers[0], 'alpha'), [])
    },
  },
  {
    name: 'files: of what a deleted file has left nothing is found, and it goes in portions',
    async run({ open }) {
      const store = await open()
      const chunks = Array.from({ length: 25 }, (_, at) => sampleChunk(at, `alpha ${at}`))
      await processFiles(
        store,
        { file: sampleFile('file_1'), chunks },
        { file: sampleFile('file_2'), chunks: [sampleChunk(0, 'alpha kept')] },
      )
      assert.equal(await remove(store, 'file_1'), true)
      assert.deepEqual(await findTexts(store, 'alpha'), ['alpha kept'])
      const portions = await purgeRemoved(store, 10)
      assert.ok(portions.every((rows) => rows <= 10))
      assert.deepEqual(await store.files.chunks('file_1', 0, 99), [])
      assert.deepEqual(await findTexts(store, 'alpha'), ['alpha kept'])
      assert.deepEqual(await purgeRemoved(store, 10), [0])
    },
  },
  {
    name: 'files: a purged app leaves neither files nor chunks, and others keep theirs',
    async run({ open }) {
      const store = await open()
      const other = sampleFile('file_2', { app_id: 'app_2', account_id: STRANGER })
      await processFiles(
        store,
        { file: sampleFile('file_1'), chunks: [sampleChunk(0, 'alpha one')] },
        { file: other, chunks: [sampleChunk(0, 'alpha two')] },
      )
      await insertFiles(store, sampleFile('file_3'))
      await store.write((tx) =>
        tx.apps.insert(sampleApp('app_1', { archived_at: BORN, purge_at: BORN + 9 })),
      )
      assert.equal(await store.write((tx) => tx.apps.purge('app_1', BORN + 8)), false)
      assert.deepEqual(await findTexts(store, 'alpha'), ['alpha one'])
      assert.equal(await store.write((tx) => tx.apps.purge('app_1', BORN + 9)), true)
      assert.deepEqual(await store.files.sum('app_1'), { files: 0, bytes: 0 })
      assert.deepEqual(await findTexts(store, 'alpha'), [])
      assert.deepEqual(await findTexts(store, 'alpha', { app_id: 'app_2' }), ['alpha two'])
      await insertAnew(store)
      assert.deepEqual(await findTexts(store, 'alpha'), [])
    },
  },
]

/** Knowledge-base files: their records and deletion. */
export const fileCases: readonly PlatformCase[] = [...recordCases, ...removeCases]
