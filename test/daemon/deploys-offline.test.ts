import t from 'tap'
import { createApp, eventsOf } from '../support/edits.ts'
import type { Deployment } from '../support/deploys.ts'
import {
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

const deploymentsOf = async (world: World, app: string): Promise<readonly Deployment[]> => {
  const path = `/v1/apps/${app}/deployments?include=canceled,in_progress`
  return (await world.request<{ data: readonly Deployment[] }>('GET', path)).body.data
}

const unpublish = (world: World, app: string) =>
  world.request('POST', `/v1/apps/${app}/deploy/unpublish`, { body: {} })

await t.test('rolling back', async (t) => {
  const world = await deployWorld(t)
  startDeployer(t, world)
  const { id: app, releases } = await publishedApp(world, '<p>One</p>', '<p>Two</p>')
  const [first, second] = releases

  await t.test('serves what was live before, as it was, by a deployment of its own', async (t) => {
    const back = await rollBack(world, app, { message: 'Too early' })
    t.match(back, {
      status: 200,
      body: {
        kind: 'rollback',
        status: 'live',
        release: 3,
        restored_from: first?.id,
        previous_deployment_id: second?.id,
        revision: first?.['revision'],
        artifact_digest: first?.['artifact_digest'],
        message: 'Too early',
      },
    })
    await untilTold(world, back.body.id)
    t.same(await toldOf(world, app), [
      `app.deployed ${first?.id}`,
      `app.deployed ${second?.id}`,
      `app.rolled_back ${back.body.id}`,
    ])
    const { data } = (await eventsOf(world)).find(({ type }) => type === 'app.rolled_back') ?? {}
    t.match(data, { restored_from: first?.id, rolled_back_from: second?.id, release: 3 })
    const lines = await world.request('GET', `/v1/apps/${app}/deployments/${back.body.id}/logs`)
    t.notMatch(JSON.stringify(lines.body), 'Making the release.', 'nothing is made anew')
  })

  await t.test(
    'is refused for what is live, what is not there, and what never was live',
    async (t) => {
      const refusal = async (deployment_id: string) => {
        const { status, body } = await rollBack(world, app, { deployment_id })
        return [status, (body['error'] as { code?: string } | undefined)?.code]
      }
      const [live] = await deploymentsOf(world, app)
      t.same(await refusal(live?.id ?? ''), [409, 'already_live'])
      t.same(await refusal(first?.id ?? ''), [409, 'already_live'], 'it serves the same')
      t.same(await refusal('nothing'), [404, 'deployment_not_found'])
      const { id: other } = await createApp(world)
      t.match(await rollBack(world, other), {
        status: 409,
        body: { error: { code: 'no_previous_release' } },
      })
    },
  )

  await t.test('goes to any release that is kept, and only says so in a dry run', async (t) => {
    const dry = await rollBack(world, app, { deployment_id: second?.id, dry_run: true })
    t.match(dry, { status: 200, body: { id: null, restored_from: second?.id, dry_run: true } })
    const forth = await rollBack(world, app, { deployment_id: second?.id }, '')
    t.match(forth, { status: 202, body: { status: 'queued', release: 4 } })
    await untilTold(world, forth.body.id)
    const { body } = await world.request('GET', `/v1/apps/${app}/deploy/status`)
    t.match(body, { live: { id: forth.body.id, artifact_digest: second?.['artifact_digest'] } })
  })
})

await t.test('an app is taken offline once, however often it is asked', async (t) => {
  const world = await deployWorld(t)
  startDeployer(t, world)
  const { id: app, releases } = await publishedApp(world, '<p>One</p>')
  const [live] = releases
  const answers = await Promise.all([unpublish(world, app), unpublish(world, app)])
  for (const { status, body } of answers) {
    t.match([status, body], [200, { publish_state: 'unpublished', current_deployment_id: null }])
  }
  const [off, was, ...more] = await deploymentsOf(world, app)
  t.match(off, {
    kind: 'unpublish',
    status: 'unpublished',
    release: 2,
    previous_deployment_id: live?.id,
    reason: 'request',
  })
  t.match([was?.id, was?.status, more.length], [live?.id, 'superseded', 0])
  t.same(await toldOf(world, app), [`app.deployed ${live?.id}`, `app.unpublished ${off?.id}`])
  const audit = await world.platform.store.requests.audit({
    account_id: world.account.id,
    action: 'app.unpublished',
    actor_id: null,
    target_id: app,
    limit: 100,
    after: null,
  })
  t.equal(audit.rows.length, 1)

  const back = await rollBack(world, app)
  t.match(back.body, { status: 'live', restored_from: live?.id, previous_deployment_id: null })
})

await t.test('archiving takes an app offline first, and restoring leaves it so', async (t) => {
  const held = createHeldDeployer()
  const world = await deployWorld(t, { deployer: held.deployer })
  startDeployer(t, world)
  const { id: app } = await createApp(world)
  const { body: live } = await publish(world, app)
  await held.untilBegun()
  held.release()
  await untilTold(world, live.id)
  const rolled = await world.request('POST', `/v1/apps/${app}/clone`, { body: {} })
  t.match(rolled.body, { publish_state: 'never', current_deployment_id: null })

  const archived = await world.request('DELETE', `/v1/apps/${app}`)
  t.match(archived.body, { status: 'archived', publish_state: 'unpublished' })
  const told = (await eventsOf(world)).filter(({ app_id }) => app_id === app).slice(-2)
  t.match(told, [
    { type: 'app.unpublished', data: { reason: 'archived', previous_deployment_id: live.id } },
    { type: 'app.deleted' },
  ])
  const restored = await world.request('POST', `/v1/apps/${app}/restore`, { body: {} })
  t.match(restored.body, { status: 'ready', publish_state: 'unpublished' })
  const list = await deploymentsOf(world, app)
  t.equal(list.find(({ id }) => id === live.id)?.status, 'superseded')
})

await t.test(
  'what was under way when its app was archived stays offline, restored or not',
  async (t) => {
    const held = createHeldDeployer('activate')
    const world = await deployWorld(t, { deployer: held.deployer })
    startDeployer(t, world)
    const { id: app } = await createApp(world)
    const { body } = await publish(world, app)
    await held.untilBegun()
    const known = () => world.request('GET', `/v1/apps/${app}/deployments/${body.id}`)
    t.match((await known()).body, { status: 'deploying' })
    await world.request('DELETE', `/v1/apps/${app}`)
    await world.request('POST', `/v1/apps/${app}/restore`, { body: {} })
    held.release()
    await untilTold(world, body.id)
    t.match((await known()).body, { status: 'canceled', error: { code: 'canceled' } })
    t.same(await toldOf(world, app), [`app.deploy_failed ${body.id}`])
    const { body: status } = await world.request('GET', `/v1/apps/${app}/deploy/status`)
    t.match(status, { live: null, in_progress: null, publish_state: 'never' })
  },
)

await t.test('canceling', async (t) => {
  const held = createHeldDeployer()
  const world = await deployWorld(t, { deployer: held.deployer })
  const { id: app } = await createApp(world)
  const cancel = (id: string) =>
    world.request('POST', `/v1/apps/${app}/deployments/${id}/cancel`, { body: {} })

  await t.test('ends one that waits at once', async (t) => {
    const { body } = await publish(world, app)
    t.match(await cancel(body.id), {
      status: 200,
      body: { status: 'canceled', error: { code: 'canceled' }, available_actions: [] },
    })
    t.same(await toldOf(world, app), [`app.deploy_failed ${body.id}`])
    t.match(await cancel(body.id), {
      status: 409,
      body: { error: { code: 'deployment_finished' } },
    })
  })

  await t.test('stops one that is built, which is told of once', async (t) => {
    startDeployer(t, world)
    const { body } = await publish(world, app)
    await held.untilBegun()
    t.match(await cancel(body.id), {
      status: 202,
      body: { status: 'building', available_actions: [] },
    })
    await untilTold(world, body.id)
    t.same(held.aborted, [body.id], 'its deployer is told to stop')
    const { body: ended } = await world.request('GET', `/v1/apps/${app}/deployments/${body.id}`)
    t.match(ended, { status: 'canceled', error: { code: 'canceled' } })
    t.equal((await toldOf(world, app)).filter((one) => one.endsWith(body.id)).length, 1)
    held.release()
    t.equal((await publish(world, app)).status, 202, 'the next may be made')
  })

  await t.test('goes with archiving', async (t) => {
    const { id: other } = await createApp(world)
    const { body } = await publish(world, other)
    await world.request('DELETE', `/v1/apps/${other}`)
    await untilTold(world, body.id)
    const { body: ended } = await world.request('GET', `/v1/apps/${other}/deployments/${body.id}`)
    t.match(ended, { status: 'canceled', available_actions: [] })
  })
})

await t.test('keys publish what they are pinned to, and read as they may', async (t) => {
  const world = await deployWorld(t)
  startDeployer(t, world)
  const { id: own } = await createApp(world)
  const { id: other } = await createApp(world)
  const writer = await world.mintKey({ scopes: ['deploy:write'], apps: [own] })
  const reader = await world.mintKey({ scopes: ['deploy:read'], apps: [own] })
  const ask = (as: string, method: string, app: string, path: string) =>
    world.request(method, `/v1/apps/${app}/${path}`, { as, ...(method === 'POST' && { body: {} }) })

  const made = await ask(writer.key, 'POST', own, 'deploy/publish?wait=25')
  t.match(made, { status: 200, body: { status: 'live', created_by: { type: 'key' } } })
  await untilTold(world, String(made.body['id']))
  const { data } = (await eventsOf(world)).find(({ type }) => type === 'app.deployed') ?? {}
  t.match(data, { trigger: { type: 'key', key_id: writer.id } })
  for (const path of ['deploy/publish', 'deploy/unpublish', 'deploy/rollback']) {
    t.match(await ask(writer.key, 'POST', other, path), {
      status: 404,
      body: { error: { code: 'app_not_found' } },
    })
    t.match(await ask(reader.key, 'POST', own, path), {
      status: 403,
      body: { error: { code: 'insufficient_scope' } },
    })
  }
  t.equal((await ask(reader.key, 'GET', own, 'deployments')).status, 200)
  t.equal((await ask(reader.key, 'GET', other, 'deployments')).status, 404)
  t.equal((await ask(writer.key, 'GET', own, 'deploy/status')).status, 403)
})
