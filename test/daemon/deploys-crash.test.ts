import t from 'tap'
import { createDeployHandler } from '../../daemon/families/deploy/run.ts'
import { createRunner, jobTimes } from '../../daemon/jobs/runner.ts'
import { activate, build, goLive, prepareSwitch } from '../../daemon/families/deploy/steps.ts'
import { kernelError } from '../../lib/errors.ts'
import { MINUTE, SECOND } from '../../lib/time.ts'
import type { DeploymentRecord } from '../../plugins/platform/contract/deployments.ts'
import { beginDeployment } from '../platform/deployment-samples.ts'
import { createApp } from '../support/edits.ts'
import {
  change,
  createHeldDeployer,
  deployWorld,
  publish,
  publishedApp,
  rollBack,
  startDeployer,
  toldOf,
  untilTold,
} from '../support/deploys.ts'
import type { World } from '../support/world.ts'

const CLAIM = 'of one who dies'
const STEP_TOOLS = {
  signal: new AbortController().signal,
  log: () => undefined,
  progress: () => undefined,
}

/** Claims as a worker would that is gone at once: its lease has ended already. */
async function claimAndDie({ platform: { store, clock } }: World): Promise<DeploymentRecord> {
  const now = clock.now()
  const asked = { claim: CLAIM, now, lease_until: now, deadline_at: now + MINUTE }
  const claimed = await beginDeployment(store, asked)
  if (claimed === undefined) throw new Error('there was nothing to claim')
  return claimed
}

/** What whoever dies had done by then, step by step. */
const DEATHS: Readonly<Record<string, (world: World) => Promise<void>>> = {
  'before it began': async () => undefined,
  'once it had claimed': async (world) => void (await claimAndDie(world)),
  'once the release was made': async (world) => {
    const claimed = { job: { claim: CLAIM }, subject: await claimAndDie(world) }
    await build(world.platform, claimed, STEP_TOOLS)
  },
  'once all of it was found': async (world) => {
    const claimed = { job: { claim: CLAIM }, subject: await claimAndDie(world) }
    const artifact = await build(world.platform, claimed, STEP_TOOLS)
    await activate(world.platform, claimed, artifact, STEP_TOOLS)
  },
  'once all were about to be led to it': async (world) => {
    const claimed = { job: { claim: CLAIM }, subject: await claimAndDie(world) }
    await build(world.platform, claimed, STEP_TOOLS)
    await prepareSwitch(world.platform, claimed)
  },
  'once it was live and not told of': async (world) => {
    const claimed = { job: { claim: CLAIM }, subject: await claimAndDie(world) }
    await build(world.platform, claimed, STEP_TOOLS)
    await prepareSwitch(world.platform, claimed)
    await goLive(world.platform, claimed)
  },
}

const read = async (world: World, app: string, id: string) =>
  (await world.request('GET', `/v1/apps/${app}/deployments/${id}`)).body

for (const [when, die] of Object.entries(DEATHS)) {
  await t.test(
    `a worker that dies ${when} leaves it to another, and one event comes`,
    async (t) => {
      const world = await deployWorld(t)
      const { id: app } = await createApp(world)
      const { body } = await publish(world, app)
      await die(world)
      const [one, other] = [startDeployer(t, world), startDeployer(t, world)]
      await untilTold(world, body.id)
      await Promise.all([one.stop(), other.stop()])
      t.match(await read(world, app, body.id), { status: 'live', release: 1 })
      t.same(await toldOf(world, app), [`app.deployed ${body.id}`])
      t.equal(await world.platform.store.jobs.isClaimable('deployment', 2 ** 50), false)
    },
  )

  await t.test(
    `a rollback whose worker dies ${when} is finished, and told of as such`,
    async (t) => {
      const world = await deployWorld(t)
      const first = startDeployer(t, world)
      const { id: app, releases } = await publishedApp(world, '<p>One</p>', '<p>Two</p>')
      await first.stop()
      const { body } = await rollBack(world, app, {}, '')
      await die(world)
      const next = startDeployer(t, world)
      await untilTold(world, body.id)
      await next.stop()
      t.match(await read(world, app, body.id), {
        status: 'live',
        artifact_digest: releases[0]?.['artifact_digest'],
        previous_deployment_id: releases[1]?.id,
      })
      const told = (await toldOf(world, app)).filter((one) => one.endsWith(body.id))
      t.same(told, [`app.rolled_back ${body.id}`])
    },
  )
}

await t.test('whoever was given up on changes nothing any more', async (t) => {
  const world = await deployWorld(t)
  const { id: app } = await createApp(world)
  const { body } = await publish(world, app)
  const claimed = { job: { claim: CLAIM }, subject: await claimAndDie(world) }
  const worker = startDeployer(t, world)
  await untilTold(world, body.id)
  await worker.stop()
  await t.rejects(build(world.platform, claimed, STEP_TOOLS), { name: 'ClaimLost' })
  await t.rejects(prepareSwitch(world.platform, claimed), { name: 'ClaimLost' })
  await t.rejects(goLive(world.platform, claimed), { name: 'ClaimLost' })
  t.same(await toldOf(world, app), [`app.deployed ${body.id}`])
})

