import assert from 'node:assert/strict'
import { toHex } from '../../../lib/internal/bytes.ts'
import type { StoreCase } from './harness.ts'
import { openRacers } from './harness.ts'
import {
  ACCOUNT,
  BORN,
  STRANGER,
  deliveryOf,
  idsOf,
  outcomeOf,
  publicationOf,
  publishDeliveries,
  sampleClaim,
  sampleDelivery,
} from './samples.ts'

const claimCases: readonly StoreCase[] = [
  {
    name: 'claim: of two callers racing for one delivery exactly one gets it',
    async run(harness) {
      const [a, b] = await openRacers(harness)
      const now = harness.clock.now()
      const ids = Array.from({ length: 20 }, (_, index) => `d${index + 10}`)
      await publishDeliveries(a, ...ids.map((id) => sampleDelivery(id)))
      const queues = [{ webhook_id: 'wh_1', limit: 7 }]
      const claims = await Promise.all(
        [a, b, a, b].map((store, index) =>
          store.claim(sampleClaim(now, { queues, token: `claim ${index}` })),
        ),
      )
      assert.deepEqual(idsOf(claims.flat()), ids)
      for (const [index, claimed] of claims.entries()) {
        for (const { delivery } of claimed) assert.equal(delivery.claim, `claim ${index}`)
      }
    },
  },
  {
    name: 'claim: answers the delivery as it now is, with the bytes to send',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      await publishDeliveries(store, sampleDelivery('d1'))
      const claim = sampleClaim(now)
      const [claimed, ...others] = await store.claim(claim)
      assert.equal(others.length, 0)
      assert.ok(claimed)
      const expected = sampleDelivery('d1', {
        status: 'delivering',
        claim: claim().token,
        next_at: claim().lease_until,
      })
      assert.deepEqual(claimed.delivery, expected)
      assert.deepEqual(await deliveryOf(store, 'd1'), expected)
      const { event } = publicationOf(sampleDelivery('d1'))
      assert.equal(toHex(claimed.body), toHex(event.body))
      assert.deepEqual(await store.claim(claim), [])
    },
  },
  {
    name: 'claim: only what is due by now, in the queues that are named',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      await publishDeliveries(
        store,
        sampleDelivery('d1', { next_at: now }),
        sampleDelivery('d2', { next_at: now + 1 }),
        sampleDelivery('d3', { webhook_id: 'wh_2' }),
        sampleDelivery('d4', { status: 'skipped' }),
      )
      assert.deepEqual(await store.claim(sampleClaim(now, { queues: [] })), [])
      assert.deepEqual(idsOf(await store.claim(sampleClaim(now))), ['d1'])
      assert.deepEqual(idsOf(await store.claim(sampleClaim(now + 1))), ['d2'])
    },
  },
  {
    name: 'claim: first attempts before retries, oldest first, at most the limit per queue',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      const retries = [sampleDelivery('r1'), sampleDelivery('r2'), sampleDelivery('r3')]
      await publishDeliveries(store, ...retries)
      const attempts = (await store.claim(sampleClaim(BORN))).map(({ delivery }) =>
        outcomeOf(delivery, BORN, {
          status: 'pending',
          trigger: 'retry',
          // The later the id, the earlier it is due.
          next_at: now - 1000 * Number(delivery.id.slice(1)),
        }),
      )
      await store.settle(attempts)
      await publishDeliveries(
        store,
        sampleDelivery('f1', { next_at: now }),
        sampleDelivery('f2', { next_at: now - 1 }),
        sampleDelivery('f3', { next_at: now - 1 }),
        sampleDelivery('o1', { webhook_id: 'wh_2' }),
        sampleDelivery('o2', { webhook_id: 'wh_2', next_at: BORN - 1 }),
      )
      const claim = async (limit: number) => {
        const queues = ['wh_1', 'wh_2'].map((webhook_id) => ({ webhook_id, limit }))
        return idsOf(await store.claim(sampleClaim(now, { queues })))
      }
      assert.deepEqual(await claim(1), ['f2', 'o2'])
      assert.deepEqual(await claim(3), ['f1', 'f3', 'o1', 'r3'])
      assert.deepEqual(await claim(1), ['r2'])
      assert.deepEqual(await claim(9), ['r1'])
    },
  },
  {
    name: 'claim: a lease that ended is claimed anew under another token; a live one is not',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      const onCreation = { status: 'delivering', claim: 'fresh', next_at: now + 60_001 } as const
      await publishDeliveries(store, sampleDelivery('d1'), sampleDelivery('d2', onCreation))
      await store.claim(sampleClaim(now, { lease_until: now + 60_000 }))
      const again = (at: number) => store.claim(sampleClaim(at, { token: 'claim 2' }))
      assert.deepEqual(await again(now + 59_999), [])
      const [claimed, ...others] = await again(now + 60_000)
      assert.equal(others.length, 0)
      assert.equal(claimed?.delivery.id, 'd1')
      assert.equal(claimed.delivery.claim, 'claim 2')
      assert.deepEqual(idsOf(await again(now + 60_001)), ['d2'])
    },
  },
  {
    name: 'claim: one that renews puts off the claims of its own process first, and no others',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      const own = `${store.claimant}.1`
      const leased = { status: 'delivering', next_at: now + 5 } as const
      await publishDeliveries(
        store,
        sampleDelivery('d1', { ...leased, claim: own }),
        sampleDelivery('d2', { ...leased, claim: 'other.1' }),
        sampleDelivery('d3', { ...leased, claim: `${store.claimant}` }),
        sampleDelivery('d4'),
      )
      const lease_until = now + 90_000
      const claimed = await store.claim(
        sampleClaim(now + 50, { lease_until, renews: true, token: 'claim 2' }),
      )
      assert.deepEqual(idsOf(claimed), ['d2', 'd3', 'd4'])
      const renewed = sampleDelivery('d1', { ...leased, claim: own, next_at: lease_until })
      assert.deepEqual(await deliveryOf(store, 'd1'), renewed)
    },
  },
  {
    name: 'claim: what is committed late is found, though later work was claimed before it',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      const due = (id: string, next_at: number) => sampleDelivery(id, { next_at })
      await publishDeliveries(store, due('d2', now - 3), due('d3', now - 2), due('d4', now - 1))
      const queues = [{ webhook_id: 'wh_1', limit: 2 }]
      const claim = (token: string) => store.claim(sampleClaim(now, { queues, token }))
      assert.deepEqual(idsOf(await claim('claim 1')), ['d2', 'd3'])
      await publishDeliveries(store, due('d1', now - 9))
      const found = [...(await claim('claim 2')), ...(await claim('claim 3'))]
      assert.deepEqual(idsOf(found), ['d1', 'd4'])
    },
  },
  {
    name: 'claim: fifty queues at once, each up to its own limit',
    async run({ open, clock }) {
      const store = await open()
      const webhooks = Array.from({ length: 50 }, (_, index) => `wh_${index}`)
      const born = webhooks.flatMap((webhook_id) =>
        [1, 2, 3].map((number) => sampleDelivery(`${webhook_id}_${number}`, { webhook_id })),
      )
      await publishDeliveries(store, ...born)
      const queues = webhooks.map((webhook_id, index) => ({ webhook_id, limit: (index % 3) + 1 }))
      const claimed = await store.claim(sampleClaim(clock.now(), { queues }))
      const expected = queues.flatMap(({ webhook_id, limit }) =>
        [1, 2, 3].slice(0, limit).map((number) => `${webhook_id}_${number}`),
      )
      assert.deepEqual(idsOf(claimed), expected.sort())
    },
  },
]

