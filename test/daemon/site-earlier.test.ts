import t from 'tap'
import type { LoadSite } from '../../daemon/hosting/load-site.ts'
import { createSiteLoader } from '../../daemon/hosting/load-site.ts'
import type { Site } from '../../daemon/hosting/site.ts'
import { createSites } from '../../daemon/hosting/sites.ts'
import { kernelError } from '../../lib/errors.ts'
import { DAY } from '../../lib/time.ts'
import { createClock } from '../support/clock.ts'
import { deployWorld, publish, rollBack, startDeployer, untilTold } from '../support/deploys.ts'
import { createApp } from '../support/edits.ts'
import type { World } from '../support/world.ts'

const OLD = 'assets/app-BfX3k9aQ.js'
const SHARED = 'assets/shared-QW3XJ4K7.js'
const NEW = 'assets/app-Q9ak3XfB.js'
const NEWER = 'assets/app-K7J4X3WQ.js'

const hostOf = (app: string): string => `${app}.apps.example.net`

type Operation = Readonly<Record<string, string>>
const write = (path: string): Operation => ({ op: 'write', path, content: `// ${path}` })
const remove = (path: string): Operation => ({ op: 'delete', path })

async function edit(world: World, app: string, operations: readonly Operation[]): Promise<void> {
  const { body } = await world.request('GET', `/v1/apps/${app}`)
  const given = { operations, base_revision: body['current_revision'] }
  const { status } = await world.request('POST', `/v1/apps/${app}/edits`, { body: given })
  if (status !== 201) throw new Error(`not edited: ${status}`)
}

async function publishLive(world: World, app: string, body: object = {}): Promise<string> {
  const { body: live } = await publish(world, app, { ...body }, '?wait=25')
  if (live.status !== 'live') throw new Error(`not live: ${JSON.stringify(live)}`)
  await untilTold(world, live.id)
  return live.id
}

/** An app that had three releases, each with a name of its own for its script. */
async function openApp(test: Parameters<typeof deployWorld>[0]) {
  const world = await deployWorld(test)
  startDeployer(test, world)
  const { id: app } = await createApp(world)
  await edit(world, app, [write(OLD), write(SHARED), write('old.html')])
  const first = await publishLive(world, app)
  await edit(world, app, [remove(OLD), remove('old.html'), write(NEW)])
  const second = await publishLive(world, app)
  await edit(world, app, [remove(NEW), write(NEWER)])
  const third = await publishLive(world, app)
  const {
    store,
    plugins: { appBytes },
    appsHosting: place,
    clock,
  } = world.platform
  if (appBytes === undefined || place === undefined) throw new Error('the world serves nothing')
  const reads: string[] = []
  const state: { fault: Error | undefined } = { fault: undefined }
  const bytes: Pick<typeof appBytes, 'get'> = {
    async get(appId, sha256) {
      reads.push(sha256)
      if (reads.length > 1 && state.fault !== undefined) throw state.fault
      return appBytes.get(appId, sha256)
    },
  }
  const load = createSiteLoader({ store, bytes, hosting: place })
  return { world, app, ids: [first, second, third] as const, load, clock, reads, state }
}

/** Paths of earlier releases that are served, the latest release first. */
async function oldPaths(load: LoadSite, app: string, now: number): Promise<readonly string[]> {
  const loaded = await load(hostOf(app), now)
  const site = (await loaded?.serves()) as Site
  return site.earlier.flatMap(({ files }) => [...files.keys()])
}

await t.test('of earlier releases only what may still be asked for is kept', async (t) => {
  const { app, load, clock, reads } = await openApp(t)
  t.same(await oldPaths(load, app, clock.now()), [NEW, OLD])
  t.equal(reads.length, 3)
})

await t.test('an earlier release is served for a day after it was replaced', async (t) => {
  const { world, app, ids, load, reads } = await openApp(t)
  const { deployments } = world.platform.store
  const [first, second] = await Promise.all(
    ids.map(async (id) => (await deployments.get(app, id))?.ended_at ?? 0),
  )
  const ends = [first ?? 0, second ?? 0].map((ended) => ended + DAY)
  const [end = 0, last = 0] = ends
  t.ok(end < last)
  t.match(await load(hostOf(app), end - 1), { until: end })
  t.match(await load(hostOf(app), end), { until: last })
  t.match(await load(hostOf(app), last), { until: Infinity })
  t.same(await oldPaths(load, app, end - 1), [NEW, OLD])
  t.same(await oldPaths(load, app, end), [NEW])
  reads.length = 0
  t.same(await oldPaths(load, app, last), [])
  t.equal(reads.length, 1, 'what is not served is not read')

  await t.test('also where it is kept in memory', async (t) => {
    const clock = createClock(end)
    const sites = createSites({ changes: world.platform.store.changes, clock, load })
    const found = async () => ((await sites.find(hostOf(app))) as Site).earlier.length
    t.equal(await found(), 1)
    await clock.advance(last - 1 - end)
    t.equal((sites.find(hostOf(app)) as Site).earlier.length, 1, 'it is known')
    await clock.advance(1)
    t.equal(await found(), 0)
    t.equal((sites.find(hostOf(app)) as Site).earlier.length, 0, 'and is known again')
  })
})

await t.test('whoever publishes can end that at once', async (t) => {
  const { world, app, ids, load, clock } = await openApp(t)
  const found = () => oldPaths(load, app, clock.now())
  t.match(await publish(world, app, { retire_earlier: false }), { body: { no_change: true } })
  t.same(await found(), [NEW, OLD])
  const dry = await publish(world, app, { retire_earlier: true, dry_run: true })
  t.match(dry.body, { id: null, retire_earlier: true, no_change: false })
  t.same(await found(), [NEW, OLD])

  const retiring = await publish(world, app, { retire_earlier: true }, '?wait=25')
  t.match(retiring, { body: { status: 'live', retire_earlier: true, no_change: false } })
  await untilTold(world, retiring.body.id)
  t.same(await found(), [], 'with the files that are live already')
  const again = await publish(world, app, { retire_earlier: true })
  t.match(again, { status: 200, body: { id: retiring.body.id, no_change: true } })
  t.match(await publish(world, app), { body: { no_change: true } })

  await edit(world, app, [remove(NEWER)])
  await publishLive(world, app)
  t.same(await found(), [NEWER], 'nothing comes back by a later release')
  const back = await rollBack(world, app, { deployment_id: ids[0], retire_earlier: true })
  t.match(back.body, { status: 'live', kind: 'rollback', retire_earlier: true })
  t.same(await found(), [])
  t.match((await publish(world, app, { retire_earlier: 'yes' })).status, 400)
})

await t.test('what could not be read of an earlier release is read again', async (t) => {
  const { app, load, clock, reads, state } = await openApp(t)
  state.fault = kernelError('unavailable', { internal: 'the disk is busy' })
  t.same(await oldPaths(load, app, clock.now()), [])
  state.fault = undefined
  t.same(await oldPaths(load, app, clock.now()), [NEW, OLD])
  t.equal(reads.length, 6)
})
