import assert from 'node:assert/strict'
import type { DeploymentListQuery } from '../../plugins/platform/contract/deployments.ts'
import { DEPLOYMENT_STATUSES } from '../../plugins/platform/contract/deployments.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import {
  FIRST,
  SECOND,
  THIRD,
  claimDeployment,
  insertDeployments,
  insertSites,
  makeLive,
  sampleDeployment,
  sampleFailure,
} from './deployment-samples.ts'
import type { PlatformCase } from './harness.ts'
import { readPages } from '../../plugins/store/conformance/harness.ts'
import { openRacers } from './harness.ts'
import { ACCOUNT, BORN } from '../../plugins/store/conformance/samples.ts'
import { sampleApp } from './app-samples.ts'

const ALL: DeploymentListQuery = {
  app_id: 'app_1',
  statuses: DEPLOYMENT_STATUSES,
  kind: null,
  limit: 100,
  after: null,
}

const lineOf = (message: string) => ({ at: BORN + 1, stage: null, message })
const fail = (store: PlatformStore, id: string, claim: string) =>
  store.write((tx) => tx.deployments.fail(id, claim, sampleFailure()))

const recordCases: readonly PlatformCase[] = [
  {
    name: 'deployments: a record comes back as it was inserted, as the next release of its app',
    async run({ open }) {
      const store = await open()
      const full = sampleDeployment('dep_1', {
        kind: 'rollback',
        artifact: FIRST,
        restored_from: 'dep_0',
        message: null,
        created_by: { type: 'operator', id: null },
        started_at: BORN + 1,
        retire_earlier: true,
      })
      const other = sampleDeployment('dep_2', { app_id: 'app_2', edit_id: null, revision: null })
      assert.deepEqual(await insertDeployments(store, full, other), [
        { ...full, release: 1 },
        { ...other, release: 1 },
      ])
      assert.deepEqual(await store.deployments.get('app_1', 'dep_1'), { ...full, release: 1 })
      assert.deepEqual(await store.deployments.inProgress('app_2'), { ...other, release: 1 })
      assert.equal(await store.deployments.get('app_2', 'dep_1'), undefined)
      assert.equal(await store.deployments.get('app_1', 'dep_9'), undefined)
    },
  },
  {
    name: 'deployments: of two that are asked for at once one is in progress, the other is none',
    async run(harness) {
      const racers = await openRacers(harness)
      const made = await Promise.all(
        racers.map((store, turn) =>
          store.write((tx) => tx.deployments.insert(sampleDeployment(`dep_${turn}`))),
        ),
      )
      const [one, ...more] = made.filter((record) => record !== undefined)
      assert.deepEqual([one?.release, more.length], [1, 0])
      assert.equal((await racers[1].deployments.inProgress('app_1'))?.id, one?.id)
      await claimDeployment(racers[0], 'a', BORN)
      assert.equal(await fail(racers[1], one?.id ?? '', 'a'), true)
      const [next] = await insertDeployments(racers[1], sampleDeployment('dep_3'))
      assert.equal(next?.release, 2, 'what failed keeps its number')
    },
  },
  {
    name: 'deployments: pages run newest first, of one app, by status and kind, whole while more are made',
    async run({ open }) {
      const store = await open()
      await insertSites(store, 'app_1', 'app_2')
      await makeLive(store, 'dep_1', FIRST, BORN)
      await makeLive(store, 'dep_2', SECOND, BORN, { kind: 'rollback' })
      await insertDeployments(store, sampleDeployment('dep_3'))
      await claimDeployment(store, 'a', BORN)
      await fail(store, 'dep_3', 'a')
      await makeLive(store, 'dep_4', FIRST, BORN, { app_id: 'app_2' })

      const idsOf = async (query: Partial<DeploymentListQuery>): Promise<string[]> => {
        const { rows, more } = await store.deployments.list({ ...ALL, ...query })
        assert.equal(more, false)
        return rows.map(({ id }) => id)
      }
      assert.deepEqual(await idsOf({}), ['dep_3', 'dep_2', 'dep_1'])
      assert.deepEqual(await idsOf({ statuses: ['live', 'superseded'] }), ['dep_2', 'dep_1'])
      assert.deepEqual(await idsOf({ statuses: ['failed'], kind: 'rollback' }), [])
      assert.deepEqual(await idsOf({ kind: 'rollback' }), ['dep_2'])
      assert.deepEqual(await idsOf({ statuses: [] }), [])
      let made = 0
      const seen = await readPages(
        (after) => store.deployments.list({ ...ALL, limit: 1, after }),
        async () => void (await makeLive(store, `dep_5${made++}`, THIRD, BORN)),
      )
      assert.deepEqual(seen, ['dep_3', 'dep_2', 'dep_1'])
    },
  },
]

