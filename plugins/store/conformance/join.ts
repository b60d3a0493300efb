import assert from 'node:assert/strict'
import type { JoinedUnit, Store } from '../contract.ts'
import type { OpenTransaction, StoreCase, StoreHarness } from './harness.ts'
import { FEED, ACCOUNT, publicationOf, sampleDelivery, sampleEvent, deliveryOf } from './samples.ts'

/** A store and a unit joined to a transaction that is open on its database. */
async function joinOne(
  harness: StoreHarness,
  store: Store,
): Promise<{ transaction: OpenTransaction; unit: JoinedUnit }> {
  const transaction = await harness.begin?.(store)
  assert.ok(transaction, 'a harness that claims join begins transactions')
  const unit = store.join?.(transaction.handle)
  assert.ok(unit, 'a store that claims join joins')
  return { transaction, unit }
}

/** Every id of the feed, read page by page after a cursor. */
async function readFeed(
  store: Store,
  after: string | null,
): Promise<{ readonly ids: readonly string[]; readonly last: string | null }> {
  const { rows } = await store.events.list({ ...FEED, after })
  return { ids: rows.map(({ id }) => id), last: rows.at(-1)?.cursor ?? after }
}

/** Resolves at the first call of a store's watch. */
function firstCall(store: Store): Promise<void> {
  return new Promise((resolve) => {
    const end = store.watch?.(() => {
      end?.()
      resolve()
    })
  })
}

export const joinCases: readonly StoreCase[] = [
  {
    name: 'join: what is published commits with the embedder’s transaction, unseen until then',
    requires: 'join',
    async run(harness) {
      const store = await harness.open()
      const { transaction, unit } = await joinOne(harness, store)
      let ran = 0
      unit.tx.afterCommit(() => ran++)
      assert.deepEqual(await unit.tx.insertPublished([publicationOf(sampleDelivery('d1'))]), [
        'stored',
      ])
      assert.notEqual(await unit.tx.events.get(ACCOUNT, 'evt_d1'), undefined)
      assert.equal(await store.events.get(ACCOUNT, 'evt_d1'), undefined)
      await transaction.commit()
      assert.equal(ran, 0)
      unit.committed()
      assert.equal(ran, 1)
      assert.deepEqual(await deliveryOf(store, 'd1'), sampleDelivery('d1'))
      assert.deepEqual((await readFeed(store, null)).ids, ['evt_d1'])
    },
  },
  {
    name: 'join: what is published rolls back with the embedder’s transaction',
    requires: 'join',
    async run(harness) {
      const store = await harness.open()
      const { transaction, unit } = await joinOne(harness, store)
      await unit.tx.insertPublished([publicationOf(sampleDelivery('d1'))])
      await transaction.rollback()
      assert.equal(await store.events.get(ACCOUNT, 'evt_d1'), undefined)
      assert.equal(await deliveryOf(store, 'd1'), undefined)
      assert.deepEqual(await store.queueHeads(), [])
      await store.publish(() => [publicationOf(sampleDelivery('d1'))])
      assert.deepEqual((await readFeed(store, null)).ids, ['evt_d1'])
    },
  },
  {
    name: 'join: what is no transaction is refused',
    requires: 'join',
    async run(harness) {
      const store = await harness.open()
      for (const handle of [undefined, null, 'BEGIN', {}, { connection: {} }]) {
        assert.throws(() => store.join?.(handle), TypeError)
      }
    },
  },
  {
    name: 'events: one that commits late is read after those that overtook it, and none is missed',
    requires: 'overlap',
    async run(harness) {
      const store = await harness.open()
      const publish = (id: string) =>
        store.publish(() => [{ event: sampleEvent(id), deliveries: [] }])
      await publish('evt_early')
      const first = await readFeed(store, null)
      const { transaction, unit } = await joinOne(harness, store)
      await unit.tx.insertPublished([{ event: sampleEvent('evt_late'), deliveries: [] }])
      await publish('evt_overtaking')
      const during = await readFeed(store, first.last)
      await transaction.commit()
      const rest = await readFeed(store, during.last)
      assert.deepEqual(first.ids, ['evt_early'])
      const seen = [...first.ids, ...during.ids, ...rest.ids]
      assert.deepEqual([...seen].sort(), ['evt_early', 'evt_late', 'evt_overtaking'])
      assert.deepEqual((await readFeed(store, null)).ids, seen)
    },
  },
  {
    name: 'events: a reader that continues after the last cursor misses none of many that commit out of order',
    requires: 'overlap',
    async run(harness) {
      const store = await harness.open()
      const seen: string[] = []
      let last: string | null = null
      const readOn = async () => {
        const page = await readFeed(store, last)
        seen.push(...page.ids)
        last = page.last
      }
      const open: OpenTransaction[] = []
      for (const number of [0, 1, 2, 3, 4, 5]) {
        const { transaction, unit } = await joinOne(harness, store)
        const event = sampleEvent(`evt_joined_${number}`)
        await unit.tx.insertPublished([{ event, deliveries: [] }])
        open.push(transaction)
        await store.publish(() => [{ event: sampleEvent(`evt_${number}`), deliveries: [] }])
        await readOn()
        // The one opened last commits first, while those before it stay open.
        if (number % 2 === 1) await open.pop()?.commit()
        await readOn()
      }
      for (const transaction of open) {
        await transaction.commit()
        await readOn()
      }
      assert.equal(seen.length, 12)
      assert.deepEqual(seen, (await readFeed(store, null)).ids)
    },
  },
  {
    name: 'publish: an id that an open transaction holds waits for it, and is judged by its end',
    requires: 'overlap',
    async run(harness) {
      const store = await harness.open()
      const event = sampleEvent('evt_mine', { supplied: true })
      const publication = (id: string) => ({
        event,
        deliveries: [sampleDelivery(id, { event_id: event.id })],
      })
      for (const end of ['rollback', 'commit'] as const) {
        const { transaction, unit } = await joinOne(harness, store)
        await unit.tx.insertPublished([publication(`d_joined_${end}`)])
        const published = store.publish(() => [publication(`d_${end}`)])
        await transaction[end]()
        const [outcome] = await published
        // The id that was rolled back is free, and kept by the time of the second.
        assert.equal(outcome, end === 'rollback' ? 'stored' : 'duplicate')
        if (end === 'rollback') await store.purge('events', event.created_at + 1, 10)
      }
      assert.notEqual(await deliveryOf(store, 'd_rollback'), undefined)
      assert.equal(await deliveryOf(store, 'd_joined_rollback'), undefined)
      assert.notEqual(await deliveryOf(store, 'd_joined_commit'), undefined)
      assert.equal(await deliveryOf(store, 'd_commit'), undefined)
    },
  },
  {
    name: 'watch: calls after a commit of a joined unit, not after a rollback, until it ends',
    requires: 'watch',
    async run(harness) {
      const store = await harness.open()
      let calls = 0
      const end = store.watch?.(() => calls++)
      const publishIn = async (id: string, how: 'commit' | 'rollback') => {
        const { transaction, unit } = await joinOne(harness, store)
        await unit.tx.insertPublished([publicationOf(sampleDelivery(id))])
        await transaction[how]()
      }
      await publishIn('d1', 'rollback')
      const notified = firstCall(store)
      assert.equal(calls, 0)
      await publishIn('d2', 'commit')
      await notified
      assert.equal(calls, 1)
      end?.()
      const again = firstCall(store)
      await publishIn('d3', 'commit')
      await again
      assert.equal(calls, 1)
    },
  },
]