await t.test('what is live and untold of is told of before it is taken offline', async (t) => {
  const world = await deployWorld(t)
  const { id: app } = await createApp(world)
  const { body } = await publish(world, app)
  await DEATHS['once it was live and not told of']?.(world)
  const path = `/v1/apps/${app}/deploy/unpublish`
  await Promise.all([1, 2].map(() => world.request('POST', path, { body: {} })))
  const told = await toldOf(world, app)
  t.same(told.slice(0, 1), [`app.deployed ${body.id}`])
  t.match(told.slice(1), [/^app\.unpublished /])
  const worker = startDeployer(t, world)
  await worker.stop()
  t.same(await toldOf(world, app), told)
})

await t.test('what is live and untold of is told of before another takes its place', async (t) => {
  const world = await deployWorld(t)
  const { id: app } = await createApp(world)
  const first = await publish(world, app)
  await DEATHS['once it was live and not told of']?.(world)
  await change(world, app, '<p>Two</p>')
  const second = await publish(world, app)
  // The older one, which is to be told of, is begun first; whoever does so dies as well.
  t.equal((await claimAndDie(world)).id, first.body.id)
  const { store, clock } = world.platform
  const now = clock.now()
  const asked = { claim: CLAIM, now: now - MINUTE, lease_until: now, deadline_at: now + MINUTE }
  const queued = await beginDeployment(store, asked)
  t.equal(queued?.id, second.body.id)
  if (queued !== undefined) {
    const claimed = { job: { claim: CLAIM }, subject: queued }
    await build(world.platform, claimed, STEP_TOOLS)
    await prepareSwitch(world.platform, claimed)
    await goLive(world.platform, claimed)
  }
  const worker = startDeployer(t, world)
  await untilTold(world, second.body.id)
  await worker.stop()
  t.same(await toldOf(world, app), [
    `app.deployed ${first.body.id}`,
    `app.deployed ${second.body.id}`,
  ])
})

await t.test('what is archived in the last moment does not go live', async (t) => {
  const world = await deployWorld(t)
  const { id: app } = await createApp(world)
  const { body } = await publish(world, app)
  const claimed = { job: { claim: CLAIM }, subject: await claimAndDie(world) }
  await build(world.platform, claimed, STEP_TOOLS)
  await prepareSwitch(world.platform, claimed)
  await world.request('DELETE', `/v1/apps/${app}`)
  await t.rejects(goLive(world.platform, claimed), { name: 'NotWanted', message: 'canceled' })
  startDeployer(t, world)
  await untilTold(world, body.id)
  t.match(await read(world, app, body.id), { status: 'canceled', error: { code: 'canceled' } })
  t.same(await toldOf(world, app), [`app.deploy_failed ${body.id}`])
})

await t.test('what kills its workers again and again is given up', async (t) => {
  const world = await deployWorld(t)
  const { id: app } = await createApp(world)
  const { body } = await publish(world, app)
  for (let deaths = 0; deaths < 3; deaths++) await claimAndDie(world)
  startDeployer(t, world)
  await untilTold(world, body.id)
  t.match(await read(world, app, body.id), { status: 'failed', error: { code: 'worker_lost' } })
})

await t.test('what is not done in time fails, and what is live stays', async (t) => {
  const held = createHeldDeployer()
  const world = await deployWorld(t, { deployer: held.deployer })
  const { id: app } = await createApp(world)
  const { body } = await publish(world, app)
  startDeployer(t, world, { deadline: SECOND / 2 })
  await untilTold(world, body.id)
  t.match(await read(world, app, body.id), {
    status: 'failed',
    error: { code: 'timed_out', class: 'transient', step: 'building', retryable: true },
  })
  t.same(held.aborted, [body.id])
})

await t.test('a worker that is stopped hands back what it has begun', async (t) => {
  const held = createHeldDeployer()
  const world = await deployWorld(t, { deployer: held.deployer })
  const { id: app } = await createApp(world)
  const { body } = await publish(world, app)
  const first = startDeployer(t, world)
  await held.untilBegun()
  await first.stop()
  const { store, clock } = world.platform
  t.equal(await store.jobs.isClaimable('deployment', clock.now()), true, 'at once')
  startDeployer(t, world)
  await held.untilBegun(2)
  held.release()
  held.release()
  await untilTold(world, body.id)
  const record = await store.deployments.get(app, body.id)
  t.match(record, { status: 'live' })
})

/** A worker by hand, whose builds end in this. */
function runnerOf({ platform }: World, fault: Error, warned: string[]) {
  const deployer = { ...createHeldDeployer().deployer, build: () => Promise.reject(fault) }
  const warn = (what: string): void => void warned.push(what)
  const given = { ...platform, plugins: { ...platform.plugins, deployer } }
  const times = { ...jobTimes('deployment'), lease: 0 }
  return createRunner(given, createDeployHandler(given, warn), times, warn)
}

await t.test(
  'a defect is warned of; while it cannot be known what holds, nothing is ended',
  async (t) => {
    const world = await deployWorld(t)
    const { id: app } = await createApp(world)
    const { signal } = new AbortController()
    const warned: string[] = []
    const first = await publish(world, app)
    t.equal(await runnerOf(world, new Error('a defect'), warned).runNext(signal), true)
    t.same(warned, ['a deployment failed'])
    t.match(await read(world, app, first.body.id), { error: { code: 'internal_error' } })

    const { body } = await publish(world, app)
    const unknown = runnerOf(world, kernelError('unavailable'), warned)
    await t.rejects(unknown.runNext(signal), { code: 'unavailable' })
    t.match(await read(world, app, body.id), { status: 'building', error: null })
    startDeployer(t, world)
    await untilTold(world, body.id)
    t.match(await read(world, app, body.id), { status: 'live' })
  },
)
