import t from 'tap'
import { createSiteLoader } from '../../daemon/hosting/load-site.ts'
import type { Site } from '../../daemon/hosting/site.ts'
import { createSites } from '../../daemon/hosting/sites.ts'
import { createHostedDeployer } from '../../plugins/deploy/hosted.ts'
import { beginDeployment } from '../platform/deployment-samples.ts'
import { change, deployWorld, publish, publishedApp, startDeployer } from '../support/deploys.ts'
import { createApp } from '../support/edits.ts'
import type { World } from '../support/world.ts'

const DOMAIN = 'apps.example.net'

/** The sites of a world, from its own store. */
function sitesOf({ platform }: World) {
  const {
    store,
    plugins: { appBytes: bytes },
    appsHosting: place,
    clock,
  } = platform
  if (bytes === undefined || place === undefined) throw new Error('the world serves nothing')
  const load = createSiteLoader({ store, bytes, hosting: place })
  return createSites({ changes: store.changes, clock, load })
}

const pageOf = (site: unknown): string | undefined =>
  (site as Site).manifest.files.get('index.html')?.sha256

await t.test('an app is served under its alias, its id and its preview', async (t) => {
  const world = await deployWorld(t, { deployer: createHostedDeployer() })
  startDeployer(t, world)
  const sites = sitesOf(world)
  const { id } = await createApp(world, { alias: 'shop' })
  const { body } = await world.request('GET', `/v1/apps/${id}`)
  const preview = new URL(String(body['preview_url'])).hostname
  t.equal(await sites.find(`shop.${DOMAIN}`), 'unpublished')
  t.match(await sites.find(preview), { kind: 'preview', deployment_id: null, app_id: id })

  await change(world, id, '<p>Tea and cake.</p>\n'.repeat(200))
  const live = await publish(world, id, {}, '?wait=25')
  t.equal(live.body.status, 'live')
  const served = (await sites.find(`shop.${DOMAIN}`)) as Site
  t.match(served, { kind: 'published', deployment_id: live.body.id, app_id: id, earlier: [] })
  const page = served.manifest.files.get('index.html')
  t.same(Object.keys(page?.encoded ?? {}), ['br', 'gzip'])
  t.same(await sites.find(`${id}.${DOMAIN}`), served)

  const draft = await change(world, id, '<p>Not for everybody yet</p>')
  t.equal(draft, 3)
  t.equal(pageOf(await sites.find(`shop.${DOMAIN}`)), page?.sha256)
  const seen = (await sites.find(preview)) as Site
  t.not(pageOf(seen), page?.sha256, 'a preview follows each revision')
  t.ok([...seen.manifest.files.values()].every(({ immutable }) => !immutable))

  await t.test('and nothing else is', async (t) => {
    const label = preview.split('.')[0]?.replace('preview--', '') ?? ''
    const hosts = [
      DOMAIN,
      `nobody.${DOMAIN}`,
      `a.shop.${DOMAIN}`,
      `${label}.${DOMAIN}`,
      `preview--shop.${DOMAIN}`,
      `preview--${id}.${DOMAIN}`,
      'shop.example.com',
      'shop',
      `.${DOMAIN}`,
    ]
    for (const host of hosts) t.equal(await sites.find(host), undefined, host)
  })
})

await t.test('what is changed is served otherwise from its answer on', async (t) => {
  const world = await deployWorld(t)
  startDeployer(t, world)
  const sites = sitesOf(world)
  const { id, releases } = await publishedApp(world, '<p>One</p>', '<p>Two</p>')
  const own = `${id}.${DOMAIN}`
  const shop = `shop.${DOMAIN}`
  const [, second] = releases
  const live = (await sites.find(own)) as Site
  t.equal(live.deployment_id, second?.id)

  t.equal(await sites.find(shop), undefined)
  await world.request('PATCH', `/v1/apps/${id}`, { body: { alias: 'shop' } })
  t.match(await sites.find(shop), { deployment_id: second?.id })
  await world.request('POST', `/v1/apps/${id}/deploy/rollback?wait=25`, { body: {} })
  t.not(pageOf(await sites.find(shop)), pageOf(live))
  await world.request('POST', `/v1/apps/${id}/deploy/unpublish`, { body: {} })
  t.equal(await sites.find(shop), 'unpublished')
  await world.request('PATCH', `/v1/apps/${id}`, { body: { alias: null } })
  t.equal(await sites.find(shop), undefined)
  await publish(world, id, {}, '?wait=25')
  t.match(await sites.find(own), { kind: 'published' })
  const { store, clock } = world.platform
  const suspend = (suspended: boolean) =>
    store.write((tx) => tx.accounts.setSuspended(world.account.id, suspended, clock.now()))
  await suspend(true)
  t.equal(await sites.find(own), 'suspended')
  await suspend(false)
  t.match(await sites.find(own), { kind: 'published' })
  await world.request('DELETE', `/v1/apps/${id}`)
  t.equal(await sites.find(own), 'archived')
  await world.request('POST', `/v1/apps/${id}/restore`, { body: {} })
  t.equal(await sites.find(own), 'unpublished')
})

