import assert from 'node:assert/strict'
import type { StoreCase } from './harness.ts'
import { assertOneWon, openRacers, readPages } from './harness.ts'
import {
  ACCOUNT,
  BORN,
  STRANGER,
  insertKeys,
  sampleAccount,
  sampleKey,
  sampleSecret,
} from './samples.ts'

export const keyCases: readonly StoreCase[] = [
  {
    name: 'keys: a key comes back as it was inserted, pins, scopes and secrets included',
    async run({ open }) {
      const store = await open()
      const pinned = sampleKey('key_1', {
        pins: new Set(['app_a', 'app_b']),
        expires_at: BORN + 5,
        version: 2,
        secrets: [
          sampleSecret('current', { version: 2 }),
          sampleSecret('before', { not_after: BORN + 3 }),
        ],
      })
      const plain = sampleKey('key_2', { created_by: { type: 'operator', id: null } })
      await insertKeys(store, pinned, plain)
      assert.deepEqual(await store.keys.get(ACCOUNT, 'key_1'), pinned)
      assert.deepEqual(await store.keys.get(ACCOUNT, 'key_2'), plain)
    },
  },
  {
    name: 'keys: a monthly budget comes back exactly, with the key and with its chain, and stays',
    async run({ open }) {
      const store = await open()
      const most = Number.MAX_SAFE_INTEGER
      const root = sampleKey('key_1', { monthly_budget_micros: most })
      const child = sampleKey('key_2', {
        parent_id: 'key_1',
        depth: 1,
        monthly_budget_micros: 1,
      })
      const free = sampleKey('key_3', { parent_id: 'key_2', depth: 2 })
      await insertKeys(store, root, child, free)
      const budgets = async (): Promise<readonly unknown[]> => {
        const chain = await store.keys.chain(ACCOUNT, 'key_3')
        return chain.map(({ monthly_budget_micros }) => monthly_budget_micros)
      }
      assert.deepEqual(await budgets(), [most, 1, null])
      const found = await store.keys.findChain('hash of key_1')
      assert.equal(found?.chain[0]?.monthly_budget_micros, most)
      await store.write(async (tx) => {
        await tx.keys.update(root, { name: 'another' }, BORN)
        const secret = sampleSecret('next', { version: 2 })
        await tx.keys.rotate({ id: 'key_2', secret, previous_not_after: BORN + 1, now: BORN })
      })
      assert.deepEqual(await budgets(), [most, 1, null])
    },
  },
  {
    name: 'keys: a foreign or unknown id finds nothing',
    async run({ open }) {
      const store = await open()
      await insertKeys(store, sampleKey('key_1'))
      assert.equal(await store.keys.get(STRANGER, 'key_1'), undefined)
      assert.deepEqual(await store.keys.chain(STRANGER, 'key_1'), [])
      assert.equal(await store.keys.get(ACCOUNT, 'key_9'), undefined)
      assert.deepEqual(await store.keys.chain(ACCOUNT, 'key_9'), [])
      assert.deepEqual(await store.keys.descendants('key_9', 9, BORN), { ids: [], total: 0 })
      const page = await store.keys.list({
        account_id: STRANGER,
        live_at: null,
        within: null,
        limit: 9,
        after: null,
      })
      assert.deepEqual(page, { rows: [], more: false })
    },
  },
  {
    name: 'keys: pages run newest first and stay whole while keys are inserted',
    async run({ open }) {
      const store = await open()
      const query = { account_id: ACCOUNT, live_at: null, within: null, limit: 2 }
      await insertKeys(store, ...['key_10', 'key_11', 'key_12'].map((id) => sampleKey(id)))
      let next = 20
      const seen = await readPages(
        (after) => store.keys.list({ ...query, after }),
        () => insertKeys(store, sampleKey(`key_${next++}`)),
      )
      assert.deepEqual(seen, ['key_12', 'key_11', 'key_10'])
    },
  },
  {
    name: 'keys: live_at leaves out keys that are revoked, expired or expire at that instant, and all below',
    async run({ open }) {
      const store = await open()
      await insertKeys(
        store,
        sampleKey('key_1'),
        sampleKey('key_2', { expires_at: BORN + 10 }),
        sampleKey('key_3', { expires_at: BORN + 11 }),
        sampleKey('key_4', { revoked_at: BORN }),
        sampleKey('key_5', { parent_id: 'key_4', depth: 1 }),
        sampleKey('key_6', { parent_id: 'key_5', depth: 2 }),
      )
      const query = { account_id: ACCOUNT, within: null, limit: 9, after: null }
      const live = await store.keys.list({ ...query, live_at: BORN + 10 })
      assert.deepEqual(
        live.rows.map(({ id }) => id),
        ['key_3', 'key_1'],
      )
      const all = await store.keys.list({ ...query, live_at: null })
      assert.equal(all.rows.length, 6)
    },
  },
  {
    name: 'keys: within leaves out keys that are pinned to another app, or to none',
    async run({ open }) {
      const store = await open()
      await insertKeys(
        store,
        sampleKey('key_1'),
        sampleKey('key_2', { pins: new Set(['app_a']) }),
        sampleKey('key_3', { pins: new Set(['app_a', 'app_b']) }),
        sampleKey('key_4', { pins: new Set(['app_b', 'app_c']) }),
      )
      const query = { account_id: ACCOUNT, live_at: null, limit: 1, after: null }
      const first = await store.keys.list({ ...query, within: ['app_b', 'app_a'] })
      assert.deepEqual([first.rows.map(({ id }) => id), first.more], [['key_3'], true])
      const next = await store.keys.list({ ...query, within: ['app_a', 'app_b'], after: 'key_3' })
      assert.deepEqual([next.rows.map(({ id }) => id), next.more], [['key_2'], false])
    },
  },
  {
    name: 'findChain: answers the value’s secret and every ancestor, root first, whatever their state',
    async run({ open }) {
      const store = await open()
      const root = sampleKey('key_1', { revoked_at: BORN })
      const middle = sampleKey('key_3', { parent_id: 'key_1', depth: 1, expires_at: BORN })
      const leaf = sampleKey('key_2', {
        parent_id: 'key_3',
        depth: 2,
        version: 2,
        secrets: [
          sampleSecret('current', { version: 2 }),
          sampleSecret('before', { not_after: BORN }),
        ],
      })
      await insertKeys(store, root, middle, leaf)
      const found = await store.keys.findChain('before')
      assert.deepEqual(found?.chain, [root, middle, leaf])
      assert.deepEqual(found?.secret, leaf.secrets[1])
      assert.equal((await store.keys.findChain('current'))?.secret.version, 2)
      assert.equal(await store.keys.findChain('unknown'), undefined)
      assert.deepEqual(await store.keys.chain(ACCOUNT, 'key_2'), [root, middle, leaf])
      assert.deepEqual(await store.keys.chain(ACCOUNT, 'key_1'), [root])
    },
  },
  {
    name: 'findChain: returns whether the account is suspended; one without a record is not',
    async run({ open }) {
      const store = await open()
      await store.write(async (tx) => {
        await tx.accounts.insert(sampleAccount({ id: 'acc_s', suspended_at: BORN }))
        await tx.accounts.insert(sampleAccount({ id: 'acc_w' }))
        for (const id of ['acc_s', 'acc_w', 'acc_own']) {
          await tx.keys.insert(sampleKey(`key of ${id}`, { account_id: id }))
        }
      })
      for (const id of ['acc_s', 'acc_w', 'acc_own']) {
        const found = await store.keys.findChain(`hash of key of ${id}`)
        assert.deepEqual(found?.account, { id, suspended: id === 'acc_s' })
      }
    },
  },
  {
    name: 'descendants: the key and every key below it, the first of them and how many there are',
    async run({ open }) {
      const store = await open()
      await insertKeys(
        store,
        sampleKey('key_1'),
        sampleKey('key_2', { parent_id: 'key_1', depth: 1 }),
        sampleKey('key_3', { parent_id: 'key_1', depth: 1 }),
        sampleKey('key_4', { parent_id: 'key_3', depth: 2 }),
        sampleKey('key_5'),
      )
      const { descendants } = store.keys
      const all = { ids: ['key_1', 'key_2', 'key_3', 'key_4'], total: 4 }
      assert.deepEqual(await descendants('key_1', 4, BORN), all)
      assert.deepEqual(await descendants('key_3', 9, BORN), { ids: ['key_3', 'key_4'], total: 2 })
      assert.deepEqual(await descendants('key_1', 2, BORN), { ids: ['key_1', 'key_2'], total: 4 })
    },
  },
  {
    name: 'keys.insert: the limit of the account counts before the default, and only live keys of it',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      const insert = (id: string, byDefault: number, changes = {}) =>
        store.write((tx) => tx.keys.insert(sampleKey(id, changes), { byDefault, now }))
      // An account that is not recorded has the default.
      assert.equal(await insert('key_1', 1), true)
      assert.deepEqual(await store.keys.get(ACCOUNT, 'key_1'), sampleKey('key_1'))
      assert.equal(await insert('key_2', 1), false)
      assert.equal(await store.keys.get(ACCOUNT, 'key_2'), undefined)
      assert.equal(await insert('key_s', 1, { account_id: STRANGER }), true)
      await store.write((tx) => tx.accounts.insert(sampleAccount({ key_limit: 3 })))
      const pinned = { pins: new Set(['app_a']), expires_at: now + 1 }
      assert.equal(await insert('key_3', 1, pinned), true)
      assert.deepEqual(await store.keys.get(ACCOUNT, 'key_3'), sampleKey('key_3', pinned))
      assert.equal(await insert('key_4', 1, { parent_id: 'key_3', depth: 1 }), true)
      assert.equal(await insert('key_5', 100), false)
      // With a key those below it end.
      await store.write((tx) => tx.keys.revoke('key_3', now))
      assert.equal(await insert('key_6', 1), true)
      assert.equal(await insert('key_7', 1), true)
      assert.equal(await insert('key_8', 1), false)
      await store.write((tx) => tx.accounts.setKeyLimit(ACCOUNT, null, now))
      assert.equal(await insert('key_9', 4), true)
      assert.equal(await insert('key_a', 4), false)
    },
  },
  {
    name: 'keys.insert: of two callers for the last key one wins',
    async run(harness) {
      const [a, b] = await openRacers(harness)
      const limit = { byDefault: 1, now: harness.clock.now() }
      const won = await Promise.all(
        [a, b].map((store, at) =>
          store.write((tx) => tx.keys.insert(sampleKey(`key_${at}`), limit)),
        ),
      )
      assertOneWon(won)
    },
  },
]
