import assert from 'node:assert/strict'
import { MAX_LIVE_SECRETS } from '../../../lib/key/lifecycle.ts'
import type { Store } from '../contract.ts'
import type { KeyRotation, RotationOutcome } from '../contract/keys.ts'
import type { StoreCase } from './harness.ts'
import { assertOneWon, openRacers } from './harness.ts'
import { ACCOUNT, BORN, insertKeys, sampleKey, sampleSecret } from './samples.ts'

/** @param grace 0 ends the value that is replaced at once */
function rotationTo(version: number, hash: string, now: number, grace = 1000): KeyRotation {
  const secret = sampleSecret(hash, { version, created_at: now })
  return { id: 'key_1', secret, previous_not_after: grace === 0 ? 0 : now + grace, now }
}

const rotate = (store: Store, rotation: KeyRotation): Promise<RotationOutcome> =>
  store.write((tx) => tx.keys.rotate(rotation))

/** Each value that the key lists, with its end, newest first. */
async function endsOf(store: Store): Promise<readonly (readonly [string, number | null])[]> {
  const key = await store.keys.get(ACCOUNT, 'key_1')
  return (key?.secrets ?? []).map(({ hash, not_after }) => [hash, not_after] as const)
}

/** When a value ends, by its own row. */
async function endOf(store: Store, hash: string): Promise<number | null | undefined> {
  return (await store.keys.findChain(hash))?.secret.not_after
}

/** Rotates a new key until as many values as may be are live: `v1` to `v5`. */
async function fill(store: Store, now: number): Promise<void> {
  await insertKeys(store, sampleKey('key_1', { secrets: [sampleSecret('v1')] }))
  for (let version = 2; version <= MAX_LIVE_SECRETS; version += 1) {
    assert.equal(await rotate(store, rotationTo(version, `v${version}`, now)), 'rotated')
  }
}

