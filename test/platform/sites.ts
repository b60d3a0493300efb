import assert from 'node:assert/strict'
import type { DeploymentRecord } from '../../plugins/platform/contract/deployments.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import {
  FIRST,
  LEASE,
  NO_PLACE,
  SECOND,
  claimDeployment,
  insertDeployments,
  insertSites,
  makeLive,
  previewOf,
  sampleDeployment,
  sampleFailure,
} from './deployment-samples.ts'
import type { PlatformCase } from './harness.ts'
import { assertOneWon } from '../../plugins/store/conformance/harness.ts'
import { openRacers } from './harness.ts'
import { ACCOUNT, BORN } from '../../plugins/store/conformance/samples.ts'

const OFF = {
  id: 'dep_9',
  app_id: 'app_1',
  account_id: ACCOUNT,
  message: 'Closed for the season',
  reason: 'request',
  created_by: { type: 'user', id: 'usr_1' },
  created_at: BORN + 50,
} as const

const unpublish = (store: PlatformStore, id = 'dep_9') =>
  store.write((tx) => tx.deployments.unpublish({ ...OFF, id }))
const poise = (store: PlatformStore, id: string, claim: string) =>
  store.write((tx) => tx.deployments.prepareSwitch(id, claim))
const isSwitching = async (store: PlatformStore) =>
  (await store.deployments.siteByAlias('app_1'))?.switching
const switchTo = (store: PlatformStore, id: string, claim: string, now: number) =>
  store.write((tx) => tx.deployments.switch(id, claim, now))
const announce = (store: PlatformStore, id: string) =>
  store.write((tx) => tx.deployments.announce(id))
const standing = async (store: PlatformStore) => (await store.deployments.siteStates(['app_1']))[0]

/** A deployment of app_1 that is made and not poised yet, held by `claim`. */
async function makeBuilt(
  store: PlatformStore,
  id: string,
  claim: string,
): Promise<DeploymentRecord> {
  await insertDeployments(store, sampleDeployment(id))
  const claimed = await claimDeployment(store, claim, BORN)
  await store.write((tx) => tx.deployments.built(id, claim, SECOND))
  assert.equal(claimed?.id, id)
  return { ...claimed, status: 'deploying', artifact: SECOND }
}

/** One that could be switched to. */
async function makeReady(
  store: PlatformStore,
  id: string,
  claim: string,
): Promise<DeploymentRecord> {
  const built = await makeBuilt(store, id, claim)
  assert.equal(await poise(store, id, claim), true)
  return built
}

