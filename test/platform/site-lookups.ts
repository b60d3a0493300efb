import assert from 'node:assert/strict'
import type { PlatformTx } from '../../plugins/platform/contract.ts'
import {
  FIRST,
  SECOND,
  THIRD,
  claimDeployment,
  insertDeployments,
  insertSites,
  makeLive,
  previewOf,
  sampleDeployment,
  sampleFailure,
  sitesTold,
} from './deployment-samples.ts'
import type { PlatformCase, PlatformHarness } from './harness.ts'
import { openRacers } from './harness.ts'
import { ACCOUNT, BORN, sampleAccount } from '../../plugins/store/conformance/samples.ts'
import { sampleApp, sampleRevision } from './app-samples.ts'

const OFF = {
  id: 'dep_99',
  app_id: 'app_1',
  account_id: ACCOUNT,
  message: null,
  reason: 'suspended',
  created_by: { type: 'operator', id: null },
  created_at: BORN + 50,
} as const

const lookupCases: readonly PlatformCase[] = [
  {
    name: 'sites: an app is found by its id, its alias and its preview, with what its hosts lead to',
    async run({ open }) {
      const store = await open()
      await insertSites(store, 'app_1', 'app_2')
      await store.write(async (tx) => {
        await tx.apps.update('app_1', { alias: 'shop' }, BORN)
        await tx.apps.advance(sampleRevision('app_1', 2, { tree: THIRD }), 1)
      })
      await makeLive(store, 'dep_1', FIRST, BORN)
      await makeLive(store, 'dep_2', THIRD, BORN + 1)
      await makeLive(store, 'dep_3', FIRST, BORN + 2)
      await makeLive(store, 'dep_4', SECOND, BORN + 3)
      const found = {
        app_id: 'app_1',
        account_id: ACCOUNT,
        archived: false,
        suspended: false,
        sign_in: false,
        deployment_id: 'dep_4',
        artifact: SECOND,
        earlier: [
          { artifact: FIRST, replaced_at: BORN + 3 },
          { artifact: THIRD, replaced_at: BORN + 2 },
        ],
        tree: THIRD,
        switching: false,
      }
      const { deployments } = store
      assert.deepEqual(await deployments.siteByAlias('shop'), found)
      assert.deepEqual(await deployments.siteByAlias('app_1'), found)
      assert.deepEqual(await deployments.siteByPreview(previewOf('app_1')), found)
      const nothing = { deployment_id: null, artifact: null, earlier: [], tree: null }
      const empty = { ...found, app_id: 'app_2', ...nothing }
      assert.deepEqual(await deployments.siteByAlias('app_2'), empty)
      assert.equal(await deployments.siteByAlias('Shop'), undefined)
      assert.equal(await deployments.siteByAlias(previewOf('app_1')), undefined)
      assert.equal(await deployments.siteByPreview('shop'), undefined)
    },
  },
  {
    name: 'sites: the id of an app leads to it, whoever takes it as an alias',
    async run({ open }) {
      const store = await open()
      await insertSites(store, 'app_1', 'app_2')
      await store.write((tx) => tx.apps.update('app_2', { alias: 'app_1' }, BORN))
      assert.equal((await store.deployments.siteByAlias('app_1'))?.app_id, 'app_1')
    },
  },
  {
    name: 'sites: at most five manifests of before are found, the latest first',
    async run({ open }) {
      const store = await open()
      await insertSites(store, 'app_1')
      const digests = Array.from({ length: 9 }, (_, index) => String(index + 1).repeat(64))
      for (const [index, digest] of digests.entries()) {
        await makeLive(store, `dep_${index}`, digest, BORN)
      }
      const { artifact, earlier } = (await store.deployments.siteByAlias('app_1')) ?? {}
      assert.equal(artifact, digests[8])
      const found = earlier?.map((one) => one.artifact)
      assert.deepEqual(found, digests.slice(3, 8).reverse())
      await store.write((tx) => tx.deployments.unpublish(OFF))
      const offline = await store.deployments.siteByAlias('app_1')
      assert.deepEqual([offline?.artifact, offline?.earlier], [null, []])
    },
  },
  {
    name: 'sites: nothing is found from before what retired it, once that was live',
    async run({ open }) {
      const store = await open()
      await insertSites(store, 'app_1')
      const found = async () =>
        (await store.deployments.siteByAlias('app_1'))?.earlier.map(({ artifact }) => artifact)
      await makeLive(store, 'dep_1', FIRST, BORN)
      await makeLive(store, 'dep_2', SECOND, BORN)
      await insertDeployments(store, sampleDeployment('dep_3', { retire_earlier: true }))
      assert.deepEqual(await found(), [FIRST], 'it is not live yet')
      await claimDeployment(store, 'a', BORN)
      await store.write((tx) => tx.deployments.fail('dep_3', 'a', sampleFailure()))
      assert.deepEqual(await found(), [FIRST], 'nor is it going to be')
      await makeLive(store, 'dep_4', THIRD, BORN, { retire_earlier: true })
      assert.deepEqual(await found(), [])
      await makeLive(store, 'dep_5', SECOND, BORN)
      assert.deepEqual(await found(), [THIRD], 'nor by what comes later')
      await makeLive(store, 'dep_6', FIRST, BORN)
      assert.deepEqual(await found(), [SECOND, THIRD], 'but what was live again since')
      await makeLive(store, 'dep_7', FIRST, BORN, { retire_earlier: true })
      assert.deepEqual(await found(), [], 'also by what serves the same')
    },
  },
  {
    name: 'sites: an app whose visitors must sign in is found as such, and each change is emitted',
    async run({ open }) {
      const store = await open()
      await insertSites(store, 'app_1')
      const told = new Set<string>()
      store.changes.listen((change) => told.add(JSON.stringify(change)))
      const site = JSON.stringify({ kind: 'site', id: 'app_1' })
      // A store that several processes share may emit a change more than once.
      for (const [change, isRequired] of [
        [{ enabled: true }, true],
        [{ enabled: false }, false],
        [{ signup: 'open' }, false],
      ] as const) {
        told.clear()
        await store.write((tx) => tx.signIn.change('app_1', change, BORN))
        assert.equal((await store.deployments.siteByAlias('app_1'))?.sign_in, isRequired)
        assert.deepEqual([...told], [site])
      }
    },
  },
  {
    name: 'sites: what is archived or suspended is found as such, its alias leading nowhere',
    async run({ open }) {
      const store = await open()
      await insertSites(store, 'app_1')
      await store.write(async (tx) => {
        await tx.accounts.insert(sampleAccount())
        await tx.apps.update('app_1', { alias: 'shop' }, BORN)
        await tx.accounts.setSuspended(ACCOUNT, true, BORN)
      })
      const { deployments } = store
      assert.equal((await deployments.siteByAlias('shop'))?.suspended, true)
      assert.equal((await deployments.siteStates(['app_1']))[0]?.suspended, true)
      await store.write(async (tx) => {
        await tx.accounts.setSuspended(ACCOUNT, false, BORN + 1)
        await tx.apps.archive('app_1', BORN + 1, BORN + 9)
      })
      assert.equal((await deployments.siteStates(['app_1']))[0]?.suspended, false)
      assert.equal(await deployments.siteByAlias('shop'), undefined)
      assert.equal((await deployments.siteByAlias('app_1'))?.archived, true)
      assert.equal((await deployments.siteByPreview(previewOf('app_1')))?.archived, true)
    },
  },
]

