import assert from 'node:assert/strict'
import { readScopes } from '../../../lib/scope/canonical.ts'
import type { KeyRotation } from '../contract/keys.ts'
import type { StoreCase } from './harness.ts'
import { assertOneWon, openRacers } from './harness.ts'
import { ACCOUNT, BORN, insertKeys, sampleKey, sampleSecret } from './samples.ts'

function rotationTo(version: number, hash: string, now: number, grace = 1000): KeyRotation {
  const secret = sampleSecret(hash, { version, created_at: now })
  return { id: 'key_1', secret, previous_not_after: now + grace, now }
}

const rotateCases: readonly StoreCase[] = [
  {
    name: 'rotate: the new value is current, the one before has its grace, older ones end at once',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      await insertKeys(store, sampleKey('key_1', { secrets: [sampleSecret('v1')] }))
      await store.write((tx) => tx.keys.rotate(rotationTo(2, 'v2', now)))
      const once = await store.keys.get(ACCOUNT, 'key_1')
      assert.equal(once?.version, 2)
      assert.equal(once.updated_at, now)
      assert.deepEqual(
        once.secrets.map(({ hash, not_after }) => [hash, not_after]),
        [
          ['v2', null],
          ['v1', now + 1000],
        ],
      )
      await store.write((tx) => tx.keys.rotate(rotationTo(3, 'v3', now + 10)))
      const twice = await store.keys.get(ACCOUNT, 'key_1')
      assert.deepEqual(
        twice?.secrets.map(({ hash, not_after }) => [hash, not_after]),
        [
          ['v3', null],
          ['v2', now + 1010],
          ['v1', now + 10],
        ],
      )
    },
  },
  {
    name: 'rotate: of two callers from the same version one wins, and the other changes nothing',
    async run(harness) {
      const [a, b] = await openRacers(harness)
      const now = harness.clock.now()
      await insertKeys(a, sampleKey('key_1'))
      const won = await Promise.all([
        a.write((tx) => tx.keys.rotate(rotationTo(2, 'of a', now))),
        b.write((tx) => tx.keys.rotate(rotationTo(2, 'of b', now))),
      ])
      assertOneWon(won)
      const [winner, loser] = won[0] ? ['of a', 'of b'] : ['of b', 'of a']
      const key = await b.keys.get(ACCOUNT, 'key_1')
      assert.deepEqual(
        key?.secrets.map(({ hash }) => hash),
        [winner, 'hash of key_1'],
      )
      assert.equal(await a.keys.findChain(loser), undefined)
    },
  },
  {
    name: 'rotate, update: a key that is revoked, expired or unknown cannot be changed',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      const dead = [
        sampleKey('key_1', { revoked_at: BORN }),
        sampleKey('key_2', { expires_at: now }),
      ]
      await insertKeys(store, ...dead)
      for (const key of [...dead, sampleKey('key_9')]) {
        const rotation = { ...rotationTo(2, `new of ${key.id}`, now), id: key.id }
        assert.equal(await store.write((tx) => tx.keys.rotate(rotation)), false)
        const renamed = await store.write((tx) => tx.keys.update(key, { name: 'new' }, now))
        assert.equal(renamed, false)
      }
      for (const key of dead) assert.deepEqual(await store.keys.get(ACCOUNT, key.id), key)
    },
  },
  {
    name: 'endPrevious: ends the value in its grace for ever; false when there is none',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      const end = (at: number) => store.write((tx) => tx.keys.endPrevious('key_1', at))
      await insertKeys(store, sampleKey('key_1'))
      assert.equal(await end(now), false)
      await store.write((tx) => tx.keys.rotate(rotationTo(2, 'v2', now)))
      assert.equal(await end(now + 1), true)
      assert.equal(await end(now + 1), false)
      const key = await store.keys.get(ACCOUNT, 'key_1')
      assert.deepEqual(
        key?.secrets.map(({ not_after }) => not_after),
        [null, 0],
      )
      assert.equal(key.version, 2)
    },
  },
]

const changeCases: readonly StoreCase[] = [
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

export const keyChangeCases: readonly StoreCase[] = [...rotateCases, ...changeCases]
