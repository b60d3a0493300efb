import assert from 'node:assert/strict'
import type { DeliveryStatus } from '../../../lib/delivery/state.ts'
import { MOVES, transition } from '../../../lib/delivery/transition.ts'
import type { DeliveryListQuery } from '../contract/deliveries.ts'
import type { StoreCase } from './harness.ts'
import { assertOneWon, openRacers, readPages } from './harness.ts'
import {
  ACCOUNT,
  BORN,
  STRANGER,
  deliveryOf,
  idsOf,
  outcomeOf,
  publishDeliveries,
  sampleClaim,
  sampleDelivery,
} from './samples.ts'

const ALL: DeliveryListQuery = {
  account_id: ACCOUNT,
  webhook_id: 'wh_1',
  status: null,
  event_type: null,
  event_id: null,
  apps: null,
  limit: 100,
  after: null,
}

const STATUSES: readonly DeliveryStatus[] = [
  'pending',
  'delivering',
  'succeeded',
  'exhausted',
  'blocked',
  'skipped',
  'canceled',
]

export const deliveryCases: readonly StoreCase[] = [
  {
    name: 'deliveries: a foreign account, another webhook or an unknown id finds nothing',
    async run({ open }) {
      const store = await open()
      await publishDeliveries(store, sampleDelivery('d1'))
      const expected = { delivery: sampleDelivery('d1'), attempts: [] }
      assert.deepEqual(await store.deliveries.get(ACCOUNT, 'wh_1', 'd1'), expected)
      assert.equal(await store.deliveries.get(STRANGER, 'wh_1', 'd1'), undefined)
      assert.equal(await store.deliveries.get(ACCOUNT, 'wh_2', 'd1'), undefined)
      assert.equal(await store.deliveries.get(ACCOUNT, 'wh_1', 'd9'), undefined)
      const foreign = await store.deliveries.list({ ...ALL, account_id: STRANGER })
      assert.deepEqual(foreign, { rows: [], more: false })
    },
  },
  {
    name: 'deliveries: pages run newest first and stay whole while deliveries are inserted',
    async run({ open }) {
      const store = await open()
      await publishDeliveries(store, ...['d10', 'd11', 'd12'].map((id) => sampleDelivery(id)))
      let next = 20
      const seen = await readPages(
        async (after) => {
          const { rows, more } = await store.deliveries.list({ ...ALL, limit: 2, after })
          return { rows: rows.map(({ delivery }) => delivery), more }
        },
        () => publishDeliveries(store, sampleDelivery(`d${next++}`)),
      )
      assert.deepEqual(seen, ['d12', 'd11', 'd10'])
    },
  },
  {
    name: 'deliveries: a page ends with the attempts that reach its bytes',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      await publishDeliveries(store, ...['d1', 'd2', 'd3', 'd4'].map((id) => sampleDelivery(id)))
      const outcomes = (await store.claim(sampleClaim(now))).map(({ delivery }) =>
        outcomeOf(delivery, now),
      )
      // Two bytes each in UTF-8.
      const response = 'é'.repeat(50)
      await store.settle(outcomes.map((one) => ({ ...one, attempt: { ...one.attempt, response } })))
      const list = async (query: Partial<DeliveryListQuery>) => {
        const { rows, more } = await store.deliveries.list({ ...ALL, ...query })
        return [...rows.map(({ delivery }) => delivery.id), more]
      }
      assert.deepEqual(await list({ bytes: 1 }), ['d4', true])
      assert.deepEqual(await list({ bytes: 101 }), ['d4', 'd3', true])
      assert.deepEqual(await list({ bytes: 101, after: 'd3' }), ['d2', 'd1', false])
      assert.deepEqual(await list({ bytes: 301 }), ['d4', 'd3', 'd2', 'd1', false])
    },
  },
  {
    name: 'deliveries: lists by status, event type, event and apps',
    async run({ open }) {
      const store = await open()
      await publishDeliveries(
        store,
        sampleDelivery('d1', { app_id: 'app_a' }),
        sampleDelivery('d2', { event_type: 'order.shipped', app_id: 'app_b' }),
        sampleDelivery('d3', { status: 'blocked' }),
        sampleDelivery('d4', { webhook_id: 'wh_2' }),
      )
      const list = async (query: Partial<DeliveryListQuery>) =>
        (await store.deliveries.list({ ...ALL, ...query })).rows.map(({ delivery }) => delivery.id)
      assert.deepEqual(await list({}), ['d3', 'd2', 'd1'])
      assert.deepEqual(await list({ status: 'pending' }), ['d2', 'd1'])
      assert.deepEqual(await list({ event_type: 'order.shipped' }), ['d2'])
      assert.deepEqual(await list({ event_id: 'evt_d3' }), ['d3'])
      assert.deepEqual(await list({ apps: ['app_a', 'app_c'] }), ['d1'])
      assert.deepEqual(await list({ apps: [] }), [])
      assert.deepEqual(await list({ status: 'blocked', apps: ['app_a'] }), [])
    },
  },
  {
    name: 'requestRetry: leads on only from the statuses that the table MOVES names',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      const born = STATUSES.map((status) => sampleDelivery(status, { status }))
      await publishDeliveries(store, ...born)
      for (const before of born) {
        const applies = MOVES.retry_requested.includes(before.status)
        const asked = await store.write((tx) => tx.deliveries.requestRetry(before.id, now))
        assert.equal(asked, applies, before.status)
        const state = transition(before, { type: 'retry_requested' }, now, [])
        const after = { ...before, ...state, done_at: applies ? null : before.done_at }
        assert.deepEqual(await deliveryOf(store, before.id), after)
      }
      assert.equal(await store.write((tx) => tx.deliveries.requestRetry('d9', now)), false)
    },
  },
  {
    name: 'requestRetry: of two callers one wins',
    async run(harness) {
      const [a, b] = await openRacers(harness)
      const now = harness.clock.now()
      await publishDeliveries(a, sampleDelivery('d1', { status: 'exhausted' }))
      const won = await Promise.all(
        [a, b].map((store) => store.write((tx) => tx.deliveries.requestRetry('d1', now))),
      )
      assertOneWon(won)
    },
  },
  {
    name: 'requestRetry: the delivery is due now beside first attempts and keeps its attempts',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      await publishDeliveries(store, sampleDelivery('d1'))
      const [first] = await store.claim(sampleClaim(now))
      assert.ok(first)
      const failure = outcomeOf(first.delivery, now, { status: 'exhausted', trigger: 'retry' })
      await store.settle([failure])
      await store.write((tx) => tx.deliveries.requestRetry('d1', now + 5))
      const head = { webhook_id: 'wh_1', account_id: ACCOUNT, first_due: now + 5, retry_due: null }
      assert.deepEqual(await store.queueHeads(), [head])
      const again = await store.claim(sampleClaim(now + 5, { token: 'claim 2' }))
      assert.deepEqual(idsOf(again), ['d1'])
      const [second] = again
      assert.equal(second?.delivery.trigger, 'manual')
      const success = outcomeOf(second.delivery, now + 6, { attempts: 2, automatic: 1 })
      await store.settle([success])
      const inspected = await store.deliveries.get(ACCOUNT, 'wh_1', 'd1')
      assert.deepEqual(inspected, {
        delivery: sampleDelivery('d1', {
          status: 'succeeded',
          attempts: 2,
          automatic: 1,
          trigger: 'manual',
          done_at: now + 6,
          created_at: BORN,
        }),
        attempts: [failure.attempt, success.attempt],
      })
      const listed = await store.deliveries.list(ALL)
      assert.deepEqual(listed.rows, [inspected])
    },
  },
]
