import assert from 'node:assert/strict'
import type { EditEnd, EditWrites } from '../../plugins/platform/contract/edits.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import { claimEdit, insertEdits, sampleEdit, sampleEditEnd } from './edit-samples.ts'
import type { PlatformCase } from './harness.ts'
import { assertOneWon } from '../../plugins/store/conformance/harness.ts'
import { openRacers } from './harness.ts'
import { BORN } from '../../plugins/store/conformance/samples.ts'

const LEASE = 60_000
const NO_PLACE = { stage: null, done: 0, total: null }
const PLACE = { stage: 'model', done: 3, total: 7 }

const edit = (store: PlatformStore) => store.edits.get('app_1', 'edit_1')
const beat = (store: PlatformStore, claim: string, now: number) =>
  store.write((tx) => tx.jobs.heartbeat('edit_1', claim, { lease_until: now + LEASE, ...PLACE }))
const finish = (store: PlatformStore, claim: string, end: EditEnd = sampleEditEnd()) =>
  store.write((tx) => tx.edits.finish('edit_1', claim, end))
const cancel = (store: PlatformStore, now: number) =>
  store.write((tx) => tx.jobs.cancel('edit_1', now))

const claimCases: readonly PlatformCase[] = [
  {
    name: 'edits: a claim begins the oldest of an app without a running one',
    async run({ open }) {
      const store = await open()
      assert.equal(await store.jobs.isClaimable('edit', BORN), false)
      assert.equal(await claimEdit(store, 'none', BORN), undefined)
      await insertEdits(
        store,
        sampleEdit('edit_2'),
        sampleEdit('edit_4', { app_id: 'app_2' }),
        sampleEdit('edit_1'),
        sampleEdit('edit_3', { status: 'canceled', app_id: 'app_3' }),
      )
      assert.equal(await store.jobs.isClaimable('edit', BORN + 5), true)
      const running = sampleEdit('edit_1', {
        status: 'running',
        started_at: BORN + 5,
      })
      assert.deepEqual(await claimEdit(store, 'a', BORN + 5), running)
      assert.deepEqual(await edit(store), running)
      assert.equal((await claimEdit(store, 'b', BORN + 6))?.id, 'edit_4')
      await insertEdits(store, sampleEdit('edit_0', { app_id: 'app_2' }))
      assert.equal(await store.jobs.isClaimable('edit', BORN + 7), false)
      assert.equal(await claimEdit(store, 'c', BORN + 7), undefined)
      await finish(store, 'a')
      assert.equal((await claimEdit(store, 'c', BORN + 8))?.id, 'edit_2')
    },
  },
  {
    name: 'edits: of concurrent claims each gets another, and no app ever has two running',
    async run(harness) {
      const racers = await openRacers(harness)
      const waiting = ['app_1', 'app_2', 'app_3'].flatMap((app_id) =>
        [1, 2, 3].map((number) => sampleEdit(`edit_${number}_${app_id}`, { app_id })),
      )
      await insertEdits(racers[0], ...waiting)
      const claimed = await Promise.all(
        Array.from({ length: 8 }, (_, turn) =>
          claimEdit(racers[turn % 2 === 0 ? 0 : 1], `${turn}`, BORN),
        ),
      )
      const ids = claimed.flatMap((one) => (one === undefined ? [] : [one.id]))
      assert.deepEqual(ids.sort(), ['edit_1_app_1', 'edit_1_app_2', 'edit_1_app_3'])
      for (const app of ['app_1', 'app_2', 'app_3']) {
        const statuses = (await racers[0].edits.waiting(app)).map(({ status }) => status)
        assert.deepEqual(statuses, ['running', 'queued', 'queued'])
      }
    },
  },
  {
    name: 'edits: one whose lease has ended goes to another, with its first deadline',
    async run({ open }) {
      const store = await open()
      await insertEdits(store, sampleEdit('edit_1'), sampleEdit('edit_2'))
      const first = await claimEdit(store, 'a', BORN)
      assert.equal(await beat(store, 'a', BORN), 'held')
      assert.equal(await cancel(store, BORN + 1), true)
      assert.equal(await store.jobs.isClaimable('edit', BORN + LEASE - 1), false)
      assert.equal(await claimEdit(store, 'b', BORN + LEASE - 1), undefined)
      assert.equal(await store.jobs.isClaimable('edit', BORN + LEASE), true)
      const taken = await claimEdit(store, 'b', BORN + LEASE)
      assert.deepEqual(taken, { ...first, ...NO_PLACE })
      assert.equal(await beat(store, 'a', BORN + LEASE), 'lost')
      assert.equal(await finish(store, 'a'), false)
      const found = store.write((tx) => tx.edits.found('edit_1', 'a', { base_revision: 9 }))
      assert.equal(await found, false)
      assert.deepEqual(await edit(store), taken)
      assert.equal(await beat(store, 'b', BORN + LEASE), 'cancel')
    },
  },
]

