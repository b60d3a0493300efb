import assert from 'node:assert/strict'
import type { Store } from '../contract.ts'
import { createdOrigin } from '../../../lib/webhook/origin.ts'
import type { StoreCase } from './harness.ts'
import {
  ACCOUNT,
  BORN,
  insertKeys,
  insertWebhooks,
  sampleKey,
  sampleSecret,
  sampleWebhook,
} from './samples.ts'

const child = (id: string, parent_id: string, depth: number, changes = {}) =>
  sampleKey(id, { parent_id, depth, ...changes })

const idsOfLive = async (store: Store, live_at: number): Promise<readonly string[]> => {
  const query = { account_id: ACCOUNT, live_at, within: null, limit: 50, after: null }
  return (await store.keys.list(query)).rows.map(({ id }) => id).toReversed()
}

/** How many more keys an account may hold, whose limit is `limit`. */
async function keysLeft(store: Store, limit: number, now: number): Promise<number> {
  let inserted = 0
  const rollBack = new Error('enough')
  await store
    .write(async (tx) => {
      const next = () => sampleKey(`key_more_${inserted}`, { secrets: [] })
      while (await tx.keys.insert(next(), { byDefault: limit, now })) inserted += 1
      throw rollBack
    })
    .catch((cause: unknown) => {
      if (cause !== rollBack) throw cause
    })
  return inserted
}