const queueCases: readonly StoreCase[] = [
  {
    name: 'queues: the heads of each webhook, first attempts and retries separately; only live work',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      const account_id = STRANGER
      await publishDeliveries(
        store,
        sampleDelivery('d1'),
        sampleDelivery('d2', { webhook_id: 'wh_2', account_id, next_at: now + 7 }),
        sampleDelivery('d3', { webhook_id: 'wh_2', account_id, next_at: now + 3 }),
        sampleDelivery('d4', { webhook_id: 'wh_3', status: 'succeeded' }),
      )
      const [claimed] = await store.claim(sampleClaim(now, { lease_until: now + 9 }))
      assert.ok(claimed)
      const first = { webhook_id: 'wh_1', account_id: ACCOUNT, first_due: now + 9, retry_due: null }
      const second = { webhook_id: 'wh_2', account_id, first_due: now + 3, retry_due: null }
      const heads = async (...ids: readonly string[]) => {
        const found = await store.queueHeads(ids.length === 0 ? undefined : ids)
        return [...found].sort((a, b) => (a.webhook_id < b.webhook_id ? -1 : 1))
      }
      assert.deepEqual(await heads(), [first, second])
      const retry = outcomeOf(claimed.delivery, now, {
        status: 'pending',
        trigger: 'retry',
        next_at: now + 5,
      })
      await store.settle([retry])
      const retried = { ...first, first_due: null, retry_due: now + 5 }
      assert.deepEqual(await heads(), [retried, second])
      assert.deepEqual(await heads('wh_1', 'wh_3', 'wh_9'), [retried])
      assert.deepEqual(await store.queueHeads([]), [])
    },
  },
  {
    name: 'recover: gives back, due now, the claims of processes that are gone, and answers how many',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      const claimed = (id: string, claim: string) =>
        sampleDelivery(id, { status: 'delivering', claim, next_at: now + 60_000 })
      const own = claimed('d2', `${store.claimant}.1`)
      const done = sampleDelivery('d4', { status: 'succeeded' })
      await publishDeliveries(store, claimed('d1', 'gone.1'), own, sampleDelivery('d3'), done)
      assert.equal(await store.recover(now), 1)
      assert.deepEqual(await deliveryOf(store, 'd1'), sampleDelivery('d1', { next_at: now }))
      assert.deepEqual(await deliveryOf(store, 'd2'), own)
      assert.deepEqual(await deliveryOf(store, 'd3'), sampleDelivery('d3'))
      assert.deepEqual(await deliveryOf(store, 'd4'), done)
    },
  },
]

export const dispatchCases: readonly StoreCase[] = [...claimCases, ...queueCases]