export const keyRotationCases: readonly StoreCase[] = [
  {
    name: 'rotate: the new value is current, and every earlier one keeps its own end',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      await insertKeys(store, sampleKey('key_1', { secrets: [sampleSecret('v1')] }))
      assert.equal(await rotate(store, rotationTo(2, 'v2', now)), 'rotated')
      const once = await store.keys.get(ACCOUNT, 'key_1')
      assert.equal(once?.version, 2)
      assert.equal(once.updated_at, now)
      await rotate(store, rotationTo(3, 'v3', now + 10, 5))
      await rotate(store, rotationTo(4, 'v4', now + 11, 0))
      assert.deepEqual(await endsOf(store), [
        ['v4', null],
        ['v2', now + 15],
        ['v1', now + 1000],
      ])
      assert.equal(await endOf(store, 'v3'), 0)
    },
  },
  {
    name: 'rotate: a sixth live value is refused and changes nothing; grace 0 adds none',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      await fill(store, now)
      const before = await store.keys.get(ACCOUNT, 'key_1')
      assert.equal(await rotate(store, rotationTo(6, 'v6', now + 1)), 'limit_reached')
      assert.deepEqual(await store.keys.get(ACCOUNT, 'key_1'), before)
      assert.equal(await store.keys.findChain('v6'), undefined)
      assert.equal(await rotate(store, rotationTo(6, 'v6', now + 1, 0)), 'rotated')
      assert.equal(await rotate(store, rotationTo(7, 'v7', now + 1)), 'limit_reached')
      assert.equal(await rotate(store, rotationTo(7, 'v7', now + 1000)), 'rotated')
    },
  },
  {
    name: 'rotate: what had ended stays ended, also when the clock is set back',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      await fill(store, now)
      await rotate(store, rotationTo(6, 'v6', now + 5000))
      const end = now + 6000
      assert.deepEqual(await endsOf(store), [
        ['v6', null],
        ['v5', end],
      ])
      for (const hash of ['v4', 'v3', 'v2', 'v1']) assert.equal(await endOf(store, hash), 0)
    },
  },
  {
    name: 'rotate: a key that is rotated over and over lists its current value alone, and each of the others is found',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      await insertKeys(store, sampleKey('key_1', { secrets: [sampleSecret('v1')] }))
      for (let version = 2; version <= 30; version += 1) {
        assert.equal(await rotate(store, rotationTo(version, `v${version}`, now, 0)), 'rotated')
      }
      assert.deepEqual(await endsOf(store), [['v30', null]])
      const query = { account_id: ACCOUNT, live_at: now, limit: 1, after: null, within: null }
      const [listed] = (await store.keys.list(query)).rows
      assert.deepEqual(
        listed?.secrets.map(({ hash }) => hash),
        ['v30'],
      )
      for (const version of [1, 15, 29]) {
        const found = await store.keys.findChain(`v${version}`)
        assert.deepEqual([found?.secret.version, found?.secret.not_after], [version, 0])
        assert.equal(found?.chain.at(-1)?.version, 30)
      }
      assert.equal((await store.keys.findChain('v30'))?.secret.not_after, null)
    },
  },
  {
    name: 'rotate: of two callers from the same version one wins, and the other changes nothing',
    async run(harness) {
      const [a, b] = await openRacers(harness)
      const now = harness.clock.now()
      await insertKeys(a, sampleKey('key_1'))
      const outcomes = await Promise.all([
        rotate(a, rotationTo(2, 'of a', now)),
        rotate(b, rotationTo(2, 'of b', now)),
      ])
      assertOneWon(outcomes.map((outcome) => outcome === 'rotated'))
      assert.ok(outcomes.includes('conflict'))
      const [winner, loser] = outcomes[0] === 'rotated' ? ['of a', 'of b'] : ['of b', 'of a']
      assert.deepEqual(
        (await endsOf(b)).map(([hash]) => hash),
        [winner, 'hash of key_1'],
      )
      assert.equal(await a.keys.findChain(loser), undefined)
    },
  },
  {
    name: 'rotate: however many callers rotate at once, at most five values are live',
    async run(harness) {
      const [a, b] = await openRacers(harness)
      const now = harness.clock.now()
      await insertKeys(a, sampleKey('key_1', { secrets: [sampleSecret('v1')] }))
      const outcomes: RotationOutcome[] = []
      const rotateAgain = async (store: Store, name: string): Promise<void> => {
        for (let turn = 0; turn < 6; turn += 1) {
          const version = (await store.keys.get(ACCOUNT, 'key_1'))?.version ?? 0
          outcomes.push(await rotate(store, rotationTo(version + 1, `${name}${turn}`, now)))
        }
      }
      await Promise.all([rotateAgain(a, 'a'), rotateAgain(b, 'b')])
      const won = outcomes.filter((outcome) => outcome === 'rotated').length
      assert.equal(won, MAX_LIVE_SECRETS - 1)
      assert.ok(outcomes.includes('limit_reached'))
      const live = (await endsOf(a)).filter(([, end]) => end === null || end > now)
      assert.equal(live.length, MAX_LIVE_SECRETS)
      assert.equal(live.filter(([, end]) => end === null).length, 1)
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
        assert.equal(await rotate(store, rotation), 'conflict')
        const renamed = await store.write((tx) => tx.keys.update(key, { name: 'new' }, now))
        assert.equal(renamed, false)
      }
      for (const key of dead) assert.deepEqual(await store.keys.get(ACCOUNT, key.id), key)
    },
  },
  {
    name: 'endPrevious: ends every previous value for ever; false when there is none',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      const end = (at: number) => store.write((tx) => tx.keys.endPrevious('key_1', at))
      await fill(store, now)
      assert.equal(await end(now + 1), true)
      assert.equal(await end(now + 1), false)
      assert.deepEqual(await endsOf(store), [['v5', null]])
      for (const hash of ['v4', 'v3', 'v2', 'v1']) assert.equal(await endOf(store, hash), 0)
      assert.equal((await store.keys.get(ACCOUNT, 'key_1'))?.version, 5)
      assert.equal(await rotate(store, rotationTo(6, 'v6', now + 1)), 'rotated')
    },
  },
]