await t.test('while a release is about to go live, its manifests are not read again', async (t) => {
  const world = await deployWorld(t)
  const worker = startDeployer(t, world)
  const { id } = await publishedApp(world, '<p>One</p>', '<p>Two</p>')
  await worker.stop()
  const {
    store,
    plugins: { appBytes },
    appsHosting: place,
    clock,
  } = world.platform
  if (appBytes === undefined || place === undefined) throw new Error('the world serves nothing')
  let reads = 0
  const bytes: Pick<typeof appBytes, 'get'> = {
    get(appId, sha256) {
      reads += 1
      return appBytes.get(appId, sha256)
    },
  }
  const load = createSiteLoader({ store, bytes, hosting: place })
  const host = `${id}.${DOMAIN}`
  const before = await load(host, clock.now())
  t.match(before, { isSwitching: false })
  const served = await before?.serves()
  t.match(served, { kind: 'published' })
  t.equal(reads, 2)

  const { body } = await publish(world, id, { revision: 2 })
  const now = clock.now()
  const claim = 'of a test'
  const times = { now, lease_until: now + 60_000, deadline_at: now + 60_000 }
  await beginDeployment(store, { claim, ...times })
  const { artifact = null } = (await store.deployments.live(id)) ?? {}
  await store.write((tx) => tx.deployments.built(body.id, claim, artifact ?? ''))
  await store.write((tx) => tx.deployments.prepareSwitch(body.id, claim))
  const switching = await load(host, clock.now())
  t.match(switching, { isSwitching: true })
  t.equal(switching?.serves(), served)
  t.equal(reads, 2)
  const { body: app } = await world.request('GET', `/v1/apps/${id}`)
  const preview = new URL(String(app['preview_url'])).hostname
  const seen = await load(preview, clock.now())
  t.match(seen, { isSwitching: false }, 'a preview is not of a release')
})

await t.test('a domain of its own leads to an app once it is verified', async (t) => {
  const world = await deployWorld(t)
  startDeployer(t, world)
  const sites = sitesOf(world)
  const { id, releases } = await publishedApp(world, '<p>One</p>')
  const { store, clock, newId } = world.platform
  const now = clock.now()
  const domain = {
    id: newId(),
    app_id: id,
    account_id: world.account.id,
    hostname: 'www.shop.example',
    token: 'a token',
    primary: false,
    created_by: { type: 'user', id: 'usr_1' },
    created_at: now,
    status: 'verified',
    owned: true,
    routed: true,
    error: null,
    failures: 0,
    waiting_since: now,
    checked_at: now,
    verified_at: now,
    next_check_at: now,
  } as const
  t.equal(await sites.find('www.shop.example'), undefined)
  await store.write((tx) => tx.domains.insert(domain))
  const hosts = ['www.shop.example', `${id}.${DOMAIN}`]
  const found = await Promise.all(hosts.map(async (host) => sites.find(host)))
  t.match(found[0], { deployment_id: releases[0]?.id })
  t.equal(found[1], found[0], 'all hosts of an app share what it serves')
  await store.write((tx) => tx.domains.remove(id, domain.id))
  t.equal(await sites.find('www.shop.example'), undefined)
})

await t.test(
  'an earlier release that is gone is passed over; what is live must be there',
  async (t) => {
    const world = await deployWorld(t)
    startDeployer(t, world)
    const { id, releases } = await publishedApp(world, '<p>One</p>', '<p>Two</p>')
    const {
      plugins: { appBytes },
      clock,
    } = world.platform
    const digests = releases.map((one) => String(one['artifact_digest']))
    await appBytes?.remove(id, digests.slice(0, 1), clock.now() + 1)
    const site = (await sitesOf(world).find(`${id}.${DOMAIN}`)) as Site
    t.match([site.deployment_id, site.earlier], [releases[1]?.id, []])
    await appBytes?.remove(id, digests, clock.now() + 1)
    await t.rejects(Promise.resolve(sitesOf(world).find(`${id}.${DOMAIN}`)), /is gone/)
  },
)
