import assert from 'node:assert/strict'
import type { DeliveryRecord } from '../../../lib/engine/ports.ts'
import { uuid7Of } from '../../../lib/internal/uuid7.ts'
import type { FailedStep } from '../contract/deliveries.ts'
import { MOST_ATTEMPTS } from '../contract/deliveries.ts'
import type { StoreCase } from './harness.ts'
import { openRacers } from './harness.ts'
import { ACCOUNT, BORN, STRANGER, deliveryOf, idsOf, publishDeliveries } from './samples.ts'
import { outcomeOf, sampleClaim, sampleDelivery } from './samples.ts'

/** The id of a delivery that was born some milliseconds after the samples. */
const at = (millis: number, mark = 0): string =>
  uuid7Of(BORN + millis, new Uint8Array(8).fill(mark))

const FAILED: FailedStep = {
  account_id: ACCOUNT,
  webhook_id: 'wh_1',
  since: BORN,
  until: BORN + 10,
  apps: null,
  types: null,
  after: null,
}

const replayed = (id: string, event: string): DeliveryRecord =>
  sampleDelivery(id, { event_id: event, trigger: 'replay' })

/** Sending again what was sent before, or before the webhook was made. */
export const againCases: readonly StoreCase[] = [
  {
    name: 'requestRetries: what failed between two instants is due again, behind first attempts',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      const failures = ['exhausted', 'blocked', 'skipped'] as const
      await publishDeliveries(
        store,
        ...failures.map((status, index) => sampleDelivery(at(index + 1), { status })),
        sampleDelivery(at(4), { status: 'succeeded' }),
        sampleDelivery(at(5), { status: 'canceled' }),
        sampleDelivery(at(-1), { status: 'exhausted' }),
        sampleDelivery(at(10), { status: 'exhausted' }),
        sampleDelivery(at(6), { status: 'exhausted', webhook_id: 'wh_2' }),
        sampleDelivery(at(7), { status: 'exhausted', account_id: STRANGER }),
      )
      assert.deepEqual(await store.deliveries.countFailed(FAILED), { count: 3, next: null })
      const ask = (after: string | null) =>
        store.write((tx) => tx.deliveries.requestRetries({ ...FAILED, after, limit: 2 }, now))
      assert.deepEqual(await ask(null), { ids: [at(1), at(2)], next: at(2) })
      assert.deepEqual(await ask(at(2)), { ids: [at(3)], next: null })
      assert.equal((await store.deliveries.countFailed(FAILED)).count, 0)
      assert.deepEqual(await ask(null), { ids: [], next: null })
      const pending = { status: 'pending', trigger: 'replay', next_at: now, done_at: null } as const
      assert.deepEqual(await deliveryOf(store, at(2)), sampleDelivery(at(2), pending))
      const [head] = await store.queueHeads(['wh_1'])
      assert.deepEqual([head?.first_due, head?.retry_due], [null, now])
      assert.deepEqual(idsOf(await store.claim(sampleClaim(now))), [at(1), at(2), at(3)])
    },
  },
  {
    name: 'requestRetry, requestRetries: what has had as many attempts as it may gets no more',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      await publishDeliveries(store, ...[1, 2, 3].map((millis) => sampleDelivery(at(millis))))
      const claimed = await store.claim(sampleClaim(now))
      await store.settle(
        claimed.map(({ delivery }) => {
          const attempts = delivery.id === at(1) ? MOST_ATTEMPTS : MOST_ATTEMPTS - 1
          return outcomeOf(delivery, now, { status: 'exhausted', trigger: 'retry', attempts })
        }),
      )
      const retry = (id: string) => store.write((tx) => tx.deliveries.requestRetry(id, now))
      assert.equal(await retry(at(1)), false)
      assert.equal(await retry(at(3)), true)
      assert.equal((await store.deliveries.countFailed(FAILED)).count, 1)
      const asked = store.write((tx) => tx.deliveries.requestRetries({ ...FAILED, limit: 9 }, now))
      assert.deepEqual((await asked).ids, [at(2)])
    },
  },
  {
    name: 'requestRetries: only deliveries of the apps named',
    async run({ open, clock }) {
      const store = await open()
      await publishDeliveries(
        store,
        sampleDelivery(at(1), { status: 'exhausted', app_id: 'app_a' }),
        sampleDelivery(at(2), { status: 'exhausted' }),
      )
      const query = { ...FAILED, apps: ['app_a'] }
      assert.equal((await store.deliveries.countFailed(query)).count, 1)
      const page = { ...query, after: null, limit: 9 }
      const asked = store.write((tx) => tx.deliveries.requestRetries(page, clock.now()))
      assert.deepEqual((await asked).ids, [at(1)])
    },
  },
  {
    name: 'requestRetries: only deliveries of events of the types named',
    async run({ open, clock }) {
      const store = await open()
      const status = 'exhausted'
      await publishDeliveries(
        store,
        sampleDelivery(at(1), { status, event_type: 'order.paid' }),
        sampleDelivery(at(2), { status, event_type: 'app.deployed' }),
      )
      const query = { ...FAILED, types: ['app.deployed'] }
      assert.equal((await store.deliveries.countFailed(query)).count, 1)
      const page = { ...query, after: null, limit: 9 }
      const asked = store.write((tx) => tx.deliveries.requestRetries(page, clock.now()))
      assert.deepEqual((await asked).ids, [at(2)])
      assert.equal((await store.deliveries.countFailed({ ...FAILED, types: [] })).count, 0)
    },
  },
  {
    name: 'hasUnfinishedBeyond: a pending delivery of another type, of another app or of none',
    async run({ open }) {
      const store = await open()
      await publishDeliveries(
        store,
        sampleDelivery(at(1), { event_type: 'order.paid', app_id: 'app_a' }),
        sampleDelivery(at(2), { event_type: 'app.deployed', status: 'exhausted' }),
        sampleDelivery(at(3), { webhook_id: 'wh_2' }),
      )
      const { hasUnfinishedBeyond } = store.deliveries
      const free = { types: null, apps: null }
      assert.equal(await hasUnfinishedBeyond('wh_1', free), false)
      assert.equal(await hasUnfinishedBeyond('wh_1', { ...free, types: ['order.paid'] }), false)
      assert.equal(await hasUnfinishedBeyond('wh_1', { ...free, types: ['app.deployed'] }), true)
      assert.equal(await hasUnfinishedBeyond('wh_1', { ...free, types: [] }), true)
      assert.equal(await hasUnfinishedBeyond('wh_1', { ...free, apps: ['app_a'] }), false)
      assert.equal(await hasUnfinishedBeyond('wh_1', { ...free, apps: ['app_b'] }), true)
      assert.equal(await hasUnfinishedBeyond('wh_2', { ...free, apps: ['app_a'] }), true)
      assert.equal(await hasUnfinishedBeyond('wh_9', { types: [], apps: [] }), false)
    },
  },
  {
    name: 'ofEvents: finds the deliveries of events to that webhook alone',
    async run({ open }) {
      const store = await open()
      const delivery = sampleDelivery(at(1), { event_id: 'evt_a' })
      await publishDeliveries(
        store,
        delivery,
        sampleDelivery(at(2), { event_id: 'evt_b', webhook_id: 'wh_2' }),
      )
      const events = ['evt_a', 'evt_b', 'evt_c'].map((id) => ({ id, created_at: BORN }))
      const { ofEvents } = store.deliveries
      assert.deepEqual(await ofEvents('wh_1', events, null), { deliveries: [delivery], next: null })
      const none = { deliveries: [], next: null }
      assert.deepEqual(await ofEvents('wh_1', events.slice(1), null), none)
      assert.deepEqual(await ofEvents('wh_9', events, null), none)
    },
  },
  {
    name: 'insertReplayed: of two replays of an event one delivery is kept',
    async run(harness) {
      const [a, b] = await openRacers(harness)
      const made = [replayed(at(1), 'evt_a'), replayed(at(2), 'evt_b')]
      const inserted = await Promise.all(
        [a, b].map((store) => store.write((tx) => tx.deliveries.insertReplayed(made))),
      )
      assert.deepEqual(new Set(inserted), new Set([0, 2]))
      assert.deepEqual(await deliveryOf(b, at(1)), made[0])
      const [head] = await b.queueHeads(['wh_1'])
      assert.deepEqual([head?.first_due, head?.retry_due], [null, BORN])
    },
  },
]