const heldCases: readonly PlatformCase[] = [
  {
    name: 'edits: a heartbeat notes the place and moves the lease; one that is lost changes nothing',
    async run({ open }) {
      const store = await open()
      await insertEdits(store, sampleEdit('edit_1'))
      assert.equal(await beat(store, 'a', BORN), 'lost')
      const claimed = await claimEdit(store, 'a', BORN)
      assert.equal(await beat(store, 'a', BORN + 40_000), 'held')
      assert.deepEqual(await edit(store), { ...claimed, ...PLACE })
      assert.equal(await store.jobs.isClaimable('edit', BORN + 40_000 + LEASE - 1), false)
      // Nobody took it over: it is still held.
      assert.equal(await beat(store, 'a', BORN + 400_000), 'held')
      assert.equal(await beat(store, 'other', BORN + 900_000), 'lost')
      assert.equal(await store.jobs.isClaimable('edit', BORN + 400_000 + LEASE), true)
    },
  },
  {
    name: 'edits: what a claimed one applies to and who answers are noted, each by itself',
    async run({ open }) {
      const store = await open()
      await insertEdits(store, sampleEdit('edit_1', { model: 'asked-for' }))
      const found = (claim: string, what: Parameters<EditWrites['found']>[2]) =>
        store.write((tx) => tx.edits.found('edit_1', claim, what))
      assert.equal(await found('a', { base_revision: 4 }), false)
      const claimed = await claimEdit(store, 'a', BORN)
      assert.equal(await found('a', { base_revision: 4 }), true)
      assert.deepEqual(await edit(store), { ...claimed, base_revision: 4 })
      assert.equal(await found('a', { model: 'answers' }), true)
      assert.equal(await found('a', {}), true)
      assert.equal(await found('b', { model: 'never' }), false)
      const noted = { ...claimed, base_revision: 4, model: 'answers' }
      assert.deepEqual(await edit(store), noted)
      assert.equal(await found('a', { knowledge: 'withheld' }), true)
      assert.deepEqual(await edit(store), { ...noted, knowledge: 'withheld' })
    },
  },
  {
    name: 'edits: a running one can be asked to stop, once; one that waits or ended cannot',
    async run({ open }) {
      const store = await open()
      await insertEdits(store, sampleEdit('edit_1'))
      assert.equal(await cancel(store, BORN), false)
      const claimed = await claimEdit(store, 'a', BORN)
      assert.equal(await cancel(store, BORN + 1), true)
      assert.equal(await cancel(store, BORN + 2), true)
      assert.deepEqual(await edit(store), claimed)
      assert.equal(await store.jobs.hold('edit_1', 'a'), 'cancel')
      assert.equal(await store.jobs.hold('edit_1', 'b'), 'lost')
      assert.equal(await beat(store, 'a', BORN + 3), 'cancel')
      assert.equal(await finish(store, 'a', sampleEditEnd({ status: 'canceled' })), true)
      assert.equal(await cancel(store, BORN + 4), false)
    },
  },
]

