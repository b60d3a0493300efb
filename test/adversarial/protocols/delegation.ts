import { FAMILIES } from '../../../daemon/families/index.ts'
import { HOUR, toIso } from '../../../lib/time.ts'
import { askRpc, callTool, createCallFinder, sendSkill } from '../../support/protocols.ts'
import type { Answer, AnyBody, World } from '../../support/world.ts'
import type { Checks } from '../run.ts'

const find = createCallFinder(FAMILIES)

function outcomeOf({ status, body }: Answer<AnyBody>): string {
  const { error } = body as { readonly error?: { readonly code: string } }
  return error ? `${status} ${error.code}` : String(status)
}

export const delegationChecks = (world: World): Checks => ({
  async C09(t, saw) {
    const make = async (): Promise<string> => {
      const body = { template_id: 'blank', name: 'Shop' }
      return (await world.request<{ id: string }>('POST', '/v1/apps', { body })).body.id
    }
    const [shop, other] = [await make(), await make()]
    const agent = await world.mintKey({ scopes: ['apps:*', 'observe:read', 'keys:write'] })
    const call = async (key: string, method: string, path: string, body?: AnyBody) => {
      const found = find(method, path, body)
      if (found === undefined) throw new Error(`no tool of ${path}`)
      const answer = await callTool(world, key, found)
      saw(outcomeOf(answer))
      return answer
    }
    const expires_at = toIso(world.platform.clock.now() + HOUR)
    const narrower = {
      name: 'sub-agent',
      scopes: ['apps:read', 'observe:read'],
      apps: [shop],
      expires_at,
      monthly_budget_micros: 2_000_000,
    }
    const made = await call(agent.key, 'POST', '/v1/keys', narrower)
    t.match(made.body, { ...narrower, parent_key_id: agent.id, key: String })
    const sub = String(made.body['key'])

    t.equal((await call(sub, 'GET', `/v1/apps/${shop}`)).status, 200)
    await call(sub, 'GET', `/v1/apps/${other}`)
    await call(sub, 'PATCH', `/v1/apps/${shop}`, { name: 'Other' })
    for (const beyond of [
      { scopes: ['deploy:write'] },
      { scopes: ['*:*'] },
      { scopes: ['edits:read', 'apps:read'] },
    ]) {
      await call(agent.key, 'POST', '/v1/keys', { ...narrower, ...beyond })
    }
    const health = async (app: string) => {
      const found = find('GET', `/v1/apps/${app}/health`, undefined)
      if (found === undefined) throw new Error('no skill')
      return sendSkill(world, sub, found)
    }
    saw(outcomeOf(await health(shop)))
    saw(outcomeOf(await health(other)))

    const { status } = await world.request('DELETE', `/v1/keys/${agent.id}`)
    t.equal(status, 200)
    saw(outcomeOf(await askRpc(world, sub, 'ListTasks', {})))
    await call(sub, 'GET', `/v1/apps/${shop}`)
  },
})
