import { HOUR } from '../../../lib/time.ts'
import type { Page } from '../../support/webhooks.ts'
import type { AnyBody } from '../../support/world.ts'
import type { Checks } from '../run.ts'
import { LACKS_SCOPE, READS_EVENTS, WRITES, idsOf, openAuthority, webhooksIn } from './world.ts'

const REPLACED = '403 previous_value_restricted'
const DELEGATES = [...READS_EVENTS, 'keys:*']
const elsewhere = (name: string): AnyBody => ({ url: `http://127.0.0.1:9/${name}` })

/** Webhooks that outlive the authority of the keys that set them. */
export const ORIGIN_CHECKS: Checks = {
  async A12(t, saw) {
    const world = await openAuthority(t, saw)
    const parent = await world.make({ scopes: DELEGATES })
    const child = await world.make({ scopes: DELEGATES }, parent.key)
    const declared = await world.hook({ events: ['order.paid'] }, parent.key)
    const family = await world.hook({ events: ['order.*'] }, child.key)
    const builtIn = await world.hook({ events: ['*'] }, child.key)
    const path = `/v1/keys/${parent.id}`
    const body = { scopes: ['webhooks:*', 'keys:*'] }
    const narrowed = await world.attempt('PATCH', path, { body })
    t.match(narrowed, { status: 200, body: { webhooks_total: 2 } })
    t.same(webhooksIn(narrowed.body), idsOf(declared, family))
    t.equal((await world.show(declared))['status'], 'active', 'kept, but not silently')
    const disabled = await world.attempt('PATCH', `${path}?webhooks=disable`, { body })
    t.same(webhooksIn(disabled.body), idsOf(declared, family))
    for (const webhook of [declared, family]) {
      t.match(await world.show(webhook), { status: 'disabled', disabled_reason: 'key_narrowed' })
    }
    t.equal((await world.show(builtIn))['status'], 'active')
    await world.publish('order.paid')
    t.match(await world.deliveries(declared), [{ status: 'skipped' }])
    t.same(world.received(), [])
  },

  async A13(t, saw) {
    const world = await openAuthority(t, saw)
    const key = await world.make({ scopes: DELEGATES })
    const child = await world.make({ scopes: WRITES }, key.key)
    const own = await world.hook({}, key.key)
    const redirected = await world.hook({})
    t.equal(await world.change(redirected, elsewhere('b'), child.key), '200')
    const expected = idsOf(own, redirected)
    const path = `/v1/keys/${key.id}`
    const expires_at = world.at(HOUR)
    const shortened = await world.attempt('PATCH', path, { body: { expires_at } })
    t.same(webhooksIn(shortened.body), expected)
    await world.clock.advance(HOUR)
    t.equal(await world.standing(key.key), '401 key_expired')
    const shown = await world.attempt('GET', path)
    t.match(shown.body, { status: 'expired', webhooks_total: 2 })
    t.same(webhooksIn(shown.body), expected)
    const tried = await world.attempt('DELETE', `${path}?dry_run=true&webhooks=disable`)
    t.same(webhooksIn(tried.body), expected)
    t.equal((await world.show(own))['status'], 'active', 'a dry run changes nothing')
    const ended = await world.attempt('DELETE', `${path}?webhooks=disable`)
    t.same([ended.status, webhooksIn(ended.body)], [200, expected])
    for (const webhook of [own, redirected]) {
      t.match(await world.show(webhook), { status: 'disabled', disabled_reason: 'key_revoked' })
    }
  },

  async A14(t, saw) {
    const world = await openAuthority(t, saw)
    const attacker = await world.make({ scopes: READS_EVENTS })
    const other = await world.make({ scopes: READS_EVENTS })
    const [byUrl, byEvents, byApps, bySecret, renamed, taken] = [
      await world.hook(),
      await world.hook(),
      await world.hook(),
      await world.hook(),
      await world.hook(),
      await world.hook({}, other.key),
    ]
    const as = attacker.key
    t.equal(await world.change(byUrl, elsewhere('attacker'), as), '200')
    t.equal(await world.change(byEvents, { events: ['*'] }, as), '200')
    t.equal(await world.change(byApps, { apps: ['a1'] }, as), '200')
    t.equal(await world.ask('POST', `/v1/webhooks/${bySecret.id}/rotate-secret`, as), '201')
    t.equal(await world.change(renamed, { description: 'x', rate_limit: 1 }, as), '200')
    t.equal(await world.change(taken, elsewhere('attacker'), as), '200')
    t.match(await world.show(taken), {
      created_by: { type: 'key', id: other.id },
      set_by: { type: 'key', id: attacker.id },
    })
    // The owner sets another part of the first: its address still is the attacker's.
    t.equal(await world.change(byUrl, { events: ['app.deployed', 'app.unpublished'] }), '200')
    t.match(await world.show(byUrl), { set_by: { type: 'user', id: world.user.user_id } })
    t.match(await world.show(renamed), { set_by: { type: 'user' } })
    const expected = idsOf(byUrl, byEvents, byApps, bySecret, taken)
    const path = `/v1/keys/${attacker.id}`
    const tried = await world.attempt('DELETE', `${path}?dry_run=true`)
    t.same(webhooksIn(tried.body), expected)
    const revoked = await world.attempt('DELETE', `${path}?webhooks=disable`)
    t.match(revoked, { status: 200, body: { webhooks_total: 5 } })
    t.same(webhooksIn(revoked.body), expected)
    const active = await world.request<Page<{ id: string }>>('GET', '/v1/webhooks?status=active')
    t.same(idsOf(...active.body.data), [renamed.id])
  },

  async A15(t, saw) {
    const world = await openAuthority(t, saw)
    const root = await world.make({ scopes: DELEGATES })
    const { platform, account } = world
    const template = await platform.store.keys.get(account.id, root.id)
    if (template === undefined) throw new Error('there is no such key')
    const now = platform.clock.now()
    const ids = Array.from({ length: 3000 }, () => platform.newId())
    await platform.store.write(async (tx) => {
      for (const [index, id] of ids.entries()) {
        const parent_id = index === 0 ? root.id : (ids[(index - 1) >> 3] ?? root.id)
        await tx.keys.insert({ ...template, id, parent_id, depth: 1, secrets: [] })
      }
    })
    const webhook = await world.hook()
    const last = { type: 'key', id: ids.at(-1) ?? '' } as const
    await platform.store.write((tx) => tx.webhooks.update(webhook.id, { events: ['*'] }, last, now))
    const revoked = await world.attempt('DELETE', `/v1/keys/${root.id}?webhooks=disable`)
    t.match(revoked, { status: 200, body: { webhooks: [webhook.id], keys_total: 3001 } })
    const keys = revoked.body['keys'] as readonly string[]
    t.same([keys.length, keys[0]], [100, root.id])
    t.equal((await world.show(webhook))['status'], 'disabled')
  },

  async A16(t, saw) {
    const world = await openAuthority(t, saw)
    const { id, key: previous } = await world.make({ scopes: READS_EVENTS })
    const { key: current } = (await world.rotate(id)).body
    const webhook = await world.hook({ apps: ['a1'] })
    const path = `/v1/webhooks/${webhook.id}`
    const redirections = [elsewhere('b'), { events: ['*'] }, { apps: ['a1', 'a2'] }]
    const body = { url: world.url, events: ['app.deployed'] }
    t.equal(await world.ask('POST', '/v1/webhooks', previous, body), REPLACED)
    for (const change of redirections)
      t.equal(await world.change(webhook, change, previous), REPLACED)
    t.equal(await world.ask('POST', `${path}/rotate-secret`, previous), REPLACED)
    t.match(await world.show(webhook), { url: world.url, events: ['app.deployed'], apps: ['a1'] })
    t.equal(await world.change(webhook, { description: 'b', status: 'active' }, previous), '200')
    t.equal(await world.ask('GET', path, previous), '200')
    t.equal(await world.ask('POST', `${path}/test`, previous), '200')
    for (const change of redirections) t.equal(await world.change(webhook, change, current), '200')
    t.equal(await world.ask('POST', `${path}/rotate-secret`, current), '201')
    t.equal(await world.ask('POST', '/v1/webhooks', current, body), '201')
  },

  async A17(t, saw) {
    const world = await openAuthority(t, saw)
    const webhook = await world.hook({ apps: ['a1'] })
    for (const change of [elsewhere('b'), { events: ['*'] }, { apps: null }]) {
      t.equal(await world.change(webhook, change, world.stale), '403 step_up_required')
    }
    t.match(await world.show(webhook), { url: world.url, events: ['app.deployed'], apps: ['a1'] })
    const rotate = `/v1/webhooks/${webhook.id}/rotate-secret`
    t.equal(await world.ask('POST', rotate, world.stale), '403 step_up_required')
    const { url } = world
    t.equal(await world.change(webhook, { url, description: 'b' }, world.stale), '200')
    t.equal(await world.change(webhook, { status: 'disabled' }, world.stale), '200')
    t.equal(await world.change(webhook, elsewhere('b')), '200', 'a recent proof')
  },

  async A18(t, saw) {
    const world = await openAuthority(t, saw)
    const maker = await world.make({ scopes: READS_EVENTS })
    const mover = await world.make({ scopes: READS_EVENTS })
    const webhook = await world.hook({}, maker.key)
    t.equal(await world.change(webhook, elsewhere('b'), mover.key), '200')
    await world.request('DELETE', `/v1/keys/${mover.id}?webhooks=disable`)
    const path = `/v1/audit-log?target_id=${webhook.id}`
    const { data } = (await world.attempt<Page<AnyBody>>('GET', path)).body
    const made = { type: 'key', id: maker.id }
    const moved = { type: 'key', id: mover.id }
    const user = { type: 'user', id: world.user.user_id }
    const seen = data.map(({ action, actor, origins }) => ({ action, actor, origins }))
    t.same(seen, [
      { action: 'webhook.disabled', actor: user, origins: { created_by: made, set_by: moved } },
      { action: 'webhook.updated', actor: moved, origins: { created_by: made, set_by: moved } },
      { action: 'webhook.created', actor: made, origins: { created_by: made, set_by: made } },
    ])
  },

  async A19(t, saw) {
    const world = await openAuthority(t, saw)
    const mover = await world.make({ scopes: WRITES })
    const webhook = await world.hook({})
    t.equal(await world.change(webhook, elsewhere('b'), mover.key), '200')
    const path = `/v1/keys/${mover.id}`
    await world.request('PATCH', path, { body: { scopes: ['webhooks:read'] } })
    const as = mover.key
    const wish = `${path}?webhooks=disable`
    t.equal(await world.ask('DELETE', wish, as), LACKS_SCOPE)
    t.equal((await world.show(webhook))['status'], 'active')
    t.equal(await world.standing(as), '200', 'the key is as it was')
    t.equal(await world.ask('DELETE', path, as), '200')
    t.equal((await world.show(webhook))['status'], 'active')
  },
}
