import assert from 'node:assert/strict'
import type { EditListQuery } from '../../plugins/platform/contract/edits.ts'
import { claimEdit, insertEdits, sampleEdit, sampleEditEnd } from './edit-samples.ts'
import type { PlatformCase } from './harness.ts'
import { readPages } from '../../plugins/store/conformance/harness.ts'
import { BORN } from '../../plugins/store/conformance/samples.ts'
import { sampleApp } from './app-samples.ts'

const ALL: EditListQuery = {
  app_id: 'app_1',
  status: null,
  kind: null,
  initial: null,
  limit: 100,
  after: null,
}

const lineOf = (message: string) => ({ at: BORN + 1, stage: null, message })

const recordCases: readonly PlatformCase[] = [
  {
    name: 'edits: a record comes back as it was inserted; a foreign or unknown id finds nothing',
    async run({ open }) {
      const store = await open()
      const full = sampleEdit('edit_1', {
        kind: 'structured',
        initial: true,
        model: 'a-model',
        message: 'Blue, says „Zoë“',
        reverts: 'edit_0',
        base_revision: 7,
        ...sampleEditEnd({ status: 'failed' }),
        error: { code: 'c', class: 'data', message: 'm "quoted"', retryable: true },
        created_by: { type: 'operator', id: null },
        started_at: BORN + 1,
      })
      await insertEdits(store, full, sampleEdit('edit_2', { prompt: null }))
      assert.deepEqual(await store.edits.get('app_1', 'edit_1'), full)
      const plain = sampleEdit('edit_2', { prompt: null })
      assert.deepEqual(await store.edits.get('app_1', 'edit_2'), plain)
      assert.equal(await store.edits.get('app_2', 'edit_1'), undefined)
      assert.equal(await store.edits.get('app_1', 'edit_9'), undefined)
    },
  },
  {
    name: 'edits: pages run newest first, whole while edits are made',
    async run({ open }) {
      const store = await open()
      const ids = ['edit_1', 'edit_2', 'edit_3', 'edit_4', 'edit_5']
      await insertEdits(store, ...ids.map((id) => sampleEdit(id)))
      let made = 5
      const seen = await readPages(
        (after) => store.edits.list({ ...ALL, limit: 2, after }),
        () => insertEdits(store, sampleEdit(`edit_${++made}`)),
      )
      assert.deepEqual(seen, ids.toReversed())
    },
  },
  {
    name: 'edits: a page ends with the texts that reach its bytes',
    async run({ open }) {
      const store = await open()
      const changed = [{ path: 'x'.repeat(100), change: 'added' }] as const
      await insertEdits(
        store,
        sampleEdit('edit_1', { prompt: 'é'.repeat(50) }),
        sampleEdit('edit_2', { prompt: null, summary: 'x'.repeat(100) }),
        sampleEdit('edit_3', { prompt: null, changed }),
        sampleEdit('edit_4'),
      )
      const list = async (query: Partial<EditListQuery>) => {
        const { rows, more } = await store.edits.list({ ...ALL, ...query })
        return [...rows.map(({ id }) => id), more]
      }
      assert.deepEqual(await list({ bytes: 1 }), ['edit_4', true])
      assert.deepEqual(await list({ bytes: 100 }), ['edit_4', 'edit_3', true])
      assert.deepEqual(await list({ bytes: 103, after: 'edit_3' }), ['edit_2', 'edit_1', false])
    },
  },
  {
    name: 'edits: lists go by app, status, kind, and whether they make the app',
    async run({ open }) {
      const store = await open()
      await insertEdits(
        store,
        sampleEdit('edit_1', { status: 'failed', initial: true }),
        sampleEdit('edit_2', { kind: 'structured', status: 'completed' }),
        sampleEdit('edit_3'),
        sampleEdit('edit_4', { app_id: 'app_2' }),
      )
      const idsOf = async (query: Partial<EditListQuery>): Promise<string[]> => {
        const { rows, more } = await store.edits.list({ ...ALL, ...query })
        assert.equal(more, false)
        return rows.map(({ id }) => id)
      }
      assert.deepEqual(await idsOf({}), ['edit_3', 'edit_2', 'edit_1'])
      assert.deepEqual(await idsOf({ status: 'failed' }), ['edit_1'])
      assert.deepEqual(await idsOf({ kind: 'structured' }), ['edit_2'])
      assert.deepEqual(await idsOf({ initial: true }), ['edit_1'])
      assert.deepEqual(await idsOf({ initial: false }), ['edit_3', 'edit_2'])
      assert.deepEqual(await idsOf({ status: 'failed', kind: 'structured' }), [])
    },
  },
  {
    name: 'edits: those of an app that are queued or running wait, the oldest first',
    async run({ open }) {
      const store = await open()
      await insertEdits(
        store,
        sampleEdit('edit_3'),
        sampleEdit('edit_1', { status: 'canceled' }),
        sampleEdit('edit_4', { app_id: 'app_2' }),
        sampleEdit('edit_2', { status: 'running' }),
      )
      const waiting = await store.edits.waiting('app_1')
      assert.deepEqual(
        waiting.map(({ id }) => id),
        ['edit_2', 'edit_3'],
      )
      assert.deepEqual(await store.edits.waiting('app_9'), [])
    },
  },
]

const purgeCases: readonly PlatformCase[] = [
  {
    name: 'edits: a purged app leaves neither edits nor lines, and others keep theirs',
    async run({ open }) {
      const store = await open()
      await insertEdits(store, sampleEdit('edit_1'), sampleEdit('edit_2', { app_id: 'app_2' }))
      await store.write(async (tx) => {
        await tx.apps.insert(sampleApp('app_1', { archived_at: BORN, purge_at: BORN + 9 }))
        await tx.jobs.log('edit_1', [lineOf('one')])
        await tx.jobs.log('edit_2', [lineOf('other')])
      })
      assert.equal(await store.write((tx) => tx.apps.purge('app_1', BORN + 8)), false)
      assert.equal((await store.jobs.lines('edit_1', 0, 9)).length, 1)
      assert.equal(await store.write((tx) => tx.apps.purge('app_1', BORN + 9)), true)
      assert.equal(await store.edits.get('app_1', 'edit_1'), undefined)
      assert.deepEqual(await store.jobs.lines('edit_1', 0, 9), [])
      assert.deepEqual(
        await store.edits.get('app_2', 'edit_2'),
        sampleEdit('edit_2', { app_id: 'app_2' }),
      )
      assert.equal((await store.jobs.lines('edit_2', 0, 9)).length, 1)
      assert.equal((await claimEdit(store, 'a', BORN))?.id, 'edit_2', 'its job is gone too')
    },
  },
]

/** Edits: their records, and what a purge leaves. */
export const editCases: readonly PlatformCase[] = [...recordCases, ...purgeCases]
