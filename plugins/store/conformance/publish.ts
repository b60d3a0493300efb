import assert from 'node:assert/strict'
import type { NewEvent } from '../../../lib/engine/ports.ts'
import type { StoreCase } from './harness.ts'
import { openRacers } from './harness.ts'
import {
  ACCOUNT,
  BORN,
  STRANGER,
  deliveryOf,
  publicationOf,
  publishDeliveries,
  sampleClaim,
  sampleDelivery,
  sampleEvent,
} from './samples.ts'

/** A caller's event with one delivery of its own. */
function supply(deliveryId: string, changes: Parameters<typeof sampleEvent>[1] = {}) {
  const event = sampleEvent('evt_mine', { supplied: true, ...changes })
  const { account_id } = event
  return { event, deliveries: [sampleDelivery(deliveryId, { event_id: event.id, account_id })] }
}

const bytesOf = ({ body }: Pick<NewEvent, 'body'>): readonly number[] => [...body]

const outcomeCases: readonly StoreCase[] = [
  {
    name: 'publish: deliveries are kept as they were born, claimed, skipped or for a test',
    async run({ open }) {
      const store = await open()
      const born = [
        sampleDelivery('d1'),
        sampleDelivery('d2', { status: 'delivering', claim: 'mine', next_at: BORN + 60_000 }),
        sampleDelivery('d3', { status: 'skipped' }),
        sampleDelivery('d4', { trigger: 'test', app_id: 'app_a' }),
        sampleDelivery('d5', { trigger: 'replay', next_at: BORN + 5 }),
      ]
      const outcomes = await store.publish(() => born.map(publicationOf))
      assert.deepEqual(outcomes, ['stored', 'stored', 'stored', 'stored', 'stored'])
      for (const delivery of born) {
        assert.deepEqual(await deliveryOf(store, delivery.id), delivery)
      }
    },
  },
  {
    name: 'publish: the trace of an event is claimed with it, and with nothing else',
    async run({ open }) {
      const store = await open()
      const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
      const traced = [
        { event: sampleEvent('evt_1', { traceparent }), deliveries: ['d1', 'd2'] },
        { event: sampleEvent('evt_2'), deliveries: ['d3'] },
        { event: sampleEvent('evt_3', { traceparent, supplied: true }), deliveries: ['d4'] },
        { event: sampleEvent('evt_4', { traceparent }), deliveries: [] },
      ].map(({ event, deliveries }) => ({
        event,
        deliveries: deliveries.map((id) => sampleDelivery(id, { event_id: event.id })),
      }))
      await store.publish(() => traced.slice(0, 2))
      await store.write((tx) => tx.insertPublished(traced.slice(2)))
      const claimed = await store.claim(sampleClaim(BORN))
      assert.deepEqual(
        Object.fromEntries(claimed.map((one) => [one.delivery.id, one.traceparent])),
        {
          d1: traceparent,
          d2: traceparent,
          d3: undefined,
          d4: traceparent,
        },
      )
      const read = await store.events.get(ACCOUNT, 'evt_1')
      assert.equal('traceparent' in (read ?? {}), false, 'reads do not return it')
    },
  },
  {
    name: 'publish: a supplied id twice in one group stores one event and one set of deliveries',
    async run({ open }) {
      const store = await open()
      const outcomes = await store.publish(() => [supply('d1'), supply('d2')])
      assert.deepEqual(outcomes, ['stored', 'duplicate'])
      assert.notEqual(await deliveryOf(store, 'd1'), undefined)
      assert.equal(await deliveryOf(store, 'd2'), undefined)
    },
  },
  {
    name: 'publish: a kept id with another instant is a duplicate; its first bytes and deliveries stay',
    async run({ open }) {
      const store = await open()
      const first = supply('d1')
      await store.publish(() => [first])
      const later = await store.publish(() => [supply('d2', { created_at: BORN + 5000 })])
      assert.deepEqual(later, ['duplicate'])
      const kept = await store.events.get(ACCOUNT, 'evt_mine')
      assert.ok(kept)
      assert.equal(kept.created_at, BORN)
      assert.deepEqual(bytesOf(kept), bytesOf(first.event))
      assert.equal(await deliveryOf(store, 'd2'), undefined)
    },
  },
  {
    name: 'publish: a kept id with other data, type or app is a conflict whose deliveries are dropped',
    async run({ open }) {
      const store = await open()
      const first = supply('d1')
      await store.publish(() => [first])
      const others = [{ data: { total: 13 } }, { type: 'order.shipped' }, { app_id: 'app_a' }]
      for (const changes of others) {
        assert.deepEqual(await store.publish(() => [supply('d2', changes)]), ['conflict'])
        assert.equal(await deliveryOf(store, 'd2'), undefined)
      }
      const kept = await store.events.get(ACCOUNT, 'evt_mine')
      assert.deepEqual(kept && bytesOf(kept), bytesOf(first.event))
    },
  },
  {
    name: 'publish: a kept id with shorter or longer data is a conflict, also beside the very event',
    async run({ open }) {
      const store = await open()
      const texts = { d1: 'x'.repeat(300), d2: '', d3: 'x'.repeat(900), d4: 'x'.repeat(300) }
      const [first, ...others] = Object.entries(texts).map(([id, text]) =>
        supply(id, { data: { text } }),
      )
      assert.ok(first)
      assert.deepEqual(await store.publish(() => [first]), ['stored'])
      const outcomes = await store.publish(() => others)
      assert.deepEqual(outcomes, ['conflict', 'conflict', 'duplicate'])
      const [short] = others
      assert.ok(short)
      assert.deepEqual(await store.publish(() => [short]), ['conflict'])
    },
  },
  {
    name: 'publish: one id in two accounts is two events',
    async run({ open }) {
      const store = await open()
      const group = [supply('d1'), supply('d2', { account_id: STRANGER, data: { total: 13 } })]
      assert.deepEqual(await store.publish(() => group), ['stored', 'stored'])
      assert.deepEqual(await store.publish(() => group), ['duplicate', 'duplicate'])
    },
  },
  {
    name: 'publish: a conflict fails none of the other events of its group',
    async run({ open }) {
      const store = await open()
      await store.publish(() => [supply('d1')])
      const outcomes = await store.publish(() => [
        publicationOf(sampleDelivery('d2')),
        supply('d3', { data: { total: 13 } }),
        supply('d4'),
        publicationOf(sampleDelivery('d5')),
      ])
      assert.deepEqual(outcomes, ['stored', 'conflict', 'duplicate', 'stored'])
      const { rows } = await store.deliveries.list({
        account_id: ACCOUNT,
        webhook_id: 'wh_1',
        status: null,
        event_type: null,
        event_id: null,
        apps: null,
        limit: 9,
        after: null,
      })
      assert.deepEqual(
        rows.map(({ delivery }) => delivery.id),
        ['d5', 'd2', 'd1'],
      )
    },
  },
]