type Deed = (tx: PlatformTx, app: string) => Promise<unknown>

const SITE = { account_id: ACCOUNT, preview: 'a preview' }

/** What is done to an app that is called after it, and moves what its hosts lead to. */
const MOVES: Readonly<Record<string, Deed>> = {
  made: ({ apps }, id) => apps.insert(sampleApp(id)),
  opened: ({ deployments }, app_id) => deployments.openSite({ ...SITE, app_id }),
  advanced: ({ apps }, id) => apps.advance(sampleRevision(id, 2), 1),
  named: ({ apps }, id) => apps.update(id, { alias: 'shop' }, BORN),
  unnamed: ({ apps }, id) => apps.update(id, { alias: null }, BORN),
  archived: ({ apps }, id) => apps.archive(id, BORN, BORN + 9),
  restored: async ({ apps }, id) => {
    await apps.archive(id, BORN, BORN + 9)
    await apps.restore(id, BORN)
  },
  purged: async ({ apps }, id) => {
    await apps.archive(id, BORN, BORN + 9)
    await apps.purge(id, BORN + 9)
  },
}

/** The same of what moves nothing. */
const STAYS: Readonly<Record<string, Deed>> = {
  overtaken: ({ apps }, id) => apps.advance(sampleRevision(id, 9), 8),
  renamed: ({ apps }, id) => apps.update(id, { name: 'New' }, BORN),
  moved: ({ apps }, id) => apps.move(id, 'creating', 'ready', BORN),
  unarchived: ({ apps }, id) => apps.restore(id, BORN),
  unpurged: ({ apps }, id) => apps.purge(id, BORN),
  queued: async ({ deployments }, app_id) => {
    await deployments.insert(sampleDeployment('dep_q', { app_id }))
    await deployments.cancel('dep_q', sampleFailure({ status: 'canceled' }))
  },
  offline: ({ deployments }, app_id) => deployments.unpublish({ ...OFF, app_id }),
}

