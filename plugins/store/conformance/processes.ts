import assert from 'node:assert/strict'
import type { RunningPart } from '../../other-process.ts'
import { withOtherProcess } from '../../other-process.ts'
import type { Store } from '../contract.ts'
import { AFTER, BEFORE, changeEverything, look, openWithOne } from './changes.ts'
import type { StoreCase, StoreHarness } from './harness.ts'
import { claimAll, publishAll } from './parts.ts'
import { deliveryOf, publishDeliveries, sampleDelivery } from './samples.ts'

const PARTS = new URL('./parts.js', import.meta.url).href
const MANY = 60

/** Runs a part on the harness's store in another process, which is killed at the end. */
function beside<T>(
  harness: StoreHarness,
  part: readonly [name: string, input: unknown],
  work: (other: RunningPart) => Promise<T>,
): Promise<T> {
  assert.ok(harness.otherProcess, 'a harness of this capability has otherProcess')
  return withOtherProcess(harness.otherProcess(), [PARTS, ...part], work)
}

/** Opens the store again, after another process changed it and was killed. */
function reopen(harness: StoreHarness, work: () => Promise<void>): Promise<Store> {
  assert.ok(harness.reopen, 'a harness that is durable has reopen')
  return harness.reopen(work)
}

const durableCases: readonly StoreCase[] = [
  {
    name: 'durable: what was committed is there when the store is opened again',
    requires: 'durable',
    async run(harness) {
      const store = await openWithOne(harness)
      await store.write(changeEverything)
      const again = await reopen(harness, async () => undefined)
      assert.deepEqual(await look(again), AFTER)
      assert.equal((await deliveryOf(again, 'd1'))?.status, 'pending')
      assert.deepEqual(await claimAll(again, { now: harness.clock.now(), token: 'again' }), [
        'd1',
        'd2',
      ])
    },
  },
  {
    name: 'durable: what a process committed is there after SIGKILL',
    requires: 'durable',
    async run(harness) {
      await openWithOne(harness)
      const again = await reopen(harness, () =>
        beside(harness, ['commit', null], async (other) => {
          assert.equal(await other.said(), 'committed')
        }),
      )
      assert.deepEqual(await look(again), AFTER)
    },
  },
  {
    name: 'durable: a unit whose process is killed leaves nothing behind',
    requires: 'durable',
    async run(harness) {
      await openWithOne(harness)
      const again = await reopen(harness, () =>
        beside(harness, ['begin', null], async (other) => {
          assert.equal(await other.said(), 'changed')
        }),
      )
      assert.deepEqual(await look(again), BEFORE)
      await again.write(changeEverything)
      assert.deepEqual(await look(again), AFTER)
    },
  },
]

const sharedCases: readonly StoreCase[] = [
  {
    name: 'many processes: each delivery is claimed by one of two that claim at once',
    requires: 'manyProcesses',
    async run(harness) {
      const store = await openWithOne(harness)
      const ids = Array.from({ length: MANY }, (_, index) => `e${index + 10}`)
      await publishDeliveries(store, ...ids.map((id) => sampleDelivery(id)))
      const now = harness.clock.now()
      await beside(harness, ['claim', { now, token: 'other' }], async (other) => {
        assert.equal(await other.said(), 'open')
        const own = await claimAll(store, { now, token: 'own' })
        const others = (await other.said()) as readonly string[]
        assert.deepEqual([...own, ...others].sort(), ids)
      })
    },
  },
  {
    name: 'many processes: each supplied id is stored by one of two that publish at once',
    requires: 'manyProcesses',
    async run(harness) {
      const store = await openWithOne(harness)
      const ids = Array.from({ length: MANY }, (_, index) => `e${index + 10}`)
      await beside(harness, ['publish', ids], async (other) => {
        assert.equal(await other.said(), 'open')
        const own = await publishAll(store, ids)
        const others = (await other.said()) as readonly string[]
        assert.deepEqual([...own, ...others].sort(), ids)
      })
    },
  },
  {
    name: 'many processes: a unit whose process is killed leaves nothing, and holds up nobody',
    requires: 'manyProcesses',
    async run(harness) {
      const store = await openWithOne(harness)
      await beside(harness, ['begin', null], async (other) => {
        assert.equal(await other.said(), 'changed')
      })
      await store.write(changeEverything)
      assert.deepEqual(await look(store), AFTER)
    },
  },
]

export const processCases: readonly StoreCase[] = [...durableCases, ...sharedCases]
