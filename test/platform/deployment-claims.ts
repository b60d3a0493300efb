import assert from 'node:assert/strict'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import {
  FIRST,
  LEASE,
  NO_PLACE,
  SECOND,
  claimDeployment,
  insertDeployments,
  insertSites,
  sampleDeployment,
  sampleFailure,
} from './deployment-samples.ts'
import type { PlatformCase } from './harness.ts'
import { openRacers } from './harness.ts'
import { BORN, STRANGER, sampleAccount } from '../../plugins/store/conformance/samples.ts'

const PLACE = { step: 'compressing', done: 3, total: 7 }
const PROGRESS = { stage: 'compressing', done: 3, total: 7 }
const CANCELED = sampleFailure({ status: 'canceled' })

const deployment = (store: PlatformStore) => store.deployments.get('app_1', 'dep_1')
const beat = (store: PlatformStore, claim: string, now: number) =>
  store.write((tx) => tx.jobs.heartbeat('dep_1', claim, { lease_until: now + LEASE, ...PROGRESS }))
const built = (store: PlatformStore, claim: string, artifact = FIRST) =>
  store.write((tx) => tx.deployments.built('dep_1', claim, artifact))
const fail = (store: PlatformStore, claim: string) =>
  store.write((tx) => tx.deployments.fail('dep_1', claim, sampleFailure()))
const cancel = (store: PlatformStore, at = BORN + 500) =>
  store.write((tx) => tx.deployments.cancel('dep_1', { ...CANCELED, ended_at: at }))

const claimCases: readonly PlatformCase[] = [
  {
    name: 'deployments: a claim begins the oldest that waits, of the account with the fewest under way',
    async run({ open }) {
      const store = await open()
      assert.equal(await store.jobs.isClaimable('deployment', BORN), false)
      assert.equal(await claimDeployment(store, 'none', BORN), undefined)
      await insertDeployments(
        store,
        sampleDeployment('dep_2', { app_id: 'app_2' }),
        sampleDeployment('dep_1'),
        sampleDeployment('dep_3', { app_id: 'app_3', account_id: STRANGER }),
      )
      assert.equal(await store.jobs.isClaimable('deployment', BORN + 5), true)
      const building = {
        ...sampleDeployment('dep_1', { status: 'building', started_at: BORN + 5 }),
        release: 1,
      }
      assert.deepEqual(await claimDeployment(store, 'a', BORN + 5), building)
      assert.deepEqual(await deployment(store), building)
      assert.equal((await claimDeployment(store, 'b', BORN + 6))?.id, 'dep_3')
      assert.equal((await claimDeployment(store, 'c', BORN + 6))?.id, 'dep_2')
      assert.equal(await store.jobs.isClaimable('deployment', BORN + 7), false)
      assert.equal(await claimDeployment(store, 'd', BORN + 7), undefined)
    },
  },
  {
    name: 'deployments: one whose lease has ended goes to another as what it is, with its first deadline',
    async run({ open }) {
      const store = await open()
      await insertDeployments(store, sampleDeployment('dep_1'))
      const first = await claimDeployment(store, 'a', BORN)
      assert.equal(await beat(store, 'a', BORN), 'held')
      assert.equal(await claimDeployment(store, 'b', BORN + LEASE - 1), undefined)
      const taken = await claimDeployment(store, 'b', BORN + LEASE)
      assert.deepEqual(taken, { ...first, ...NO_PLACE })
      assert.equal(await beat(store, 'a', BORN + LEASE), 'lost')
      assert.equal(await built(store, 'a'), 'lost')
      assert.equal(await fail(store, 'a'), false)
      assert.deepEqual(await deployment(store), taken)
      assert.equal(await built(store, 'b'), 'held')
      const later = await claimDeployment(store, 'c', BORN + 2 * LEASE)
      assert.deepEqual(later, { ...taken, status: 'deploying', artifact: FIRST })
    },
  },
]

const heldCases: readonly PlatformCase[] = [
  {
    name: 'deployments: a heartbeat notes the place and moves the lease; one that is lost changes nothing',
    async run({ open }) {
      const store = await open()
      await insertDeployments(store, sampleDeployment('dep_1'))
      assert.equal(await beat(store, 'a', BORN), 'lost')
      const claimed = await claimDeployment(store, 'a', BORN)
      assert.equal(await beat(store, 'a', BORN + 40_000), 'held')
      assert.deepEqual(await deployment(store), { ...claimed, ...PLACE })
      assert.equal(await store.jobs.isClaimable('deployment', BORN + 40_000 + LEASE - 1), false)
      assert.equal(await beat(store, 'other', BORN + 90_000), 'lost')
      assert.equal(await store.jobs.isClaimable('deployment', BORN + 40_000 + LEASE), true)
    },
  },
  {
    name: 'deployments: what is made is noted once, by its holder alone',
    async run({ open }) {
      const store = await open()
      await insertDeployments(store, sampleDeployment('dep_1'))
      assert.equal(await built(store, 'a'), 'lost')
      const claimed = await claimDeployment(store, 'a', BORN)
      assert.equal(await built(store, 'b'), 'lost')
      assert.equal(await built(store, 'a'), 'held')
      const deploying = { ...claimed, status: 'deploying', artifact: FIRST }
      assert.deepEqual(await deployment(store), deploying)
      assert.equal(await built(store, 'a', SECOND), 'lost')
      assert.deepEqual(await deployment(store), deploying)
    },
  },
  {
    name: 'deployments: one that failed is as its end says, never changes again, and the next may be made',
    async run({ open }) {
      const store = await open()
      await insertSites(store, 'app_1')
      await insertDeployments(store, sampleDeployment('dep_1'))
      assert.equal(await fail(store, 'a'), false)
      const claimed = await claimDeployment(store, 'a', BORN)
      await beat(store, 'a', BORN + 1)
      assert.equal(await fail(store, 'b'), false)
      assert.equal(await fail(store, 'a'), true)
      const failed = { ...claimed, ...sampleFailure(), ...NO_PLACE }
      assert.deepEqual(await deployment(store), failed)
      assert.equal(await fail(store, 'a'), false)
      assert.equal(await beat(store, 'a', BORN + 2), 'lost')
      assert.equal(await cancel(store), 'late')
      const move = (tx: Parameters<Parameters<PlatformStore['write']>[0]>[0]) =>
        tx.deployments.switch('dep_1', 'a', BORN + 3)
      assert.equal(await store.write(move), undefined)
      assert.equal(await store.jobs.isClaimable('deployment', BORN + 10 * LEASE), false)
      assert.deepEqual(await deployment(store), failed)
      assert.equal(await store.deployments.inProgress('app_1'), undefined)
      assert.equal((await insertDeployments(store, sampleDeployment('dep_2')))[0]?.release, 2)
    },
  },
]

