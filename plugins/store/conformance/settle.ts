import assert from 'node:assert/strict'
import type { HealthTally, WebhookHealth } from '../../../lib/delivery/health.ts'
import { HEALTHY, applyTally, emptyTally } from '../../../lib/delivery/health.ts'
import type { ClaimedDelivery } from '../../../lib/engine/ports.ts'
import type { Instant } from '../../../lib/time.ts'
import type { Store } from '../contract.ts'
import type { StoreCase } from './harness.ts'
import { openRacers } from './harness.ts'
import {
  ACCOUNT,
  BORN,
  insertWebhooks,
  outcomeOf,
  publishDeliveries,
  sampleClaim,
  sampleDelivery,
  sampleWebhook,
} from './samples.ts'

/** Publishes one delivery, `d1` of `wh_1`, and claims it. */
async function claimOne(store: Store, now: Instant): Promise<ClaimedDelivery> {
  await publishDeliveries(store, sampleDelivery('d1'))
  const [claimed] = await store.claim(sampleClaim(now))
  assert.ok(claimed)
  return claimed
}

const outcomeCases: readonly StoreCase[] = [
  {
    name: 'settle: records the attempt and the state that follows from it',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      const { delivery } = await claimOne(store, now)
      const retry = { status: 'pending', trigger: 'retry', next_at: now + 5000 } as const
      const failure = outcomeOf(delivery, now, retry)
      await store.settle({ attempts: [failure], tallies: [] })
      const expected = sampleDelivery('d1', { ...retry, attempts: 1, automatic: 1 })
      assert.deepEqual(await store.deliveries.get(ACCOUNT, 'wh_1', 'd1'), {
        delivery: expected,
        attempts: [failure.attempt],
      })
      const [again] = await store.claim(sampleClaim(now + 5000, { token: 'claim 2' }))
      assert.ok(again)
      const success = outcomeOf(again.delivery, now + 5000, { attempts: 2, automatic: 2 })
      await store.settle({ attempts: [success], tallies: [] })
      const done = { status: 'succeeded', trigger: 'retry', done_at: now + 5000 } as const
      assert.deepEqual(await store.deliveries.get(ACCOUNT, 'wh_1', 'd1'), {
        delivery: sampleDelivery('d1', { ...done, attempts: 2, automatic: 2 }),
        attempts: [failure.attempt, success.attempt],
      })
    },
  },
  {
    name: 'settle: an outcome under another claim changes nothing and records no attempt',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      const { delivery: late } = await claimOne(store, now)
      const [holder] = await store.claim(sampleClaim(now + 60_000, { token: 'claim 2' }))
      assert.ok(holder)
      const untouched = { delivery: holder.delivery, attempts: [] }
      await store.settle({ attempts: [outcomeOf(late, now + 60_000)], tallies: [] })
      assert.deepEqual(await store.deliveries.get(ACCOUNT, 'wh_1', 'd1'), untouched)
      const success = outcomeOf(holder.delivery, now + 60_001)
      await store.settle({ attempts: [success], tallies: [] })
      const unknown = { ...outcomeOf(late, now), delivery_id: 'd9' }
      await store.settle({ attempts: [outcomeOf(late, now + 60_002), unknown], tallies: [] })
      const settled = await store.deliveries.get(ACCOUNT, 'wh_1', 'd1')
      assert.deepEqual(settled?.attempts, [success.attempt])
      assert.equal(settled.delivery.done_at, now + 60_001)
    },
  },
  {
    name: 'settle: of callers settling one claim, or one caller trying again, one attempt is recorded',
    async run(harness) {
      const [a, b] = await openRacers(harness)
      const now = harness.clock.now()
      const { delivery } = await claimOne(a, now)
      const attempts = [outcomeOf(delivery, now)]
      await Promise.all([a, b, a].map((store) => store.settle({ attempts, tallies: [] })))
      const settled = await b.deliveries.get(ACCOUNT, 'wh_1', 'd1')
      assert.equal(settled?.attempts.length, 1)
      assert.equal(settled.delivery.status, 'succeeded')
    },
  },
  {
    name: 'settle: a late outcome fails none of its group',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      const ids = ['d1', 'd2', 'd3']
      await publishDeliveries(store, ...ids.map((id) => sampleDelivery(id)))
      const claimed = await store.claim(sampleClaim(now))
      const attempts = claimed.map(({ delivery }) =>
        outcomeOf(delivery.id === 'd2' ? { ...delivery, claim: 'late' } : delivery, now),
      )
      await store.settle({ attempts, tallies: [] })
      const counts = ids.map(async (id) => {
        const inspected = await store.deliveries.get(ACCOUNT, 'wh_1', id)
        return inspected?.attempts.length
      })
      assert.deepEqual(await Promise.all(counts), [1, 0, 1])
    },
  },
]

