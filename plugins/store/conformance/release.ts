import assert from 'node:assert/strict'
import type { StoreCase } from './harness.ts'
import {
  BORN,
  deliveryOf,
  idsOf,
  insertWebhooks,
  publishDeliveries,
  sampleClaim,
  sampleDelivery,
  sampleWebhook,
} from './samples.ts'

export const releaseCases: readonly StoreCase[] = [
  {
    name: 'release: releases what has the claim, due now, and ignores every other',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      await insertWebhooks(store, sampleWebhook('wh_1'))
      const other = sampleDelivery('d2', { status: 'delivering', claim: 'other' })
      await publishDeliveries(store, sampleDelivery('d1'), other, sampleDelivery('d3'))
      const queues = [{ webhook_id: 'wh_1', limit: 1 }]
      await store.claim(sampleClaim(BORN, { queues }))
      const held = ['d1', 'd2', 'd3', 'd9'].map((delivery_id) => ({
        delivery_id,
        claim: 'claim 1',
      }))
      await store.release(held, now)
      await store.release([], now)
      assert.deepEqual(await deliveryOf(store, 'd1'), sampleDelivery('d1', { next_at: now }))
      assert.deepEqual(await deliveryOf(store, 'd2'), other)
      assert.deepEqual(await deliveryOf(store, 'd3'), sampleDelivery('d3'))
    },
  },
  {
    name: 'release: a deleted webhook’s are canceled, which were committed after it went',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      await publishDeliveries(store, sampleDelivery('d1'))
      const [claimed] = await store.claim(sampleClaim(BORN))
      assert.ok(claimed)
      await store.release([{ delivery_id: 'd1', claim: 'claim 1' }], now)
      const canceled = sampleDelivery('d1', { status: 'canceled', done_at: now })
      assert.deepEqual(await deliveryOf(store, 'd1'), canceled)
      assert.deepEqual(await store.queueHeads(), [])
    },
  },
  {
    name: 'release: a disabled webhook’s become skipped',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      await insertWebhooks(store, sampleWebhook('wh_1'), sampleWebhook('wh_2'))
      await publishDeliveries(
        store,
        sampleDelivery('d1'),
        sampleDelivery('d2', { webhook_id: 'wh_2' }),
      )
      const queues = ['wh_1', 'wh_2'].map((webhook_id) => ({ webhook_id, limit: 1 }))
      await store.claim(sampleClaim(BORN, { queues }))
      await store.write((tx) => tx.disableWebhook('wh_1', 'manual', now))
      const held = ['d1', 'd2'].map((delivery_id) => ({ delivery_id, claim: 'claim 1' }))
      await store.release(held, now + 1)
      const skipped = sampleDelivery('d1', { status: 'skipped', done_at: now + 1 })
      assert.deepEqual(await deliveryOf(store, 'd1'), skipped)
      const pending = sampleDelivery('d2', { webhook_id: 'wh_2', next_at: now + 1 })
      assert.deepEqual(await deliveryOf(store, 'd2', 'wh_2'), pending)
    },
  },
  {
    name: 'disclaim: hands back whatever a claim took, first attempts and others, and nothing else',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      await insertWebhooks(store, sampleWebhook('wh_1'), sampleWebhook('wh_2'))
      const replayed = sampleDelivery('d2', {
        trigger: 'replay',
        event_id: sampleDelivery('d1').event_id,
      })
      const elsewhere = sampleDelivery('d3', { webhook_id: 'wh_2' })
      await publishDeliveries(store, sampleDelivery('d1'), elsewhere)
      await store.write((tx) => tx.deliveries.insertReplayed([replayed]))
      const queues = [{ webhook_id: 'wh_2', limit: 10 }]
      const lost = sampleClaim(BORN)()
      const kept = sampleClaim(BORN, { queues, token: 'claim 2' })
      assert.deepEqual(idsOf(await store.claim(() => lost)), ['d1', 'd2'])
      assert.deepEqual(idsOf(await store.claim(kept)), ['d3'])
      const ofBoth = { ...lost, queues: [...lost.queues, ...queues] }
      await store.disclaim(ofBoth, now)
      await store.disclaim(ofBoth, now + 1)
      assert.deepEqual(await deliveryOf(store, 'd1'), sampleDelivery('d1', { next_at: now }))
      assert.deepEqual(await deliveryOf(store, 'd2'), { ...replayed, next_at: now })
      const { lease_until: next_at, token } = kept()
      const held = { ...elsewhere, status: 'delivering', claim: token, next_at }
      assert.deepEqual(await deliveryOf(store, 'd3', 'wh_2'), held)
    },
  },
]
