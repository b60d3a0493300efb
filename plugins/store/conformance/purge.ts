import assert from 'node:assert/strict'
import { uuid7Of } from '../../../lib/internal/uuid7.ts'
import type { PurgeKind } from '../contract.ts'
import type { StoreCase } from './harness.ts'
import { BORN, ACCOUNT, deliveryOf, idsOf, insertKeys, insertWebhooks } from './samples.ts'
import {
  outcomeOf,
  publishDeliveries,
  sampleAccount,
  sampleClaim,
  sampleDelivery,
} from './samples.ts'
import { sampleEvent, sampleKey, sampleSecret, sampleUser, sampleWebhook } from './samples.ts'

const OLD = uuid7Of(BORN, new Uint8Array(8))
const YOUNG = uuid7Of(BORN + 10, new Uint8Array(8))
const CUT = BORN + 5

export const purgeCases: readonly StoreCase[] = [
  {
    name: 'purge: events, deliveries and attempts of before an instant go, whatever their state',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      await publishDeliveries(store, sampleDelivery(OLD))
      const young = sampleDelivery(YOUNG, { created_at: BORN + 10 })
      const event = sampleEvent(young.event_id, { created_at: BORN + 10 })
      await store.publish(() => [{ event, deliveries: [young] }])
      const claimed = await store.claim(sampleClaim(now))
      const outcomes = claimed.map(({ delivery }) => outcomeOf(delivery, now))
      await store.settle(outcomes.slice(0, 1))

      const deleted = async (kind: PurgeKind) => store.purge(kind, CUT, 10)
      assert.deepEqual(
        [await deleted('attempts'), await deleted('deliveries'), await deleted('events')],
        [1, 1, 1],
      )
      assert.deepEqual(
        [await deleted('attempts'), await deleted('deliveries'), await deleted('events')],
        [0, 0, 0],
      )
      assert.equal(await deliveryOf(store, OLD), undefined)
      assert.notEqual(await deliveryOf(store, YOUNG), undefined)
      assert.notEqual(await store.events.get(ACCOUNT, event.id), undefined)
    },
  },
  {
    name: 'purge: a delivery that goes while it is under way is settled without a trace',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      await publishDeliveries(store, sampleDelivery(OLD))
      const claimed = await store.claim(sampleClaim(now))
      assert.deepEqual(idsOf(claimed), [OLD])
      await store.purge('deliveries', CUT, 10)
      const attempts = claimed.map(({ delivery }) => outcomeOf(delivery, now))
      await store.settle(attempts)
      assert.equal(await deliveryOf(store, OLD), undefined)
      assert.equal(await store.purge('attempts', CUT, 10), 0)
    },
  },
  {
    name: 'purge: no more than the limit at a time',
    async run({ open }) {
      const store = await open()
      const ids = [1, 2, 3].map((mark) => uuid7Of(BORN, new Uint8Array(8).fill(mark)))
      await publishDeliveries(store, ...ids.map((id) => sampleDelivery(id)))
      assert.deepEqual(
        [await store.purge('events', CUT, 2), await store.purge('events', CUT, 2)],
        [2, 1],
      )
    },
  },
  {
    name: 'purge: secrets, sessions and kept answers go after their end, and no others',
    async run({ open }) {
      const store = await open()
      const ending = (id: string, not_after: number | null) => ({
        id,
        encrypted: 'v1.k1.x',
        display: 'whsec_x…',
        created_at: BORN,
        not_after,
      })
      await insertKeys(
        store,
        sampleKey('key_1', {
          version: 2,
          secrets: [sampleSecret('h2', { version: 2 }), sampleSecret('h1', { not_after: BORN })],
        }),
        // Ended at once, but not long ago.
        sampleKey('key_2', {
          version: 2,
          secrets: [
            sampleSecret('h4', { version: 2, created_at: CUT }),
            sampleSecret('h3', { not_after: 0 }),
          ],
        }),
      )
      const secrets = [ending('s3', null), ending('s2', CUT), ending('s1', BORN)]
      await insertWebhooks(store, sampleWebhook('wh_1', { secrets }))
      await store.write(async (tx) => {
        await tx.accounts.insert(sampleAccount())
        await tx.accounts.insertUser(sampleUser())
        for (const [hash, expires_at] of [['a', BORN] as const, ['b', CUT] as const]) {
          const since = { created_at: BORN, seen_at: BORN, authenticated_at: BORN }
          await tx.accounts.insertSession({ ...since, hash, user_id: 'usr_1', expires_at })
          const kept = { scope: 's', fingerprint: 'f', answer: null, created_at: BORN }
          await tx.requests.claimIdempotency({ ...kept, key: hash, expires_at })
        }
      })
      for (const kind of ['key_secrets', 'webhook_secrets', 'sessions', 'idempotency'] as const) {
        assert.equal(await store.purge(kind, CUT, 10), 1, kind)
      }
      const [key] = await store.keys.chain(ACCOUNT, 'key_1')
      assert.deepEqual(
        key?.secrets.map(({ hash }) => hash),
        ['h2'],
      )
      assert.equal(await store.keys.findChain('h1'), undefined)
      assert.equal((await store.keys.findChain('h3'))?.secret.not_after, 0)
      const webhook = await store.webhooks.get(ACCOUNT, 'wh_1')
      assert.deepEqual(
        webhook?.secrets.map(({ id }) => id),
        ['s3', 's2'],
      )
      assert.equal(await store.accounts.session('a'), undefined)
      assert.notEqual(await store.accounts.session('b'), undefined)
    },
  },
]