const AT = BORN + 1_000_000

const HEALTHS: readonly WebhookHealth[] = [
  HEALTHY,
  { consecutive_failures: 4, first_failure_at: BORN, failing_at: null },
  { consecutive_failures: 9, first_failure_at: BORN, failing_at: BORN + 5 },
]

const TALLIES: readonly HealthTally[] = [
  emptyTally('', AT),
  { ...emptyTally('', AT), failures: 1, first_failure_at: AT },
  { ...emptyTally('', AT), failures: 3, first_failure_at: AT - 50, gone: true },
  { ...emptyTally('', AT), succeeded: true, last_success_at: AT },
  {
    ...emptyTally('', AT),
    succeeded: true,
    failures: 2,
    first_failure_at: AT - 2,
    last_success_at: AT - 3,
  },
]

const healthCases: readonly StoreCase[] = [
  {
    name: 'settle: tallies fold health exactly as applyTally says, and failures are answered',
    async run({ open }) {
      const store = await open()
      const rows = HEALTHS.flatMap((health, h) =>
        TALLIES.map((tally, index) => ({ id: `wh_${h}_${index}`, health, tally })),
      )
      const before = { last_success_at: BORN + 1, last_delivery_at: BORN + 2 }
      await insertWebhooks(
        store,
        ...rows.map(({ id, health }) => sampleWebhook(id, { ...health, ...before })),
      )
      const tallies = rows.map(({ id, tally }) => ({ ...tally, webhook_id: id }))
      const answered = await store.settle({ attempts: [], tallies })
      for (const { id, health, tally } of rows) {
        const after = applyTally(health, tally)
        const expected = sampleWebhook(id, {
          ...after,
          last_success_at: tally.last_success_at ?? before.last_success_at,
          last_delivery_at: tally.last_attempt_at,
        })
        assert.deepEqual(await store.webhooks.get(ACCOUNT, id), expected)
        const told = answered.filter(({ webhook_id }) => webhook_id === id)
        const failed = { ...after, webhook_id: id, account_id: ACCOUNT }
        assert.deepEqual(told, tally.failures > 0 ? [failed] : [])
      }
    },
  },
  {
    name: 'settle: concurrent tallies of one webhook all count',
    async run(harness) {
      const [a, b] = await openRacers(harness)
      await insertWebhooks(a, sampleWebhook('wh_1'))
      const tallies = [{ ...emptyTally('wh_1', AT), failures: 2, first_failure_at: AT }]
      await Promise.all([a, b, a, b, a].map((store) => store.settle({ attempts: [], tallies })))
      const webhook = await b.webhooks.get(ACCOUNT, 'wh_1')
      assert.equal(webhook?.consecutive_failures, 10)
    },
  },
  {
    name: 'settle: a 410 is answered even where the attempt does not count up',
    async run({ open }) {
      const store = await open()
      await insertWebhooks(store, sampleWebhook('wh_1'))
      const tallies = [{ ...emptyTally('wh_1', AT), gone: true }]
      const answered = await store.settle({ attempts: [], tallies })
      assert.deepEqual(answered, [{ ...HEALTHY, webhook_id: 'wh_1', account_id: ACCOUNT }])
    },
  },
  {
    name: 'settle: a webhook that was deleted has no health to answer',
    async run({ open }) {
      const store = await open()
      const tallies = [{ ...emptyTally('wh_9', AT), failures: 1, first_failure_at: AT }]
      assert.deepEqual(await store.settle({ attempts: [], tallies }), [])
      assert.deepEqual(await store.settle({ attempts: [], tallies: [] }), [])
    },
  },
]

export const settleCases: readonly StoreCase[] = [...outcomeCases, ...healthCases]
