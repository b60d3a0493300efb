import assert from 'node:assert/strict'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import { FIRST, insertSites, makeLive, previewOf } from './deployment-samples.ts'
import type { PlatformCase } from './harness.ts'
import { openRacers } from './harness.ts'
import { claimProbes, insertObserved, probesBy, sampleCheck } from './observation-samples.ts'
import { ACCOUNT, BORN, STRANGER, sampleAccount } from '../../plugins/store/conformance/samples.ts'
import { sampleApp } from './app-samples.ts'

const OPERATOR = { type: 'operator', id: null } as const

const dueProbes = (store: PlatformStore, now: number, limit = 9) =>
  store.observations.dueProbes(probesBy(now), limit)

/** Apps of which something is live. */
async function insertLive(store: PlatformStore, ...ids: readonly string[]): Promise<void> {
  await insertSites(store, ...ids)
  for (const id of ids) await makeLive(store, `dep of ${id}`, FIRST, BORN, { app_id: id })
}

/** Probes of published apps, and what came of them. */
export const probeCases: readonly PlatformCase[] = [
  {
    name: 'observations: checks are read newest first, and how many of them passed',
    async run({ open }) {
      const store = await open()
      await insertObserved(store, 'app_1', 'app_2')
      const failed = sampleCheck(3, { status: 'fail', latency_ms: null, message: 'no answer' })
      const checks = [sampleCheck(1), sampleCheck(2), failed, sampleCheck(9, { app_id: 'app_2' })]
      await store.write((tx) => tx.observations.addChecks(checks))
      await store.write((tx) =>
        tx.observations.addChecks([
          sampleCheck(3),
          sampleCheck(4, { app_id: 'app_9' }),
          sampleCheck(4),
        ]),
      )
      assert.deepEqual(await store.observations.checks('app_1', 2), [sampleCheck(4), failed])
      const uptime = (after: number) => store.observations.uptime('app_1', BORN + after)
      assert.deepEqual(await uptime(0), { checks: 4, passed: 3 })
      assert.deepEqual(await uptime(3), { checks: 2, passed: 1 })
      assert.deepEqual(await uptime(5), { checks: 0, passed: 0 })
      assert.equal(await store.purge('checks', BORN + 3, 9), 2)
      assert.deepEqual(await uptime(0), { checks: 2, passed: 1 })
    },
  },
  {
    name: 'observations: of concurrent callers each probes other apps, once a turn',
    async run(harness) {
      const racers = await openRacers(harness)
      const ids = ['app_1', 'app_2', 'app_3', 'app_4']
      await insertLive(racers[0], ...ids)
      const first = await Promise.all(
        Array.from({ length: 6 }, (_, turn) =>
          claimProbes(racers[turn % 2 === 0 ? 0 : 1], BORN, BORN + 60, [...ids, 'app_9']),
        ),
      )
      assert.deepEqual(first.flat().sort(), ids)
      assert.deepEqual(await claimProbes(racers[1], BORN + 59, BORN + 120, ids), [])
      const again = await claimProbes(racers[1], BORN + 60, BORN + 120, ['app_2'])
      assert.deepEqual(again, ['app_2'])
      const last = await claimProbes(racers[0], BORN + 60, BORN + 120, ids)
      assert.deepEqual([...last].sort(), ['app_1', 'app_3', 'app_4'])
    },
  },
  {
    name: 'observations: apps that are served are due for a probe, who has waited longest first',
    async run({ open }) {
      const store = await open()
      await store.write(async (tx) => {
        await tx.accounts.insert(sampleAccount())
        await tx.accounts.insert(sampleAccount({ id: STRANGER }))
      })
      for (const id of ['app_1', 'app_2', 'app_3', 'app_4', 'app_5', 'app_6']) {
        const account_id = id === 'app_4' ? STRANGER : ACCOUNT
        await store.write(async (tx) => {
          await tx.apps.insert(sampleApp(id, { account_id }))
          await tx.deployments.openSite({ app_id: id, account_id, preview: previewOf(id) })
        })
        if (id === 'app_5') continue
        await makeLive(store, `dep_${id}`, FIRST, BORN, { app_id: id, account_id })
      }
      await store.write(async (tx) => {
        await tx.apps.archive('app_6', BORN, BORN + 9)
        await tx.accounts.setSuspended(STRANGER, true, BORN)
      })
      const due = (now: number, limit = 9) => dueProbes(store, now, limit)
      assert.deepEqual(await due(BORN, 2), ['app_1', 'app_2'])
      const all = await due(BORN)
      assert.deepEqual(all, ['app_1', 'app_2', 'app_3', 'app_4', 'app_6'])
      const served = await claimProbes(store, BORN, BORN, all)
      assert.deepEqual([...served].sort(), ['app_1', 'app_2', 'app_3'])
      await claimProbes(store, BORN, BORN + 99, ['app_4', 'app_6'])
      await claimProbes(store, BORN, BORN + 60, ['app_1'])
      await claimProbes(store, BORN, BORN + 30, ['app_3'])
      assert.deepEqual(await due(BORN + 29), ['app_2'])
      assert.deepEqual(await due(BORN + 60), ['app_2', 'app_3', 'app_1'])
    },
  },
  {
    name: 'observations: what is not live, or purged, is not due; what goes live again keeps its turn',
    async run({ open }) {
      const store = await open()
      await insertLive(store, 'app_1', 'app_2', 'app_3')
      const off = { id: 'off', app_id: 'app_1', account_id: ACCOUNT, message: null } as const
      const by = { reason: 'request', created_by: OPERATOR, created_at: BORN } as const
      await store.write((tx) => tx.deployments.unpublish({ ...off, ...by }))
      await store.write((tx) => tx.apps.archive('app_2', BORN, BORN + 1))
      await store.write((tx) => tx.apps.purge('app_2', BORN + 1))
      assert.deepEqual(await dueProbes(store, BORN), ['app_3'])
      await claimProbes(store, BORN, BORN + 50, ['app_1', 'app_3'])
      await makeLive(store, 'again_1', FIRST, BORN)
      await makeLive(store, 'again_3', FIRST, BORN, { app_id: 'app_3' })
      assert.deepEqual(await dueProbes(store, BORN), ['app_1'])
    },
  },
  {
    name: 'observations: a probe that a clock ahead of ours put off is due',
    async run({ open }) {
      const store = await open()
      await insertLive(store, 'app_1', 'app_2', 'app_3')
      await claimProbes(store, BORN, BORN + 2 ** 40, ['app_1'])
      await claimProbes(store, BORN, BORN + 100, ['app_2'])
      await claimProbes(store, BORN, BORN + 101, ['app_3'])
      assert.deepEqual(await dueProbes(store, BORN), ['app_3', 'app_1'])
      const claimed = await claimProbes(store, BORN, BORN + 60, ['app_1', 'app_2', 'app_3'])
      assert.deepEqual([...claimed].sort(), ['app_1', 'app_3'])
      assert.deepEqual(await dueProbes(store, BORN), [])
    },
  },
]