const cancelCases: readonly PlatformCase[] = [
  {
    name: 'deployments: one that waits is canceled at once, and claimed by nobody',
    async run({ open }) {
      const store = await open()
      const [queued] = await insertDeployments(store, sampleDeployment('dep_1'))
      assert.equal(await cancel(store), 'canceled')
      assert.deepEqual(await deployment(store), { ...queued, ...CANCELED })
      assert.equal(await cancel(store), 'late')
      assert.equal(await claimDeployment(store, 'a', BORN), undefined)
      const other = store.write((tx) => tx.deployments.cancel('dep_9', CANCELED))
      assert.equal(await other, 'late', 'there is none')
    },
  },
  {
    name: 'deployments: one that is built is asked to stop, and taken no further; then it is too late',
    async run({ open }) {
      const store = await open()
      await insertDeployments(store, sampleDeployment('dep_1'))
      const claimed = await claimDeployment(store, 'a', BORN)
      assert.equal(await cancel(store, BORN + 1), 'asked')
      assert.equal(await cancel(store, BORN + 2), 'asked')
      assert.equal(await built(store, 'a'), 'cancel')
      assert.deepEqual(await deployment(store), { ...claimed, cancel_at: BORN + 1 })
      assert.equal(await beat(store, 'a', BORN + 2), 'cancel')
      const end = store.write((tx) => tx.deployments.fail('dep_1', 'a', CANCELED))
      assert.equal(await end, true)

      await insertDeployments(store, sampleDeployment('dep_2'))
      await claimDeployment(store, 'b', BORN)
      await store.write((tx) => tx.deployments.built('dep_2', 'b', FIRST))
      assert.equal(await store.write((tx) => tx.deployments.cancel('dep_2', CANCELED)), 'late')
      assert.equal((await store.deployments.get('app_1', 'dep_2'))?.cancel_at, null)
    },
  },
  {
    name: 'deployments: archiving stops one that is under way, however far it is, restored or not',
    async run(harness) {
      const [store, other] = await openRacers(harness)
      await insertSites(store, 'app_1', 'app_2')
      await insertDeployments(store, sampleDeployment('dep_1'))
      await claimDeployment(store, 'a', BORN)
      await built(store, 'a')
      await store.write((tx) => tx.deployments.prepareSwitch('dep_1', 'a'))
      await other.write((tx) => tx.apps.archive('app_1', BORN + 2, BORN + 9))
      await other.write((tx) => tx.apps.restore('app_1', BORN + 3))
      assert.equal((await deployment(store))?.cancel_at, BORN + 2)
      assert.equal(await beat(store, 'a', BORN + 4), 'cancel')
      const move = store.write((tx) => tx.deployments.switch('dep_1', 'a', BORN + 4))
      assert.equal(await move, undefined)
      assert.equal(await store.deployments.live('app_1'), undefined)
      assert.equal(await fail(store, 'a'), true)
      const failed = await deployment(store)
      await store.write((tx) => tx.apps.archive('app_1', BORN + 5, BORN + 9))
      assert.deepEqual(await deployment(store), failed, 'what ended stays as it is')
    },
  },
  {
    name: 'deployments: nothing goes live of an account that is suspended',
    async run({ open }) {
      const store = await open()
      await store.write((tx) => tx.accounts.insert(sampleAccount({ suspended_at: BORN })))
      await insertSites(store, 'app_1')
      await insertDeployments(store, sampleDeployment('dep_1'))
      await claimDeployment(store, 'a', BORN)
      await built(store, 'a')
      await store.write((tx) => tx.deployments.prepareSwitch('dep_1', 'a'))
      const move = store.write((tx) => tx.deployments.switch('dep_1', 'a', BORN + 1))
      assert.equal(await move, undefined)
      assert.equal((await deployment(store))?.status, 'deploying')
    },
  },
  {
    name: 'deployments: of a claim and a cancellation of what waits, either it is never begun or asked to stop',
    async run(harness) {
      const racers = await openRacers(harness)
      await insertDeployments(racers[0], sampleDeployment('dep_1'))
      const [claimed, canceled] = await Promise.all([
        claimDeployment(racers[0], 'a', BORN),
        cancel(racers[1]),
      ])
      assert.equal(canceled, claimed === undefined ? 'canceled' : 'asked')
      const { status } = (await deployment(racers[1])) ?? {}
      assert.equal(status, claimed === undefined ? 'canceled' : 'building')
    },
  },
]

/** Deployments: who carries them out, until they are live or ended. */
export const deploymentClaimCases: readonly PlatformCase[] = [
  ...claimCases,
  ...heldCases,
  ...cancelCases,
]