const raceCases: readonly StoreCase[] = [
  {
    name: 'publish: of callers racing with one supplied id one stores it, the others are duplicates',
    async run(harness) {
      const [a, b] = await openRacers(harness)
      const outcomes = await Promise.all(
        [a, b, a, b].map((store, index) => store.publish(() => [supply(`d${index}`)])),
      )
      const winners = outcomes.flatMap(([outcome], index) => (outcome === 'stored' ? [index] : []))
      assert.equal(winners.length, 1)
      assert.equal(outcomes.flat().filter((outcome) => outcome === 'duplicate').length, 3)
      for (const index of [0, 1, 2, 3]) {
        const delivery = await deliveryOf(a, `d${index}`)
        assert.equal(delivery !== undefined, winners.includes(index))
      }
    },
  },
  {
    name: 'publish: each build is called in its turn, after the group before was committed',
    async run({ open }) {
      const store = await open()
      const committed: string[] = []
      const seen: (readonly string[])[] = []
      const publish = async (name: string): Promise<void> => {
        await store.publish(() => {
          seen.push([...committed])
          return [publicationOf(sampleDelivery(name))]
        })
        committed.push(name)
      }
      const first = publish('d1')
      // Asked for while the first group is under way.
      const others = Promise.resolve().then(() => [publish('d2'), publish('d3')])
      await Promise.all([first, ...(await others)])
      assert.equal(seen.length, 3)
      assert.deepEqual(seen[0], [])
      for (const name of ['d1', 'd2', 'd3']) {
        assert.notEqual(await deliveryOf(store, name), undefined)
      }
    },
  },
  {
    name: 'publish: a build that throws rejects its group alone',
    async run({ open }) {
      const store = await open()
      const failing = store.publish(() => {
        throw new Error('cannot build')
      })
      const next = store.publish(() => [publicationOf(sampleDelivery('d1'))])
      await assert.rejects(failing, /cannot build/)
      assert.deepEqual(await next, ['stored'])
    },
  },
  {
    name: 'publish: a group that the store refuses leaves nothing behind, and the next one commits',
    async run({ open }) {
      const store = await open()
      await publishDeliveries(store, sampleDelivery('d2'))
      const taken = { ...publicationOf(sampleDelivery('d2')), event: sampleEvent('evt_new') }
      const group = [publicationOf(sampleDelivery('d1')), taken]
      await assert.rejects(store.publish(() => group))
      assert.equal(await store.events.get(ACCOUNT, 'evt_d1'), undefined)
      assert.equal(await store.events.get(ACCOUNT, 'evt_new'), undefined)
      assert.equal(await deliveryOf(store, 'd1'), undefined)
      await publishDeliveries(store, sampleDelivery('d1'))
      assert.notEqual(await deliveryOf(store, 'd1'), undefined)
    },
  },
  {
    name: 'publish: an empty group answers nothing and writes nothing',
    async run({ open }) {
      const store = await open()
      assert.deepEqual(await store.publish(() => []), [])
      assert.deepEqual(await store.queueHeads(), [])
    },
  },
]

export const publishCases: readonly StoreCase[] = [...outcomeCases, ...raceCases]
