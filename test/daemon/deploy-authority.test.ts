import t from 'tap'
import { createAccountsFamily } from '../../daemon/families/accounts/family.ts'
import { appsFamily } from '../../daemon/families/apps/family.ts'
import { deployFamily } from '../../daemon/families/deploy/family.ts'
import { editsFamily } from '../../daemon/families/edits/family.ts'
import { webhooksFamily } from '../../daemon/families/webhooks/family.ts'
import { until } from '../support/daemon.ts'
import type { Deployment } from '../support/deploys.ts'
import { startDeployer } from '../support/deploys.ts'
import { createApp, eventsOf } from '../support/edits.ts'
import type { World } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

const FAMILIES = [appsFamily, editsFamily, deployFamily, webhooksFamily, createAccountsFamily()]
const SCOPES = ['deploy:read', 'deploy:write']

const CHANGES: readonly {
  readonly what: string
  readonly goesOn?: true
  change(world: World, id: string): Promise<unknown>
}[] = [
  { what: 'its key is revoked', change: ({ request }, id) => request('DELETE', `/v1/keys/${id}`) },
  {
    what: 'its key is narrowed',
    change: ({ request }, id) =>
      request('PATCH', `/v1/keys/${id}`, { body: { scopes: ['deploy:read'] } }),
  },
  {
    what: 'its account is suspended',
    change: ({ request, account, operatorFor }) =>
      request('POST', `/v1/accounts/${account.id}/suspend`, { as: operatorFor(null) }),
  },
  {
    what: 'its key is rotated',
    goesOn: true,
    change: ({ request }, id) =>
      request('POST', `/v1/keys/${id}/rotate`, { body: { grace_seconds: 0 } }),
  },
]

for (const { what, goesOn = false, change } of CHANGES) {
  await t.test(
    `a publication that waits while ${what} ${goesOn ? 'goes on' : 'fails'}`,
    async (t) => {
      const world = await createWorld(t, { families: FAMILIES })
      const { request, mintKey, operator } = world
      const { id: app } = await createApp(world)
      const { id, key } = await mintKey({ scopes: SCOPES })
      const path = `/v1/apps/${app}/deploy/publish`
      const { body } = await request<Deployment>('POST', path, { as: key, body: {} })
      await change(world, id)
      startDeployer(t, world)
      const shown = await request<Deployment>(
        'GET',
        `/v1/apps/${app}/deployments/${body.id}?wait=25`,
        { as: operator },
      )
      t.match(
        shown.body,
        goesOn
          ? { status: 'live', error: null }
          : { status: 'failed', error: { code: 'authority_ended', class: 'policy' } },
      )
      const typesOf = async (): Promise<readonly string[]> => {
        const types = (await eventsOf(world)).map(({ type }) => type)
        return types.filter((type) => type !== 'app.created')
      }
      // A release is live before its event is published.
      await until('the end is published', async () => (await typesOf()).length > 0)
      t.same(await typesOf(), [goesOn ? 'app.deployed' : 'app.deploy_failed'])
    },
  )
}
