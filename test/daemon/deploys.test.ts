import t from 'tap'
import { DeployError } from '../../plugins/deploy/contract.ts'
import { createApp, eventsOf } from '../support/edits.ts'
import type { Deployment } from '../support/deploys.ts'
import {
  change,
  createHeldDeployer,
  deployWorld,
  publish,
  publishedApp,
  startDeployer,
  toldOf,
  untilTold,
} from '../support/deploys.ts'
import { openStream } from '../support/stream.ts'

await t.test('publishing', async (t) => {
  await t.test('answers at once, and the app is live once it is made ready', async (t) => {
    const world = await deployWorld(t)
    const { id: app } = await createApp(world, { alias: 'shop' })
    const before = await world.request('GET', `/v1/apps/${app}`)
    t.match(before.body, {
      publish_state: 'never',
      current_deployment_id: null,
      preview_url: /^https:\/\/preview--[a-z0-9]{24}\.apps\.example\.net$/,
      production_url: 'https://shop.apps.example.net',
    })

    const asked = await publish(world, app, { message: 'First' })
    const { id } = asked.body
    t.match(asked, {
      status: 202,
      body: {
        deployment_id: id,
        app_id: app,
        release: 1,
        kind: 'publish',
        status: 'queued',
        revision: 1,
        url: null,
        message: 'First',
        available_actions: ['cancel'],
        no_change: false,
        dry_run: false,
      },
    })
    const waiting = await world.request('GET', `/v1/apps/${app}`)
    t.equal(waiting.body['publish_state'], 'publishing')

    startDeployer(t, world)
    const { body: live } = await world.request('GET', `/v1/apps/${app}/deployments/${id}?wait=25`)
    t.match(live, {
      status: 'live',
      url: 'https://shop.apps.example.net',
      artifact_digest: /^[0-9a-f]{64}$/,
      previous_deployment_id: null,
      available_actions: ['unpublish'],
      error: null,
    })
    const after = await world.request('GET', `/v1/apps/${app}`)
    t.match(after.body, { publish_state: 'published', current_deployment_id: id })
    await untilTold(world, id)
    t.same(await toldOf(world, app), [`app.deployed ${id}`])
    const { data } = (await eventsOf(world)).find(({ type }) => type === 'app.deployed') ?? {}
    t.same(data, {
      app_id: app,
      deployment_id: id,
      release: 1,
      url: 'https://shop.apps.example.net',
      revision: 1,
      edit_id: null,
      previous_deployment_id: null,
      trigger: { type: 'user', key_id: null },
    })
  })

  await t.test('of what is live already changes nothing, and says so', async (t) => {
    const world = await deployWorld(t)
    startDeployer(t, world)
    const { id: app, releases } = await publishedApp(world, '<p>One</p>')
    const [live] = releases
    const again = await publish(world, app)
    t.match(again, { status: 200, body: { id: live?.id, no_change: true, status: 'live' } })
    const old = await publish(world, app, { revision: 1 })
    t.match(old, { status: 202, body: { release: 2, revision: 1, no_change: false } })
  })

  await t.test('a later revision takes the place of the one before', async (t) => {
    const world = await deployWorld(t)
    startDeployer(t, world)
    const { id: app, releases } = await publishedApp(world, '<p>One</p>', '<p>Two</p>')
    const [first, second] = releases
    t.equal(second?.['previous_deployment_id'], first?.id)
    const list = await world.request<{ data: readonly Deployment[] }>(
      'GET',
      `/v1/apps/${app}/deployments`,
    )
    t.same(
      list.body.data.map(({ id, status, available_actions }) => [id, status, available_actions]),
      [
        [second?.id, 'live', ['unpublish']],
        [first?.id, 'superseded', ['rollback']],
      ],
    )
    const status = await world.request('GET', `/v1/apps/${app}/deploy/status`)
    t.match(status.body, {
      publish_state: 'published',
      live: { id: second?.id },
      in_progress: null,
      last_failed: null,
    })
  })

  await t.test('a dry run says what would be done, and changes nothing', async (t) => {
    const world = await deployWorld(t)
    const { id: app } = await createApp(world)
    const dry = await publish(world, app, { dry_run: true })
    t.match(dry, { status: 200, body: { id: null, release: null, revision: 1, dry_run: true } })
    const list = await world.request(
      'GET',
      `/v1/apps/${app}/deployments?include=failed,canceled,in_progress`,
    )
    t.same(list.body['data'], [])
  })
})

