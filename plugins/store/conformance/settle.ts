import assert from 'node:assert/strict'
import type { WebhookHealth } from '../../../lib/delivery/health.ts'
import { HEALTHY, afterAttempt, isCounted } from '../../../lib/delivery/health.ts'
import type { ClaimedDelivery, DeliveryRecord, SettledAttempt } from '../../../lib/engine/ports.ts'
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
      await store.settle([failure])
      const expected = sampleDelivery('d1', { ...retry, attempts: 1, automatic: 1 })
      assert.deepEqual(await store.deliveries.get(ACCOUNT, 'wh_1', 'd1'), {
        delivery: expected,
        attempts: [failure.attempt],
      })
      const [again] = await store.claim(sampleClaim(now + 5000, { token: 'claim 2' }))
      assert.ok(again)
      const success = outcomeOf(again.delivery, now + 5000, { attempts: 2, automatic: 2 })
      await store.settle([success])
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
      await store.settle([outcomeOf(late, now + 60_000)])
      assert.deepEqual(await store.deliveries.get(ACCOUNT, 'wh_1', 'd1'), untouched)
      const success = outcomeOf(holder.delivery, now + 60_001)
      await store.settle([success])
      const unknown = { ...outcomeOf(late, now), delivery_id: 'd9' }
      await store.settle([outcomeOf(late, now + 60_002), unknown])
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
      await Promise.all([a, b, a].map((store) => store.settle(attempts)))
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
      await store.settle(attempts)
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

const RESULTS = [
  { verdict: 'succeeded', trigger: 'manual' },
  { verdict: 'failed', trigger: 'event' },
  { verdict: 'failed', trigger: 'manual' },
  { verdict: 'gone', trigger: 'retry' },
] as const
type Result = (typeof RESULTS)[number]

/** Every order of up to three of them. */
const SEQUENCES: readonly (readonly Result[])[] = [
  ...RESULTS.map((one) => [one]),
  ...RESULTS.flatMap((one) => RESULTS.map((two) => [one, two])),
  ...RESULTS.flatMap((one) => RESULTS.flatMap((two) => RESULTS.map((three) => [one, two, three]))),
]

/** A claimed delivery of a webhook, and how its attempt ended. */
function claimedOutcome(
  id: string,
  webhook_id: string,
  { verdict, trigger }: Result,
  at: Instant,
): { readonly delivery: DeliveryRecord; readonly outcome: SettledAttempt } {
  const delivery = sampleDelivery(id, { webhook_id, trigger, status: 'delivering' })
  const status = verdict === 'succeeded' ? 'succeeded' : 'exhausted'
  const outcome = outcomeOf(delivery, at, { status })
  return {
    delivery,
    outcome: { ...outcome, verdict, attempt: { ...outcome.attempt, duration: 0 } },
  }
}

const healthCases: readonly StoreCase[] = [
  {
    name: 'settle: outcomes change health exactly as afterAttempt does, in order',
    async run({ open }) {
      const store = await open()
      const rows = HEALTHS.flatMap((health, h) =>
        SEQUENCES.map((results, index) => ({ id: `wh_${h}_${index}`, health, results })),
      )
      const before = { last_success_at: BORN + 1, last_delivery_at: BORN + 2 }
      await insertWebhooks(
        store,
        ...rows.map(({ id, health }) => sampleWebhook(id, { ...health, ...before })),
      )
      const claimed = rows.flatMap(({ id, results }) =>
        results.map((one, index) => claimedOutcome(`d_${id}_${index}`, id, one, AT + index)),
      )
      await publishDeliveries(store, ...claimed.map(({ delivery }) => delivery))
      const answered = await store.settle(claimed.map(({ outcome }) => outcome))
      for (const { id, health, results } of rows) {
        const after = results.reduce<WebhookHealth>(
          (kept, one, index) => afterAttempt(kept, { ...one, at: AT + index }),
          health,
        )
        const webhook = await store.webhooks.get(ACCOUNT, id)
        assert.ok(webhook)
        const { consecutive_failures, first_failure_at, failing_at } = webhook
        assert.deepEqual({ consecutive_failures, first_failure_at, failing_at }, after, id)
        const succeeded = results.some(({ verdict }) => verdict === 'succeeded')
        assert.equal((webhook.last_success_at ?? 0) >= AT, succeeded)
        assert.ok((webhook.last_delivery_at ?? 0) >= AT)
        const isReported = results.some((one) => isCounted(one) || one.verdict === 'gone')
        const reported = answered.filter(({ webhook_id }) => webhook_id === id)
        assert.deepEqual(
          reported,
          isReported ? [{ ...after, webhook_id: id, account_id: ACCOUNT }] : [],
        )
      }
    },
  },
  {
    name: 'settle: concurrent outcomes of one webhook all count',
    async run(harness) {
      const [a, b] = await openRacers(harness)
      await insertWebhooks(a, sampleWebhook('wh_1'))
      const failure = { verdict: 'failed', trigger: 'event' } as const
      const claimed = Array.from({ length: 10 }, (_, n) =>
        claimedOutcome(`d${n}`, 'wh_1', failure, AT),
      )
      await publishDeliveries(a, ...claimed.map(({ delivery }) => delivery))
      await Promise.all(
        claimed.map(({ outcome }, index) => (index % 2 === 0 ? a : b).settle([outcome])),
      )
      const webhook = await b.webhooks.get(ACCOUNT, 'wh_1')
      assert.equal(webhook?.consecutive_failures, 10)
    },
  },
  {
    name: 'settle: a late outcome, or one that is settled twice, changes no health',
    async run({ open }) {
      const store = await open()
      await insertWebhooks(store, sampleWebhook('wh_1'))
      const failure = { verdict: 'failed', trigger: 'event' } as const
      const { delivery, outcome } = claimedOutcome('d1', 'wh_1', failure, AT)
      await publishDeliveries(store, delivery)
      assert.deepEqual(await store.settle([{ ...outcome, claim: 'late' }]), [])
      assert.equal((await store.webhooks.get(ACCOUNT, 'wh_1'))?.consecutive_failures, 0)
      for (const round of [1, 2, 3])
        await store.settle(round === 2 ? [outcome, outcome] : [outcome])
      assert.equal((await store.webhooks.get(ACCOUNT, 'wh_1'))?.consecutive_failures, 1)
    },
  },
  {
    name: 'settle: a webhook that was deleted has no health to answer',
    async run({ open }) {
      const store = await open()
      const failure = { verdict: 'failed', trigger: 'event' } as const
      const { delivery, outcome } = claimedOutcome('d1', 'wh_9', failure, AT)
      await publishDeliveries(store, delivery)
      assert.deepEqual(await store.settle([outcome]), [])
      assert.deepEqual(await store.settle([]), [])
    },
  },
]

export const settleCases: readonly StoreCase[] = [...outcomeCases, ...healthCases]
