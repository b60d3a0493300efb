import t from 'tap'
import { createSiteLoader } from '../../daemon/hosting/load-site.ts'
import type { Site } from '../../daemon/hosting/site.ts'
import { createSites } from '../../daemon/hosting/sites.ts'
import { createMemoryBytes } from '../../plugins/apps/memory.ts'
import { plainManifest, printManifest } from '../../plugins/deploy/contract.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import {
  claimDeployment,
  insertDeployments,
  insertSites,
  makeLive,
  sampleDeployment,
} from '../platform/deployment-samples.ts'
import { ACCOUNT, BORN, sampleAccount } from '../../plugins/store/conformance/samples.ts'
import { openPlatformStore } from '../../plugins/platform/open.ts'
import { startPostgres } from '../support/postgres.ts'

const APP = 'abcdefgh2345'
const DOMAIN = 'apps.example.net'
const OWN = `${APP}.${DOMAIN}`
const clock = { now: Date.now, steady: () => performance.now() }
const server = await startPostgres()
t.teardown(() => server.stop())

await t.test('what one process makes live every other one serves from its answer on', async (t) => {
  const url = await server.createDatabase()
  const stores: PlatformStore[] = []
  for (let count = 0; count < 3; count++) {
    const { store } = await openPlatformStore(url)
    t.teardown(() => store.close())
    stores.push(store)
  }
  const [first] = stores as [PlatformStore, ...PlatformStore[]]
  const bytes = createMemoryBytes({ clock: { now: Date.now } })
  const sites = stores.map((store) => {
    const load = createSiteLoader({ store, bytes, hosting: { domain: DOMAIN } })
    return createSites({ changes: store.changes, clock, load })
  })
  const found = (host: string) => Promise.all(sites.map(async (one) => one.find(host)))
  const manifest = printManifest(plainManifest([], new Map()))
  const { sha256 } = await bytes.put(APP, Buffer.from(manifest))

  t.same(await found(OWN), [undefined, undefined, undefined])
  await first.write((tx) => tx.accounts.insert(sampleAccount()))
  await insertSites(first, APP)
  t.same(await found(OWN), ['unpublished', 'unpublished', 'unpublished'])
  for (let turn = 0; turn < 20; turn++) {
    const id = `dep_${String(turn).padStart(2, '0')}`
    await makeLive(stores[turn % 3] ?? first, id, sha256, BORN, { app_id: APP })
    const serving = (await found(OWN)) as readonly Site[]
    t.same(
      serving.map(({ deployment_id }) => deployment_id),
      [id, id, id],
    )
  }

  await t.test('at once, once it is poised: also who was not told of it yet', async (t) => {
    for (const [turn, store] of stores.entries()) {
      const [id, claim] = [`dep_2${turn}`, `claim ${turn}`]
      await insertDeployments(store, sampleDeployment(id, { app_id: APP }))
      await claimDeployment(store, claim, BORN)
      await store.write((tx) => tx.deployments.built(id, claim, sha256))
      await store.write((tx) => tx.deployments.prepareSwitch(id, claim))
      await found(OWN)
      const asked: ReturnType<typeof found>[] = []
      await store.write(async (tx) => {
        await tx.deployments.switch(id, claim, BORN)
        tx.afterCommit(() => asked.push(found(OWN)))
      })
      const [answers = []] = await Promise.all(asked)
      t.match(answers, [{ deployment_id: id }, { deployment_id: id }, { deployment_id: id }])
      await store.write((tx) => tx.deployments.announce(id))
    }
  })

  await first.write((tx) => tx.apps.update(APP, { alias: 'shop' }, BORN))
  t.match(await found(`shop.${DOMAIN}`), [{ app_id: APP }, { app_id: APP }, { app_id: APP }])
  await stores[1]?.write((tx) => tx.accounts.setSuspended(ACCOUNT, true, BORN))
  t.same(await found(OWN), ['suspended', 'suspended', 'suspended'])
  await stores[2]?.write((tx) => tx.apps.archive(APP, BORN, BORN + 1))
  t.same(await found(OWN), ['archived', 'archived', 'archived'])
})
