import assert from 'node:assert/strict'
import { readScopes } from '../../../lib/scope/canonical.ts'
import type { StoreCase } from './harness.ts'
import { assertOneWon, openRacers } from './harness.ts'
import { ACCOUNT, insertKeys, sampleKey } from './samples.ts'

export const keyChangeCases: readonly StoreCase[] = [
  {
    name: 'update: changes the named columns alone',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      const key = sampleKey('key_1', { expires_at: now + 50, pins: new Set(['app_a']) })
      await insertKeys(store, key, sampleKey('key_2'))
      const renamed = { ...key, name: 'Deploy', updated_at: now }
      const narrowed = { ...renamed, scopes: readScopes('apps:read'), expires_at: now + 9 }
      const update = (judged: typeof key, changes: object) =>
        store.write((tx) => tx.keys.update(judged, changes, now))
      assert.equal(await update(key, { name: 'Deploy' }), true)
      assert.deepEqual(await store.keys.get(ACCOUNT, 'key_1'), renamed)
      const { scopes, expires_at } = narrowed
      assert.equal(await update(renamed, { scopes, expires_at }), true)
      assert.deepEqual(await store.keys.get(ACCOUNT, 'key_1'), narrowed)
      assert.equal(await update(narrowed, { expires_at: null }), true)
      assert.equal((await store.keys.get(ACCOUNT, 'key_1'))?.expires_at, null)
      assert.deepEqual(await store.keys.get(ACCOUNT, 'key_2'), sampleKey('key_2'))
    },
  },
  {
    name: 'update: a change judged against older scopes or an older expiry is refused',
    async run(harness) {
      const [a, b] = await openRacers(harness)
      const now = harness.clock.now()
      const judged = sampleKey('key_1')
      await insertKeys(a, judged)
      const won = await Promise.all([
        a.write((tx) => tx.keys.update(judged, { scopes: readScopes('apps:read') }, now)),
        b.write((tx) => tx.keys.update(judged, { scopes: readScopes('keys:read') }, now)),
      ])
      assertOneWon(won)
      const kept = await a.keys.get(ACCOUNT, 'key_1')
      assert.deepEqual(kept?.scopes, readScopes(won[0] ? 'apps:read' : 'keys:read'))
      const older = { ...kept, expires_at: now + 5 }
      assert.equal(await b.write((tx) => tx.keys.update(older, { name: 'new' }, now)), false)
      assert.deepEqual(await a.keys.get(ACCOUNT, 'key_1'), kept)
    },
  },
  {
    name: 'revoke: of two callers one wins, and the first instant stays',
    async run(harness) {
      const [a, b] = await openRacers(harness)
      const now = harness.clock.now()
      await insertKeys(a, sampleKey('key_1'))
      const won = await Promise.all([
        a.write((tx) => tx.keys.revoke('key_1', now)),
        b.write((tx) => tx.keys.revoke('key_1', now + 1)),
      ])
      assertOneWon(won)
      const at = won[0] ? now : now + 1
      const expected = sampleKey('key_1', { revoked_at: at, updated_at: at })
      assert.deepEqual(await b.keys.get(ACCOUNT, 'key_1'), expected)
      assert.equal(await a.write((tx) => tx.keys.revoke('key_9', now)), false)
    },
  },
  {
    name: 'touch: an instant only ever moves forward; unknown keys are passed over',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      await insertKeys(store, sampleKey('key_1'), sampleKey('key_2', { last_used_at: now }))
      const touch = (...uses: readonly { id: string; at: number }[]) =>
        store.write((tx) => tx.keys.touch(uses))
      await touch({ id: 'key_1', at: now }, { id: 'key_2', at: now - 1 }, { id: 'key_9', at: now })
      const used = async (id: string) => (await store.keys.get(ACCOUNT, id))?.last_used_at
      assert.equal(await used('key_1'), now)
      assert.equal(await used('key_2'), now)
      await touch({ id: 'key_1', at: now - 5 }, { id: 'key_2', at: now + 5 })
      assert.equal(await used('key_1'), now)
      assert.equal(await used('key_2'), now + 5)
    },
  },
]