await t.test('what stands against publishing', async (t) => {
  const held = createHeldDeployer()
  const world = await deployWorld(t, { deployer: held.deployer })
  startDeployer(t, world)
  const { id: app } = await createApp(world)

  const first = await publish(world, app)
  await held.untilBegun()
  const busy = { code: 'deploy_in_progress', details: { deployment_id: first.body.id } }
  t.match(await publish(world, app), { status: 409, body: { error: busy } })
  t.match(await publish(world, app, { dry_run: true }), { status: 409, body: { error: busy } })
  held.release()
  await untilTold(world, first.body.id)

  t.match(await publish(world, app, { revision: 9 }), {
    status: 404,
    body: { error: { code: 'revision_not_found' } },
  })
  const { platform, account } = world
  const edit = {
    id: platform.newId(),
    app_id: app,
    account_id: account.id,
    kind: 'prompt',
    initial: false,
    status: 'queued',
    prompt: 'Change it',
    model: null,
    knowledge: 'allowed',
    message: null,
    reverts: null,
    base_revision: null,
    result_revision: null,
    summary: null,
    changed: [],
    usage: null,
    error: null,
    created_by: { type: 'user', id: 'usr_1' },
    created_at: platform.clock.now(),
    started_at: null,
    finished_at: null,
    stage: null,
    done: 0,
    total: null,
  } as const
  await platform.store.write((tx) => tx.edits.insert(edit))
  t.match(await publish(world, app), {
    status: 409,
    body: { error: { code: 'edit_in_progress', details: { edit_id: edit.id } } },
  })
  const named = await publish(world, app, { revision: 1 })
  t.match(named, { status: 200, body: { no_change: true } }, 'a revision by name goes all the same')

  const { id: unmade } = await createApp(world)
  await platform.store.write((tx) => tx.apps.move(unmade, 'ready', 'creating', 0))
  t.match(await publish(world, unmade), { status: 409, body: { error: { code: 'app_not_ready' } } })
  const { id: archived } = await createApp(world)
  await world.request('DELETE', `/v1/apps/${archived}`)
  t.match(await publish(world, archived), {
    status: 409,
    body: { error: { code: 'app_archived' } },
  })
})

await t.test('a deployment that fails', async (t) => {
  const held = createHeldDeployer()
  const world = await deployWorld(t, { deployer: held.deployer })
  startDeployer(t, world)
  const { id: app } = await createApp(world)
  const live = await publish(world, app)
  await held.untilBegun()
  held.release()
  await untilTold(world, live.body.id)

  await change(world, app, '<p>Broken</p>')
  const failing = await publish(world, app)
  await held.untilBegun(2)
  held.release(new DeployError('target_unavailable', { internal: 'a secret of ours' }))
  await untilTold(world, failing.body.id)
  const error = {
    code: 'target_unavailable',
    class: 'transient',
    step: 'building',
    retryable: true,
  }
  const { body } = await world.request('GET', `/v1/apps/${app}/deployments/${failing.body.id}`)
  t.match(body, { status: 'failed', error, url: null, available_actions: [] })
  t.notMatch(JSON.stringify(body), 'a secret')
  const status = await world.request('GET', `/v1/apps/${app}/deploy/status`)
  t.match(status.body, { live: { id: live.body.id }, last_failed: { id: failing.body.id } })
  t.same(await toldOf(world, app), [
    `app.deployed ${live.body.id}`,
    `app.deploy_failed ${failing.body.id}`,
  ])
  const { data } = (await eventsOf(world)).find(({ type }) => type === 'app.deploy_failed') ?? {}
  t.match(data, { release: 2, kind: 'publish', error: { code: 'target_unavailable' } })

  await t.test('is no part of the lineage unless it is asked for', async (t) => {
    const idsOf = async (query: string): Promise<readonly string[]> => {
      const path = `/v1/apps/${app}/deployments${query}`
      const page = await world.request<{ data: readonly Deployment[] }>('GET', path)
      return page.body.data.map(({ id }) => id)
    }
    t.same(await idsOf(''), [live.body.id])
    t.same(await idsOf('?include=canceled'), [live.body.id])
    t.same(await idsOf('?include=failed,canceled'), [failing.body.id, live.body.id])
    t.same(await idsOf('?status=failed'), [failing.body.id])
    t.same(await idsOf('?kind=rollback'), [])
    t.equal((await world.request('GET', `/v1/apps/${app}/deployments?include=x`)).status, 400)
  })

  await t.test('for a reason that is not foreseen says no more than that', async (t) => {
    const next = await publish(world, app)
    await held.untilBegun(3)
    held.release(new Error('a secret of ours'))
    await untilTold(world, next.body.id)
    const { body } = await world.request('GET', `/v1/apps/${app}/deployments/${next.body.id}`)
    t.match(body, { error: { code: 'internal_error', class: 'internal', retryable: true } })
    t.notMatch(JSON.stringify(body), 'a secret')
  })
})

await t.test('a deployment is followed to its end, and its lines are read', async (t) => {
  const held = createHeldDeployer()
  const world = await deployWorld(t, { deployer: held.deployer })
  startDeployer(t, world)
  const { id: app } = await createApp(world)
  const { key } = await world.mintKey({ scopes: ['deploy:read'] })
  const { body } = await publish(world, app)
  const path = `/v1/apps/${app}/deployments/${body.id}`
  const stream = await openStream(`${world.baseUrl}${path}/events`, key)
  await held.untilBegun()
  await stream.until('Making the release.')
  held.release()
  const text = await stream.until()
  t.match(text, /id: 1\nevent: line\n/)
  t.match(text, /event: status\ndata: {[^\n]*"status":"building"/)
  t.match(text, /Release 1 is live\.[^\n]*\n\nevent: end\ndata: {[^\n]*"status":"live"/)

  const lines = await world.request<{ data: readonly { number: number; message: string }[] }>(
    'GET',
    `${path}/logs?limit=2`,
  )
  t.same(
    lines.body.data.map(({ number, message }) => [number, message]),
    [
      [1, 'Making the release.'],
      [2, 'Checking that all of it can be served.'],
    ],
  )
  const rest = await openStream(`${world.baseUrl}${path}/events`, key, '2')
  t.notMatch(await rest.until(), 'Making the release.')
})