const switchCases: readonly PlatformCase[] = [
  {
    name: 'sites: a switch makes a deployment live and supersedes what was',
    async run({ open }) {
      const store = await open()
      await insertSites(store, 'app_1')
      assert.deepEqual(await standing(store), {
        app_id: 'app_1',
        account_id: ACCOUNT,
        deployment_id: null,
        generation: 0,
        preview: previewOf('app_1'),
        in_progress: false,
        suspended: false,
      })
      const first = await makeLive(store, 'dep_1', FIRST, BORN)
      assert.deepEqual([first.release, first.previous_deployment_id], [1, null])
      const ready = await makeReady(store, 'dep_2', 'a')
      assert.equal((await standing(store))?.in_progress, true)
      assert.equal(await switchTo(store, 'dep_2', 'b', BORN + 9), undefined)
      const live = await switchTo(store, 'dep_2', 'a', BORN + 9)
      const previous_deployment_id = 'dep_1'
      assert.deepEqual(live, {
        ...ready,
        status: 'live',
        live_at: BORN + 9,
        previous_deployment_id,
      })
      assert.deepEqual(await store.deployments.live('app_1'), live)
      assert.deepEqual(await store.deployments.get('app_1', 'dep_1'), {
        ...first,
        status: 'superseded',
        ended_at: BORN + 9,
      })
      const { deployment_id, generation, in_progress } = (await standing(store)) ?? {}
      assert.deepEqual([deployment_id, generation, in_progress], ['dep_2', 2, false])
      assert.equal(await switchTo(store, 'dep_2', 'a', BORN + 10), undefined, 'once')
    },
  },
  {
    name: 'sites: what is not poised is not switched to; what is turns its site until it is live or ended',
    async run({ open }) {
      const store = await open()
      await insertSites(store, 'app_1')
      await insertDeployments(store, sampleDeployment('dep_1'))
      await claimDeployment(store, 'a', BORN)
      assert.equal(await poise(store, 'dep_1', 'a'), false, 'it is not made yet')
      await store.write((tx) => tx.deployments.built('dep_1', 'a', FIRST))
      assert.equal(await switchTo(store, 'dep_1', 'a', BORN + 1), undefined)
      assert.equal(await isSwitching(store), false)
      assert.equal(await poise(store, 'dep_1', 'b'), false, 'it is not held')
      assert.equal(await poise(store, 'dep_1', 'a'), true)
      assert.equal(await poise(store, 'dep_1', 'a'), true, 'again')
      assert.equal(await isSwitching(store), true)
      await claimDeployment(store, 'b', BORN + LEASE)
      assert.equal(await isSwitching(store), false, 'whoever has it next makes sure of it anew')
      assert.equal(await poise(store, 'dep_1', 'a'), false)
      assert.equal(await poise(store, 'dep_1', 'b'), true)
      assert.ok(await switchTo(store, 'dep_1', 'b', BORN + LEASE))
      assert.equal(await isSwitching(store), false)
      await announce(store, 'dep_1')
      await makeReady(store, 'dep_2', 'c')
      assert.equal(await isSwitching(store), true)
      await store.write((tx) => tx.deployments.fail('dep_2', 'c', sampleFailure()))
      assert.equal(await isSwitching(store), false)
      await makeBuilt(store, 'dep_3', 'd')
      assert.equal(await isSwitching(store), false, 'nor does the next begin so')
    },
  },
  {
    name: 'sites: a switch that rolls back leaves what was live',
    async run({ open }) {
      const store = await open()
      await insertSites(store, 'app_1')
      const first = await makeLive(store, 'dep_1', FIRST, BORN)
      const ready = await makeReady(store, 'dep_2', 'a')
      const failed = store.write(async (tx) => {
        assert.ok(await tx.deployments.switch('dep_2', 'a', BORN + 9))
        throw new Error('no')
      })
      await assert.rejects(failed, /no/)
      assert.deepEqual(await store.deployments.live('app_1'), first)
      assert.deepEqual(await store.deployments.get('app_1', 'dep_2'), ready)
      assert.equal((await standing(store))?.deployment_id, 'dep_1')
    },
  },
  {
    name: 'sites: nothing of an archived app becomes live',
    async run({ open }) {
      const store = await open()
      await insertSites(store, 'app_1')
      const ready = await makeReady(store, 'dep_1', 'a')
      await store.write((tx) => tx.apps.archive('app_1', BORN + 1, BORN + 9))
      assert.equal(await switchTo(store, 'dep_1', 'a', BORN + 2), undefined)
      assert.deepEqual(await store.deployments.get('app_1', 'dep_1'), {
        ...ready,
        cancel_at: BORN + 1,
      })
    },
  },
  {
    name: 'sites: of a switch and a take-over of the same deployment one happens first, and both know',
    async run(harness) {
      const racers = await openRacers(harness)
      await insertSites(racers[0], 'app_1')
      await makeReady(racers[0], 'dep_1', 'a')
      const [live, taken] = await Promise.all([
        switchTo(racers[0], 'dep_1', 'a', BORN + LEASE),
        claimDeployment(racers[1], 'b', BORN + LEASE),
      ])
      // Live and untold of, it is taken over too: to be told of.
      assert.equal(taken?.status, live === undefined ? 'deploying' : 'live')
      // Whoever takes it over looks through it again.
      await poise(racers[1], 'dep_1', 'b')
      const again = await switchTo(racers[1], 'dep_1', 'b', BORN + LEASE + 1)
      assert.equal(again === undefined, live !== undefined)
      assert.equal((await racers[0].deployments.live('app_1'))?.id, 'dep_1')
      assert.equal((await standing(racers[0]))?.generation, 1)
    },
  },
  {
    name: 'sites: what is live and untold of is taken over, and told of once whoever tells',
    async run(harness) {
      const racers = await openRacers(harness)
      const [store] = racers
      await insertSites(store, 'app_1')
      await makeReady(store, 'dep_1', 'a')
      assert.equal(await announce(store, 'dep_1'), false, 'it is not live yet')
      const live = await switchTo(store, 'dep_1', 'a', BORN + 1)
      assert.equal(await store.jobs.isClaimable('deployment', BORN + LEASE - 1), false)
      assert.equal(await store.jobs.isClaimable('deployment', BORN + LEASE), true)
      const taken = await claimDeployment(store, 'b', BORN + LEASE)
      assert.deepEqual(taken, live)
      assertOneWon(await Promise.all(racers.map((one) => announce(one, 'dep_1'))))
      assert.deepEqual(await store.deployments.live('app_1'), { ...taken, announced: true })
      assert.equal(await store.jobs.isClaimable('deployment', BORN + 9 * LEASE), false)
    },
  },
]

const offlineCases: readonly PlatformCase[] = [
  {
    name: 'sites: of two that take an app offline one does, by a deployment of its own',
    async run(harness) {
      const racers = await openRacers(harness)
      const [store] = racers
      await insertSites(store, 'app_1')
      assert.equal(await unpublish(store), undefined, 'nothing is live')
      const live = await makeLive(store, 'dep_1', FIRST, BORN)
      const made = await Promise.all(
        racers.map((one, turn) => unpublish(one, `dep_9${String(turn)}`)),
      )
      assertOneWon(made.map((one) => one !== undefined))
      const [offline] = made.flatMap((one) => one ?? [])
      assert.deepEqual(offline, {
        ...OFF,
        ...NO_PLACE,
        id: offline?.id,
        release: 2,
        kind: 'unpublish',
        status: 'unpublished',
        revision: null,
        edit_id: null,
        artifact: null,
        previous_deployment_id: 'dep_1',
        restored_from: null,
        error: null,
        started_at: BORN + 50,
        live_at: null,
        ended_at: BORN + 50,
        cancel_at: null,
        announced: true,
        retire_earlier: false,
      })
      assert.deepEqual(await store.deployments.get('app_1', offline?.id ?? ''), offline)
      const was = { ...live, status: 'superseded', ended_at: BORN + 50 }
      assert.deepEqual(await store.deployments.get('app_1', 'dep_1'), was)
      assert.equal(await store.deployments.live('app_1'), undefined)
      const { deployment_id, generation } = (await standing(store)) ?? {}
      assert.deepEqual([deployment_id, generation], [null, 2])
      assert.equal((await makeLive(store, 'dep_99', FIRST, BORN)).release, 3)
    },
  },
]

/** Sites: which deployment of an app is live. */
export const siteCases: readonly PlatformCase[] = [...switchCases, ...offlineCases]
