import t from 'tap'
import { appsFamily } from '../../daemon/families/apps/family.ts'
import { webhooksFamily } from '../../daemon/families/webhooks/family.ts'
import { createApp } from '../support/edits.ts'
import { createWorld } from '../support/world.ts'

const families = [appsFamily, webhooksFamily]
const HOOK = { url: 'http://127.0.0.1:9/in', events: ['app.created'] }

void t.test('where apps are the service’s own, pins name apps of the account', async (t) => {
  const world = await createWorld(t, { families, appIds: 'own' })
  const { request } = world
  const { id } = await createApp(world)
  const stranger = await world.addAccount()
  const foreign = await request<{ id: string }>('POST', '/v1/apps', {
    as: world.userOf(stranger),
    body: { template_id: 'blank' },
  })
  const hook = await request<{ id: string }>('POST', '/v1/webhooks', { body: HOOK })
  const asking = [
    ['POST', '/v1/keys', { name: 'CI', scopes: ['apps:read'] }],
    ['POST', '/v1/webhooks', HOOK],
    ['PATCH', `/v1/webhooks/${hook.body.id}`, {}],
  ] as const
  for (const [method, path, given] of asking) {
    const ask = (...apps: readonly string[]) => request(method, path, { body: { ...given, apps } })
    t.match(await ask(id), { body: { apps: [id] } }, `${method} ${path}`)
    for (const missing of ['nowhere', foreign.body.id]) {
      t.match(
        await ask(id, missing),
        { status: 404, body: { error: { code: 'app_not_found', details: { apps: [missing] } } } },
        `${method} ${path} ${missing}`,
      )
    }
  }
  await request('DELETE', `/v1/apps/${id}`)
  await world.mintKey({ scopes: ['apps:read'], apps: [id] })
})

void t.test('a pinned key hears of its pins before it hears of what exists', async (t) => {
  const world = await createWorld(t, { families, appIds: 'own' })
  const { id } = await createApp(world)
  const { key } = await world.mintKey({ scopes: ['keys:*'], apps: [id] })
  const body = { name: 'child', scopes: ['keys:read'], apps: ['nowhere'] }
  t.match(await world.request('POST', '/v1/keys', { as: key, body }), {
    status: 403,
    body: { error: { code: 'scope_not_delegable' } },
  })
})

void t.test('where they are a backend’s, any well-formed id does', async (t) => {
  const world = await createWorld(t, { families, appIds: 'any' })
  await world.mintKey({ scopes: ['apps:read'], apps: ['order-7'] })
})
