import { eventsMarkdown } from '../../../daemon/docs/events.ts'
import { FAMILIES } from '../../../daemon/families/index.ts'
import { toIso } from '../../../lib/time.ts'
import { createMemoryEditor } from '../../../plugins/edits/memory.ts'
import { deployWorld, publish, startDeployer } from '../../support/deploys.ts'
import { createApp, startWorker } from '../../support/edits.ts'
import { publishedApp } from '../../support/observed.ts'
import { openApp } from '../../support/observed-app.ts'
import type { AnyBody } from '../../support/world.ts'
import { START, openWorld } from '../keys/world.ts'
import type { Checks } from '../run.ts'

const WISH = JSON.stringify([{ op: 'write', path: 'index.html', content: '<h1>Bread</h1>' }])

export const RECORD_CHECKS: Checks = {
  async O09(t, saw) {
    const world = await openWorld(t, saw)
    const { key } = await world.make({ scopes: ['keys:read'] })
    await world.standing(key)
    await world.clock.advance(1000)
    const { body } = await world.attempt<AnyBody>('GET', '/v1/keys/self', { as: key })
    t.equal(body['last_used_at'], toIso(START + 1000), 'also where the record is cached')
  },

  async O10(t, saw) {
    const world = await deployWorld(t)
    const { id: kept } = await createApp(world)
    const { id: archived } = await createApp(world)
    await world.request('DELETE', `/v1/apps/${archived}`)
    const { status, body } = await world.request<{ data: AnyBody[] }>(
      'GET',
      '/v1/apps?status=archived',
    )
    t.same(
      body.data.map(({ id }) => id),
      [archived],
    )
    const live = await world.request<{ data: AnyBody[] }>('GET', '/v1/apps')
    t.same(
      live.body.data.map(({ id }) => id),
      [kept],
    )
    saw(String(status))
  },

  async O11(t, saw) {
    const world = await deployWorld(t, { editor: createMemoryEditor() })
    startWorker(t, world)
    const body = { prompt: WISH }
    const made = await world.request<AnyBody>('POST', '/v1/apps?wait=25', { body })
    saw(`${made.status} ${String(made.body['status'])}`)
    t.type(made.body['edit_id'], 'string')
  },

  async O12(t, saw) {
    const world = await deployWorld(t)
    startDeployer(t, world)
    const { id: app } = await createApp(world)
    const { body: live } = await publish(world, app, {}, '?wait=25')
    const path = `/v1/apps/${app}/deploy/unpublish`
    const first = await world.request<{ deployment: AnyBody | null }>('POST', path)
    t.match(first.body.deployment, {
      kind: 'unpublish',
      reason: 'request',
      previous_deployment_id: live.id,
    })
    const shown = await world.request(
      'GET',
      `/v1/apps/${app}/deployments/${String(first.body.deployment?.['id'])}`,
    )
    t.same(shown.body, first.body.deployment)
    const again = await world.request<{ deployment: AnyBody | null }>('POST', path)
    t.equal(again.body.deployment, null)
    saw(String(again.status))
  },

  async O13(t, saw) {
    const { world } = await openApp(t)
    const id = await publishedApp(world)
    const { status, body } = await world.request<{ checks: AnyBody[] }>(
      'GET',
      `/v1/apps/${id}/health`,
    )
    const requests = body.checks.find(({ name }) => name === 'requests')
    t.match(requests?.['message'], /^No requests yet/)
    saw(String(status))
  },

  async O14(t) {
    const page = eventsMarkdown(FAMILIES)
    const types = [...page.matchAll(/^## (.+)$/gm)].map(([, type]) => type)
    t.equal(new Set(types).size, types.length, 'each type once')
    t.same(new Set(types), new Set(FAMILIES.flatMap(({ events }) => events.map((e) => e.type))))
    const bodies = [...page.matchAll(/```json\n([^`]+)\n```/g)].map(
      ([, json = '']) => JSON.parse(json) as AnyBody,
    )
    t.same(
      bodies.map(({ type }) => type),
      types,
    )
    for (const body of bodies) t.same(Object.keys(body), ['id', 'type', 'created_at', 'data'])
  },
}