const endCases: readonly PlatformCase[] = [
  {
    name: 'edits: one that ended is as its end says, without a place, and never changes again',
    async run({ open }) {
      const store = await open()
      await insertEdits(store, sampleEdit('edit_1'))
      assert.equal(await finish(store, 'a'), false)
      const claimed = await claimEdit(store, 'a', BORN)
      await beat(store, 'a', BORN + 1)
      const end = sampleEditEnd()
      assert.equal(await finish(store, 'b', end), false)
      assert.equal(await finish(store, 'a', end), true)
      const ended = { ...claimed, ...end, ...NO_PLACE }
      assert.deepEqual(await edit(store), ended)
      const failure = { code: 'worker_lost', class: 'transient', message: 'm', retryable: true }
      const other = sampleEditEnd({ status: 'failed', error: failure })
      assert.equal(await finish(store, 'a', other), false)
      assert.equal(await store.write((tx) => tx.edits.drop('edit_1', other)), false)
      assert.equal(await beat(store, 'a', BORN + 2), 'lost')
      assert.equal(await store.jobs.isClaimable('edit', BORN + 10 * LEASE), false)
      assert.deepEqual(await edit(store), ended)
    },
  },
  {
    name: 'edits: one that waits can be dropped, a running one cannot',
    async run({ open }) {
      const store = await open()
      await insertEdits(store, sampleEdit('edit_1'), sampleEdit('edit_2', { app_id: 'app_2' }))
      const end = sampleEditEnd({ status: 'canceled', result_revision: null, changed: [] })
      const drop = (id: string) => store.write((tx) => tx.edits.drop(id, end))
      await claimEdit(store, 'a', BORN)
      assert.equal(await drop('edit_1'), false)
      assert.equal(await drop('edit_2'), true)
      assert.equal(await drop('edit_2'), false)
      const dropped = sampleEdit('edit_2', { app_id: 'app_2', ...end })
      assert.deepEqual(await store.edits.get('app_2', 'edit_2'), dropped)
      assert.equal(await claimEdit(store, 'b', BORN), undefined)
    },
  },
  {
    name: 'edits: of an end and a take-over of the same edit one happens',
    async run(harness) {
      const racers = await openRacers(harness)
      await insertEdits(racers[0], sampleEdit('edit_1'))
      await claimEdit(racers[0], 'a', BORN)
      const [ended, taken] = await Promise.all([
        finish(racers[0], 'a'),
        claimEdit(racers[1], 'b', BORN + LEASE),
      ])
      assertOneWon([ended, taken !== undefined])
      assert.equal((await edit(racers[0]))?.status, ended ? 'completed' : 'running')
    },
  },
  {
    name: 'edits: of a drop and a claim of the same edit one happens',
    async run(harness) {
      const racers = await openRacers(harness)
      await insertEdits(racers[0], sampleEdit('edit_1'))
      const end = sampleEditEnd({ status: 'canceled' })
      const [claimed, dropped] = await Promise.all([
        claimEdit(racers[0], 'a', BORN),
        racers[1].write((tx) => tx.edits.drop('edit_1', end)),
      ])
      assertOneWon([claimed !== undefined, dropped])
      assert.equal((await edit(racers[0]))?.status, dropped ? 'canceled' : 'running')
    },
  },
  {
    name: 'edits: an end holds whether or not somebody asks to stop meanwhile',
    async run(harness) {
      const racers = await openRacers(harness)
      await insertEdits(racers[0], sampleEdit('edit_1'))
      await claimEdit(racers[0], 'a', BORN)
      const [asked, ended] = await Promise.all([
        cancel(racers[0], BORN + 1),
        finish(racers[1], 'a'),
      ])
      assert.equal(ended, true)
      assert.equal(typeof asked, 'boolean')
      assert.equal((await edit(racers[0]))?.status, 'completed')
    },
  },
]

/** Edits: who carries one out, and how it ends. */
export const editClaimCases: readonly PlatformCase[] = [...claimCases, ...heldCases, ...endCases]