/** Two stores that will tell of nothing any more but what is changed from now on. */
async function openSettled(harness: PlatformHarness, apps: readonly string[]) {
  const racers = await openRacers(harness)
  const [store, other] = racers
  await store.write(async (tx) => {
    for (const id of apps) await tx.apps.insert(sampleApp(id, { alias: `of-${id}` }))
  })
  // A store hears of changes in their order: after that of another, it has heard of its own again.
  await other.write((tx) => tx.apps.insert(sampleApp('another')))
  return racers
}

const toldCases: readonly PlatformCase[] = [
  {
    name: 'sites: whatever moves what the hosts of an app lead to is told before it is answered',
    async run(harness) {
      const deeds = Object.entries(MOVES)
      const apps = Object.keys(MOVES).filter((app) => app !== 'made')
      const racers = await openSettled(harness, apps)
      const told = racers.map(sitesTold)
      for (const [app, deed] of deeds) {
        await racers[0].write((tx) => deed(tx, app))
        assert.ok(
          told.every((one) => one.has(app)),
          app,
        )
      }
    },
  },
  {
    name: 'sites: what is poised, a switch and going offline are told before they are answered',
    async run(harness) {
      const [store, other] = await openRacers(harness)
      await insertSites(store, 'app_1')
      // As above: then nothing of before is told any more.
      await other.write((tx) => tx.apps.insert(sampleApp('another')))
      await insertDeployments(store, sampleDeployment('dep_1'))
      await claimDeployment(store, 'a', BORN)
      await store.write((tx) => tx.deployments.built('dep_1', 'a', FIRST))
      const deeds: readonly Deed[] = [
        ({ deployments }) => deployments.prepareSwitch('dep_1', 'a'),
        ({ deployments }) => deployments.switch('dep_1', 'a', BORN),
        ({ deployments }) => deployments.unpublish(OFF),
      ]
      for (const [index, deed] of deeds.entries()) {
        const told = [store, other].map(sitesTold)
        assert.ok(await (index % 2 === 0 ? store : other).write((tx) => deed(tx, 'app_1')))
        assert.ok(
          told.every((one) => one.has('app_1')),
          `${index}`,
        )
      }
    },
  },
  {
    name: 'sites: what moves nothing is not told',
    async run(harness) {
      const [store] = await openSettled(harness, Object.keys(STAYS))
      const told = sitesTold(store)
      for (const [app, deed] of Object.entries(STAYS)) await store.write((tx) => deed(tx, app))
      const failing = store.write(async (tx) => {
        for (const [app, deed] of Object.entries(MOVES)) await deed(tx, app)
        throw new Error('no')
      })
      await assert.rejects(failing)
      assert.deepEqual([...told], [])
    },
  },
]

/** Sites: what the hosts of apps lead to, and who hears that they lead elsewhere. */
export const siteLookupCases: readonly PlatformCase[] = [...lookupCases, ...toldCases]