export const keyEndCases: readonly StoreCase[] = [
  {
    name: 'ends: all keys below a revoked one stop counting and being listed, and no other',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      await insertKeys(
        store,
        sampleKey('key_1'),
        child('key_2', 'key_1', 1, { expires_at: now + 100 }),
        child('key_3', 'key_2', 2),
        child('key_4', 'key_1', 1),
      )
      assert.equal(await keysLeft(store, 10, now), 6)
      await store.write((tx) => tx.keys.revoke('key_2', now))
      assert.deepEqual(await idsOfLive(store, now), ['key_1', 'key_4'])
      assert.equal(await keysLeft(store, 10, now), 8)
      // Revoked for ever, also where the clock is set back.
      assert.deepEqual(await idsOfLive(store, now - 50), ['key_1', 'key_4'])
      assert.deepEqual(await store.keys.descendants('key_1', 9, now), {
        ids: ['key_1', 'key_4'],
        total: 2,
      })
      assert.deepEqual(await store.keys.descendants('key_2', 9, now), { ids: ['key_2'], total: 1 })
      // What is inserted below it all the same is as little live.
      await insertKeys(store, child('key_5', 'key_3', 3))
      assert.equal(await keysLeft(store, 10, now), 8)
    },
  },
  {
    name: 'ends: a shorter or longer life of a key is one of the keys below it, as far as they have one',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      const first = sampleKey('key_1', { expires_at: now + 100 })
      await insertKeys(
        store,
        first,
        child('key_2', 'key_1', 1),
        child('key_3', 'key_2', 2, { expires_at: now + 60 }),
        child('key_4', 'key_2', 2, { revoked_at: now }),
      )
      assert.deepEqual(await idsOfLive(store, now + 50), ['key_1', 'key_2', 'key_3'])
      assert.deepEqual(await idsOfLive(store, now + 60), ['key_1', 'key_2'])
      assert.deepEqual(await idsOfLive(store, now + 100), [])
      await store.write((tx) => tx.keys.update(first, { expires_at: now + 40 }, now))
      assert.deepEqual(await idsOfLive(store, now + 39), ['key_1', 'key_2', 'key_3'])
      assert.deepEqual(await idsOfLive(store, now + 40), [])
      assert.equal(await keysLeft(store, 5, now + 40), 5)
      const shortened = { ...first, expires_at: now + 40 }
      await store.write((tx) => tx.keys.update(shortened, { expires_at: null }, now + 1))
      assert.deepEqual(await idsOfLive(store, now + 59), ['key_1', 'key_2', 'key_3'])
      assert.deepEqual(await idsOfLive(store, now + 500), ['key_1', 'key_2'])
      assert.equal(await keysLeft(store, 5, now + 500), 3)
    },
  },
  {
    name: 'list: a page of all keys within some apps examines a bounded number, and continues',
    async run({ open }) {
      const store = await open()
      const most = 7
      const idOf = (at: number) => `key_${String(at).padStart(5, '0')}`
      const others = Array.from({ length: most + 5 }, (_, at) =>
        sampleKey(idOf(at + 1), { revoked_at: BORN, secrets: [] }),
      )
      const pinned = { pins: new Set(['app_a']) }
      await insertKeys(store, sampleKey(idOf(0), pinned), ...others)
      const query = { account_id: ACCOUNT, live_at: null, within: ['app_a'], limit: 2 }
      const first = await store.keys.list({ ...query, after: null }, most)
      const next = idOf(others.length - most + 1)
      assert.deepEqual(first, { rows: [], more: true, next })
      const last = await store.keys.list({ ...query, after: next }, most)
      assert.deepEqual([last.rows.map(({ id }) => id), last.more], [[idOf(0)], false])
      const all = await store.keys.list({ ...query, within: null, limit: 100, after: null }, most)
      assert.deepEqual([all.rows.length, all.more], [others.length + 1, false])
    },
  },
  {
    name: 'purge: keys go that ended before the instant with all below them, their secrets with them',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      const long = { revoked_at: now - 10 }
      await insertKeys(
        store,
        sampleKey('key_live'),
        child('key_under_live', 'key_live', 1, long),
        sampleKey('key_revoked', {
          ...long,
          version: 2,
          secrets: [sampleSecret('h2', { version: 2 }), sampleSecret('h1', { not_after: 0 })],
        }),
        sampleKey('key_expired', { expires_at: now - 10 }),
        sampleKey('key_young', { revoked_at: now }),
        sampleKey('key_later', { expires_at: now }),
        sampleKey('key_tree', long),
        child('key_below', 'key_tree', 1),
        // It was revoked itself lately, and keeps the key above it.
        sampleKey('key_kept', long),
        child('key_late', 'key_kept', 1, { revoked_at: now }),
      )
      const purge = (limit = 10) => store.purge('keys', now, limit)
      assert.equal(await purge(2), 2)
      let purged = 2
      for (let more = true; more;) {
        const deleted = await purge()
        purged += deleted
        more = deleted > 0
      }
      assert.equal(purged, 5)
      const query = { account_id: ACCOUNT, live_at: null, within: null, limit: 50, after: null }
      const left = (await store.keys.list(query)).rows.map(({ id }) => id)
      assert.deepEqual(left, ['key_young', 'key_live', 'key_later', 'key_late', 'key_kept'])
      for (const hash of ['h1', 'h2', 'hash of key_below']) {
        assert.equal(await store.keys.findChain(hash), undefined)
      }
      assert.notEqual(await store.keys.findChain('hash of key_live'), undefined)
    },
  },
  {
    name: 'purge: a key that was revoked after it had ended counts from then, and so does the key above it',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      await insertKeys(
        store,
        sampleKey('key_1', { expires_at: now - 10 }),
        child('key_2', 'key_1', 1),
      )
      await store.write((tx) => tx.keys.revoke('key_2', now))
      assert.equal(await store.purge('keys', now, 10), 0)
      assert.equal(await store.purge('keys', now + 1, 10), 1)
      assert.equal(await store.purge('keys', now + 1, 10), 1)
    },
  },
  {
    name: 'purge: a key that a webhook comes from stays, and those above it',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      const key = { type: 'key', id: 'key_2' } as const
      const ended = { revoked_at: now - 10 }
      await insertKeys(store, sampleKey('key_1', ended), child('key_2', 'key_1', 1, ended))
      const origin = { created_by: key, ...createdOrigin(key, BORN) }
      await insertWebhooks(store, sampleWebhook('wh_1', origin))
      assert.equal(await store.purge('keys', now, 10), 0)
      const from = await store.webhooks.fromKey(ACCOUNT, 'key_1')
      assert.deepEqual(
        from.map(({ id }) => id),
        ['wh_1'],
      )
      await store.write((tx) => tx.webhooks.delete('wh_1', now))
      assert.equal(await store.purge('keys', now, 10), 1)
      assert.equal(await store.purge('keys', now, 10), 1)
    },
  },
]
