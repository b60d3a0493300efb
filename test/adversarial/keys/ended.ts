import { auditFamily } from '../../../daemon/families/audit/family.ts'
import { purgeExpired } from '../../../daemon/worker/retention.ts'
import { DAY, SECOND } from '../../../lib/time.ts'
import {
  ACCOUNT,
  insertKeys,
  sampleKey,
  sampleSecret,
} from '../../../plugins/store/conformance/samples.ts'
import { MOST_LOOKED_AT } from '../../../plugins/store/contract/page.ts'
import type { Page } from '../../support/webhooks.ts'
import type { Checks } from '../run.ts'
import { openExplained } from './plans.ts'
import { START, openWorld } from './world.ts'

const RETENTION = { events: 30 * DAY, audit: 365 * DAY, access: 7 * DAY }
const NOW = 1_800_000_000_000

/** A step that reads all keys, all of an account, or all below a key: `k` and `p` are keys too. */
const UNBOUNDED = /^SCAN (keys|k|p)\b|USING INDEX keys_by_(account|parent) \(\w+=\?\)/

export const ENDED_CHECKS: Checks = {
  async K53(t, saw) {
    const { store, plans } = await openExplained(t)
    const limit = { byDefault: 100, now: NOW }
    const root = sampleKey('key_1')
    const mint = (id: string, changes = {}) =>
      store.write((tx) => tx.keys.insert(sampleKey(id, changes), limit))
    await mint(root.id, root)
    await mint('key_2', { parent_id: root.id, depth: 1 })
    const query = { account_id: ACCOUNT, limit: 20, after: null, within: ['app_a'] }
    await store.keys.list({ ...query, live_at: NOW })
    await store.keys.list({ ...query, live_at: null, within: null })
    await store.keys.list({ ...query, live_at: null })
    await store.keys.findChain('hash of key_2')
    await store.keys.chain(ACCOUNT, 'key_2')
    await store.keys.descendants(root.id, 100, NOW)
    await store.webhooks.fromKey(ACCOUNT, root.id)
    await store.write(async ({ keys }) => {
      await keys.update(root, { expires_at: NOW + DAY }, NOW)
      const secret = sampleSecret('newer', { version: 2 })
      await keys.rotate({ id: root.id, secret, previous_not_after: NOW + DAY, now: NOW })
      await keys.endPrevious(root.id, NOW)
      await keys.touch([{ id: root.id, at: NOW }])
      await keys.revoke(root.id, NOW)
      await keys.revoke('key_2', NOW + DAY)
    })
    const found = await plans(/\bkeys\b/)
    t.ok(found.length > 20, 'there are plans')
    const unbounded = found.filter((step) => UNBOUNDED.test(step))
    t.same(unbounded, [])
    saw(`${unbounded.length === 0 ? 'no' : 'all'} keys that ended`)
  },

  async K54(t, saw) {
    const world = await openWorld(t, saw)
    const { store } = world.platform
    const key = await world.make({ scopes: ['apps:read', 'keys:write'] })
    const below = { account_id: world.account.id, parent_id: key.id, depth: 1 }
    const ended = Array.from({ length: 100 }, (_, at) =>
      sampleKey(`child ${at}`, { ...below, revoked_at: START }),
    )
    await insertKeys(store, ...ended)
    for (const path of [`/v1/keys/${key.id}?dry_run=true`, `/v1/keys/${key.id}`]) {
      const { body } = await world.attempt('DELETE', path)
      saw(`${String(body['keys_total'])} key`)
      t.same(body['keys'], [key.id])
    }
    t.equal(await world.ask('DELETE', `/v1/keys/${key.id}`), '200')
  },

  async K55(t, saw) {
    const world = await openWorld(t, saw)
    const { store } = world.platform
    const { id, key } = await world.make({ scopes: ['keys:read'], apps: ['app00001'] })
    const others = Array.from({ length: MOST_LOOKED_AT + 1 }, (_, at) =>
      sampleKey(`ffffffff-${String(at).padStart(5, '0')}`, {
        account_id: world.account.id,
        revoked_at: START,
        secrets: [],
      }),
    )
    await insertKeys(store, ...others)
    const list = async (cursor: string) =>
      (
        await world.request<Page<{ id: string }>>('GET', `/v1/keys?status=all${cursor}`, {
          as: key,
        })
      ).body
    const first = await list('')
    t.same(first.data, [])
    saw(first.has_more ? 'an empty page with a cursor' : 'an empty page')
    const next = await list(`&cursor=${first.next_cursor ?? ''}`)
    t.same(
      next.data.map((one) => one.id),
      [id],
    )
    saw('its own key')
    t.equal(next.has_more, false)
  },

  async K56(t, saw) {
    const world = await openWorld(t, saw, { families: [auditFamily] })
    const { store, clock } = world.platform
    const live = await world.make({ scopes: ['apps:*', 'keys:*'] })
    const revoked = await world.make({ scopes: ['apps:read'] }, live.key)
    const until = world.at(10 * SECOND)
    const expired = await world.make({ scopes: ['keys:*'], expires_at: until })
    const asked = await world.make({ scopes: ['keys:read'] }, expired.key)
    const below = await world.make({ scopes: ['keys:read'] }, expired.key)
    const later = await world.make({ scopes: ['apps:read'] })
    await world.ask('DELETE', `/v1/keys/${revoked.id}`)
    await world.clock.advance(DAY)
    await world.ask('DELETE', `/v1/keys/${later.id}`)
    await world.clock.advance(29 * DAY)
    const purge = async () => (await purgeExpired(store, RETENTION, clock.now())).keys ?? 0
    t.equal(await purge(), 0, 'as old as that, and no older')
    t.equal(await world.standing(later.key), '401 key_revoked')
    t.equal(await world.standing(asked.key), '401 key_expired')

    await world.clock.advance(10 * SECOND + 1)
    t.equal((await purge()) + (await purge()), 4)
    t.equal(await purge(), 0)
    for (const gone of [revoked, expired, below]) {
      t.equal(await world.ask('GET', `/v1/keys/${gone.id}`), '404 key_not_found')
    }
    // A process that has answered the holder before may still say how the key ended.
    for (const { key } of [revoked, below]) t.equal(await world.standing(key), '401 invalid_key')
    t.equal(await world.standing(live.key), '200')
    t.equal(await world.standing(later.key), '401 key_revoked')
    const { rows } = await store.requests.audit({
      account_id: world.account.id,
      target_id: revoked.id,
      action: null,
      actor_id: null,
      limit: 9,
      after: null,
    })
    t.same(
      rows.map(({ action }) => action),
      ['key.revoked', 'key.created'],
    )
  },
}
