import t from 'tap'
import { collectGarbage } from '../../daemon/families/apps/garbage-collection.ts'
import { RELEASES_KEPT } from '../../daemon/trees/releases.ts'
import { HOUR, MINUTE } from '../../lib/time.ts'
import { printManifest, readManifest } from '../../plugins/deploy/contract.ts'
import { createHostedDeployer } from '../../plugins/deploy/hosted.ts'
import type { Deployment } from '../support/deploys.ts'
import { deployWorld, publish, publishedApp, rollBack, startDeployer } from '../support/deploys.ts'
import { createApp } from '../support/edits.ts'
import type { World } from '../support/world.ts'

const PAGE = '<p>Tea and cake, every day.</p>\n'.repeat(200)

function bytesOf({
  platform: {
    plugins: { appBytes },
  },
}: World) {
  if (appBytes === undefined) throw new Error('the world keeps no bytes')
  return appBytes
}

const digestOf = (release: Deployment | undefined) => String(release?.['artifact_digest'])

/** The digests of a release's manifest and of the compressed forms that it alone names. */
async function ownDigests(world: World, app: string, artifact: string): Promise<readonly string[]> {
  const text = Buffer.from((await bytesOf(world).get(app, artifact)) ?? []).toString()
  const forms = [...readManifest(text).files.values()].flatMap(({ encoded }) =>
    Object.values(encoded).map(({ sha256 }) => sha256),
  )
  return [artifact, ...forms]
}

async function keptOf(world: World, app: string, digests: readonly string[]): Promise<number> {
  const kept = await Promise.all(digests.map((sha256) => bytesOf(world).get(app, sha256)))
  return kept.filter((one) => one !== undefined).length
}

function collect(world: World): ReturnType<typeof collectGarbage> {
  const { store, clock } = world.platform
  return collectGarbage(store, bytesOf(world), clock.now() + 2 * HOUR)
}

/** Another release of an app, live and told of. */
async function makeLive(
  { platform, account }: World,
  app: string,
  artifact: string,
): Promise<void> {
  const { store, clock, newId } = platform
  const now = clock.now()
  const nothing = { edit_id: null, previous_deployment_id: null, restored_from: null, error: null }
  const never = { started_at: null, live_at: null, ended_at: null }
  await store.write(async ({ deployments, jobs }) => {
    const made = await deployments.insert({
      ...nothing,
      ...never,
      id: newId(),
      app_id: app,
      account_id: account.id,
      kind: 'publish',
      status: 'queued',
      revision: 1,
      artifact: null,
      message: null,
      reason: null,
      step: null,
      done: 0,
      total: null,
      created_by: { type: 'operator', id: null },
      created_at: now,
      cancel_at: null,
      announced: false,
      retire_earlier: false,
    })
    const claim = newId()
    const asked = { claim, now, lease_until: now + MINUTE, deadline_at: now + MINUTE }
    const job = await jobs.claim('deployment', asked)
    if (job !== undefined) await deployments.begin(job, now)
    await deployments.built(made?.id ?? '', claim, artifact)
    await deployments.prepareSwitch(made?.id ?? '', claim)
    await deployments.switch(made?.id ?? '', claim, now)
    await deployments.announce(made?.id ?? '')
  })
}