const lineageCases: readonly PlatformCase[] = [
  {
    name: 'deployments: what was live before is the latest that served something else',
    async run({ open }) {
      const store = await open()
      await insertSites(store, 'app_1')
      const before = async () => (await store.deployments.before('app_1'))?.id
      assert.equal(await before(), undefined)
      await makeLive(store, 'dep_1', FIRST, BORN)
      assert.equal(await before(), undefined)
      await makeLive(store, 'dep_2', SECOND, BORN + 1)
      assert.equal(await before(), 'dep_1')
      await makeLive(store, 'dep_3', FIRST, BORN + 2)
      assert.equal(await before(), 'dep_2')
      const off = { id: 'dep_4', app_id: 'app_1', account_id: ACCOUNT, message: null }
      const by = { created_by: { type: 'user', id: 'usr_1' }, created_at: BORN + 3 } as const
      await store.write((tx) => tx.deployments.unpublish({ ...off, ...by, reason: 'request' }))
      assert.equal(await before(), 'dep_3', 'offline, it is what was live last')
      await makeLive(store, 'dep_5', FIRST, BORN + 4)
      assert.equal(await before(), 'dep_2')
    },
  },
  {
    name: 'deployments: manifests of the last releases that were live are kept, and what is under way',
    async run({ open }) {
      const store = await open()
      await insertSites(store, 'app_1', 'app_2')
      await makeLive(store, 'dep_1', FIRST, BORN)
      await makeLive(store, 'dep_2', SECOND, BORN)
      await makeLive(store, 'dep_3', SECOND, BORN)
      await makeLive(store, 'dep_4', THIRD, BORN)
      const artifacts = (releases: number) => store.deployments.artifacts('app_1', releases)
      assert.deepEqual(await artifacts(9), [THIRD, SECOND, FIRST])
      assert.deepEqual(await artifacts(3), [THIRD, SECOND])
      assert.deepEqual(await artifacts(1), [THIRD])
      const again = sampleDeployment('dep_5', { kind: 'rollback', artifact: FIRST })
      await insertDeployments(store, again)
      assert.deepEqual(await artifacts(1), [FIRST, THIRD])
      await claimDeployment(store, 'a', BORN)
      await fail(store, 'dep_5', 'a')
      assert.deepEqual(await artifacts(1), [THIRD], 'what failed needs nothing')
      assert.deepEqual(await store.deployments.artifacts('app_2', 9), [])
    },
  },
]

const lineCases: readonly PlatformCase[] = [
  {
    name: 'deployments: a purged app leaves neither deployments nor lines nor a site',
    async run({ open }) {
      const store = await open()
      await insertSites(store, 'app_2')
      await store.write(async (tx) => {
        await tx.apps.insert(sampleApp('app_1', { archived_at: BORN, purge_at: BORN + 9 }))
        await tx.deployments.openSite({ app_id: 'app_1', account_id: ACCOUNT, preview: 'p1' })
        await tx.deployments.insert(sampleDeployment('dep_1'))
        await tx.deployments.insert(sampleDeployment('dep_2', { app_id: 'app_2' }))
        await tx.jobs.log('dep_1', [lineOf('one')])
        await tx.jobs.log('dep_2', [lineOf('other')])
      })
      assert.equal(await store.write((tx) => tx.apps.purge('app_1', BORN + 9)), true)
      assert.equal(await store.deployments.get('app_1', 'dep_1'), undefined)
      assert.deepEqual(await store.jobs.lines('dep_1', 0, 9), [])
      const standings = await store.deployments.siteStates(['app_1', 'app_2'])
      assert.deepEqual(
        standings.map(({ app_id }) => app_id),
        ['app_2'],
      )
      assert.equal((await store.jobs.lines('dep_2', 0, 9)).length, 1)
      assert.equal((await claimDeployment(store, 'a', BORN))?.id, 'dep_2')
    },
  },
]

const vainCases: readonly PlatformCase[] = [
  {
    name: 'deployments: what came to nothing goes by its age, oldest first, but for the last of an app',
    async run({ open }) {
      const store = await open()
      await insertSites(store, 'app_1', 'app_2')
      const end = async (id: string, ended_at: number, app_id = 'app_1') => {
        await insertDeployments(store, sampleDeployment(id, { app_id }))
        await claimDeployment(store, id, BORN)
        await store.write(async (tx) => {
          await tx.jobs.log(id, [lineOf(id)])
          await tx.deployments.fail(id, id, sampleFailure({ ended_at }))
        })
      }
      await end('dep_1', BORN + 1)
      await end('dep_2', BORN + 2)
      await makeLive(store, 'dep_3', FIRST, BORN)
      await insertDeployments(store, sampleDeployment('dep_4'))
      const canceled = sampleFailure({ status: 'canceled', ended_at: BORN + 3 })
      await store.write((tx) => tx.deployments.cancel('dep_4', canceled))
      await makeLive(store, 'dep_5', SECOND, BORN)
      await end('dep_6', BORN + 9)
      await end('dep_7', BORN + 1, 'app_2')
      assert.equal((await store.deployments.lastFailed('app_1'))?.id, 'dep_6')
      assert.equal((await store.deployments.lastFailed('app_9'))?.id, undefined)
      const purge = (before: number, limit: number) => store.purge('deployments', before, limit)
      assert.deepEqual([await purge(BORN + 3, 1), await purge(BORN + 3, 9)], [1, 1])
      assert.deepEqual([await purge(BORN + 99, 9), await purge(BORN + 99, 9)], [1, 0])
      const { rows } = await store.deployments.list(ALL)
      assert.deepEqual(
        rows.map(({ id }) => id),
        ['dep_6', 'dep_5', 'dep_3'],
      )
      const lines = async (id: string) => (await store.jobs.lines(id, 0, 9)).length
      assert.deepEqual(
        [await lines('dep_1'), await lines('dep_6'), await lines('dep_7')],
        [0, 1, 1],
      )
      const [next] = await insertDeployments(store, sampleDeployment('dep_8'))
      assert.equal(next?.release, 7)
    },
  },
]

/** Deployments: their records, their lineage and what they did. */
export const deploymentCases: readonly PlatformCase[] = [
  ...recordCases,
  ...lineageCases,
  ...lineCases,
  ...vainCases,
]
