import assert from 'node:assert/strict'
import type { DeliveryRecord } from '../../../lib/engine/ports.ts'
import type { Instant } from '../../../lib/time.ts'
import type { Store } from '../contract.ts'
import type { StoreCase } from './harness.ts'
import {
  ACCOUNT,
  BORN,
  deliveryOf,
  insertWebhooks,
  outcomeOf,
  publishDeliveries,
  sampleClaim,
  sampleDelivery,
  sampleWebhook,
} from './samples.ts'

const RETRY = { status: 'pending', trigger: 'retry', attempts: 1, automatic: 1 } as const

/** Publishes `d1`, tries it once without success, and publishes `d2`, which nobody has tried. */
async function oneTriedOneNot(store: Store, now: Instant): Promise<void> {
  await insertWebhooks(store, sampleWebhook('wh_1'))
  await publishDeliveries(store, sampleDelivery('d1'))
  const [claimed] = await store.claim(sampleClaim(now))
  assert.ok(claimed)
  await store.settle([outcomeOf(claimed.delivery, now, { ...RETRY, next_at: now })])
  await publishDeliveries(store, sampleDelivery('d2'))
}

const disable = (store: Store, now: Instant): Promise<boolean> =>
  store.write((tx) => tx.disableWebhook('wh_1', 'manual', now))

async function endsOf(store: Store): Promise<readonly (readonly unknown[])[]> {
  const ends = (one: DeliveryRecord | undefined) => [
    one?.status,
    one?.end_reason,
    one?.next_at,
    one?.done_at,
    one?.claim,
  ]
  return [ends(await deliveryOf(store, 'd1')), ends(await deliveryOf(store, 'd2'))]
}

/** What a disabled webhook ends: exhausted where it had failed, skipped where it was never tried. */
export const disabledCases: readonly StoreCase[] = [
  {
    name: 'disable: what had failed is exhausted with its reason, what was never tried is skipped',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      await oneTriedOneNot(store, now)
      assert.equal(await disable(store, now + 1), true)
      assert.deepEqual(await endsOf(store), [
        ['exhausted', 'webhook_disabled', null, now + 1, null],
        ['skipped', null, null, now + 1, null],
      ])
    },
  },
  {
    name: 'release: of a disabled webhook, likewise',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      await oneTriedOneNot(store, now)
      const claimed = await store.claim(sampleClaim(now, { token: 'claim 2' }))
      assert.equal(claimed.length, 2)
      await disable(store, now)
      const held = claimed.map(({ delivery }) => ({ delivery_id: delivery.id, claim: 'claim 2' }))
      await store.release(held, now + 1)
      assert.deepEqual(await endsOf(store), [
        ['exhausted', 'webhook_disabled', null, now + 1, null],
        ['skipped', null, null, now + 1, null],
      ])
    },
  },
  {
    name: 'settle: a failure whose webhook was disabled meanwhile ends it, a success is a success',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      await insertWebhooks(store, sampleWebhook('wh_1'))
      await publishDeliveries(store, sampleDelivery('d1'), sampleDelivery('d2'))
      const [first, second] = await store.claim(sampleClaim(BORN))
      assert.ok(first && second)
      await disable(store, now)
      const failed = outcomeOf(first.delivery, now, { ...RETRY, next_at: now + 5000 })
      await store.settle([failed, outcomeOf(second.delivery, now)])
      assert.deepEqual(await endsOf(store), [
        ['exhausted', 'webhook_disabled', null, now + failed.attempt.duration, null],
        ['succeeded', null, null, now, null],
      ])
      const kept = await store.deliveries.get(ACCOUNT, 'wh_1', 'd1')
      assert.deepEqual(kept?.attempts, [failed.attempt])
    },
  },
  {
    name: 'requestRetry, requestRetries: what is tried again has no reason to have ended',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      await oneTriedOneNot(store, now)
      await disable(store, now)
      await store.write((tx) => tx.deliveries.requestRetry('d1', now))
      assert.deepEqual(await endsOf(store).then(([first]) => first?.slice(0, 2)), ['pending', null])
      await store.write((tx) => tx.webhooks.enable('wh_1', now))
      await disable(store, now)
      assert.equal((await deliveryOf(store, 'd1'))?.end_reason, 'webhook_disabled')
      const all = {
        account_id: ACCOUNT,
        webhook_id: 'wh_1',
        since: 0,
        until: 2 ** 48 - 1,
        apps: null,
        types: null,
      }
      const failed = { ...all, after: null, limit: 9 }
      await store.write((tx) => tx.deliveries.requestRetries(failed, now))
      const [claimed] = await store.claim(sampleClaim(now, { token: 'claim 3' }))
      assert.equal(claimed?.delivery.end_reason, null)
    },
  },
]