await t.test(
  'everything that a kept release serves is named, until 20 came after it',
  async (t) => {
    const world = await deployWorld(t, { deployer: createHostedDeployer() })
    const worker = startDeployer(t, world)
    const { id: app, releases } = await publishedApp(
      world,
      `<p>One</p>${PAGE}`,
      `<p>Two</p>${PAGE}`,
    )
    await worker.stop()
    const [first, second] = releases
    const own = await ownDigests(world, app, digestOf(first))
    t.equal(own.length, 3, 'a manifest and two forms of a page')

    t.same(await collect(world), { apps: 0, bytes: 0 })
    t.equal(await keptOf(world, app, own), own.length)

    for (let newer = 1; newer < RELEASES_KEPT - 1; newer++) {
      const manifest = { files: new Map(), spa: newer % 2 === 0 }
      const text = printManifest(manifest).replace('}', `,"number":${newer}}`)
      await makeLive(world, app, (await bytesOf(world).put(app, Buffer.from(text))).sha256)
    }
    const actionsOf = async (id: string | undefined) => {
      const path = `/v1/apps/${app}/deployments/${String(id)}`
      return (await world.request('GET', path)).body['available_actions']
    }
    t.same(await actionsOf(first?.id), ['rollback'], 'the last of 20')
    t.same(await collect(world), { apps: 0, bytes: 0 })

    await makeLive(world, app, digestOf(second))
    t.same(await actionsOf(first?.id), [])
    t.match(await rollBack(world, app, { deployment_id: first?.id }), {
      status: 409,
      body: { error: { code: 'release_expired' } },
    })
    t.same(await collect(world), { apps: 0, bytes: own.length })
    t.equal(await keptOf(world, app, own), 0)
    const served = await ownDigests(world, app, digestOf(second))
    t.equal(await keptOf(world, app, served), served.length, 'what is live stays whole')
  },
)

await t.test('what was made of files is used again, unless something failed since', async (t) => {
  const hosted = createHostedDeployer()
  const given: number[] = []
  let fault: Error | undefined
  const deployer = {
    ...hosted,
    build(...[task, tools]: Parameters<typeof hosted.build>) {
      given.push(task.forms.size)
      return fault === undefined ? hosted.build(task, tools) : Promise.reject(fault)
    },
  }
  const world = await deployWorld(t, { deployer })
  startDeployer(t, world)
  const { id: app } = await publishedApp(world, `<p>One</p>${PAGE}`, `<p>Two</p>${PAGE}`)
  t.same(given, [0, 1])
  fault = new Error('the disk is gone')
  const failed = await publish(world, app, { revision: 1 }, '?wait=25')
  t.equal(failed.body.status, 'failed')
  fault = undefined
  const anew = await publish(world, app, { revision: 2 }, '?wait=25')
  t.equal(anew.body.status, 'live')
  const next = await publish(world, app, { revision: 3 }, '?wait=25')
  t.equal(next.body.status, 'live')
  t.same(given, [0, 1, 1, 0, 1])
})

await t.test('a list that is too large to be served fails, and is not kept', async (t) => {
  const hosted = createHostedDeployer()
  const sha256 = 'a'.repeat(64)
  const deployer = {
    ...hosted,
    async build() {
      const files = Array.from({ length: 10_000 }, (_, index) => {
        const path = `${'long/'.repeat(100)}${index}`
        const file = { path, sha256, size: 1, type: 'text/plain', immutable: false, encoded: {} }
        return [path, file] as const
      })
      return { files: new Map(files), spa: false }
    },
  }
  const world = await deployWorld(t, { deployer })
  startDeployer(t, world)
  const { id: app } = await createApp(world)
  const { body } = await publish(world, app, {}, '?wait=25')
  const error = { code: 'release_too_large', class: 'code', step: 'building', retryable: false }
  t.match(body, { status: 'failed', error, artifact_digest: null })
})

await t.test('what a rollback that is under way is to serve is named', async (t) => {
  const world = await deployWorld(t, { deployer: createHostedDeployer() })
  const worker = startDeployer(t, world)
  const { id: app, releases } = await publishedApp(world, `<p>One</p>${PAGE}`, `<p>Two</p>${PAGE}`)
  await worker.stop()
  await rollBack(world, app, {}, '')
  const own = await ownDigests(world, app, digestOf(releases[0]))
  t.same(await world.platform.store.deployments.artifacts(app, 1), [
    digestOf(releases[0]),
    digestOf(releases[1]),
  ])
  await collect(world)
  t.equal(await keptOf(world, app, own), own.length)
})
