import assert from 'node:assert/strict'
import { toHex } from '../../../lib/internal/bytes.ts'
import type { EventListQuery, EventTypeListQuery } from '../contract/events.ts'
import type { Store } from '../contract.ts'
import type { StoreCase } from './harness.ts'
import { openRacers } from './harness.ts'
import { ACCOUNT, BORN, STRANGER, deliveryOf, publicationOf, publishDeliveries } from './samples.ts'
import { FEED, sampleClaim, sampleDelivery, sampleEvent } from './samples.ts'

async function listIds(store: Store, query: Partial<EventListQuery>): Promise<readonly string[]> {
  const { rows } = await store.events.list({ ...FEED, ...query })
  return rows.map(({ id }) => id)
}

const TYPE = {
  account_id: ACCOUNT,
  type: 'order.paid',
  description: 'An order was paid.',
  schema: '{"type":"object"}',
  sample: null,
  created_at: BORN,
  updated_at: BORN,
}

const TYPES: EventTypeListQuery = { account_id: ACCOUNT, after: null, limit: 100 }

const readCases: readonly StoreCase[] = [
  {
    name: 'events: bodies come back as the same bytes, invalid UTF-8 included',
    async run({ open, clock }) {
      const store = await open()
      const everyByte = Uint8Array.from({ length: 256 }, (_, byte) => byte)
      const bodies = [everyByte, Uint8Array.of(0), Uint8Array.of(0xff, 0xfe, 0x22, 0x00, 0xc3)]
      await store.publish(() =>
        bodies.map((body, index) => ({
          event: { ...sampleEvent(`evt_${index}`), body },
          deliveries: [sampleDelivery(`d${index}`, { event_id: `evt_${index}` })],
        })),
      )
      const claimed = await store.claim(sampleClaim(clock.now()))
      for (const [index, body] of bodies.entries()) {
        const event = await store.events.get(ACCOUNT, `evt_${index}`)
        assert.equal(toHex(event?.body ?? Uint8Array.of()), toHex(body))
        const sent = claimed.find(({ delivery }) => delivery.id === `d${index}`)
        assert.equal(toHex(sent?.body ?? Uint8Array.of()), toHex(body))
      }
    },
  },
  {
    name: 'events: an event comes back as it was published; a foreign or unknown id finds nothing',
    async run({ open }) {
      const store = await open()
      const { supplied, ...event } = sampleEvent('evt_1', { app_id: 'app_a' })
      await store.publish(() => [{ event: { ...event, supplied }, deliveries: [] }])
      const found = await store.events.get(ACCOUNT, 'evt_1')
      assert.ok(found)
      const { cursor, body, ...columns } = found
      assert.deepEqual({ ...columns, body: toHex(body) }, { ...event, body: toHex(event.body) })
      assert.match(cursor, /^[\w-]{1,80}$/)
      assert.ok(store.events.isCursor(cursor))
      assert.equal(await store.events.get(STRANGER, 'evt_1'), undefined)
      assert.equal(await store.events.get(ACCOUNT, 'evt_2'), undefined)
      assert.deepEqual(await listIds(store, { account_id: STRANGER }), [])
    },
  },
  {
    name: 'events: lists in the order of commits either way, whatever their ids, by type and apps',
    async run({ open }) {
      const store = await open()
      const publish = (id: string, changes: object = {}) =>
        store.publish(() => [{ event: sampleEvent(id, changes), deliveries: [] }])
      await publish('evt_3', { app_id: 'app_a' })
      await publish('evt_1', { app_id: 'app_b', type: 'order.shipped' })
      await publish('evt_2')
      assert.deepEqual(await listIds(store, {}), ['evt_3', 'evt_1', 'evt_2'])
      assert.deepEqual(await listIds(store, { order: 'desc' }), ['evt_2', 'evt_1', 'evt_3'])
      assert.deepEqual(await listIds(store, { types: ['order.shipped'] }), ['evt_1'])
      assert.deepEqual(await listIds(store, { types: [] }), [])
      assert.deepEqual(await listIds(store, { since: BORN + 1 }), [])
      assert.deepEqual(await listIds(store, { until: BORN }), [])
      assert.deepEqual((await listIds(store, { since: BORN, until: BORN + 1 })).length, 3)
      assert.deepEqual(await listIds(store, { apps: ['app_a', 'app_b'] }), ['evt_3', 'evt_1'])
      assert.deepEqual(await listIds(store, { apps: [] }), [])
      const outline = await store.events.list({ ...FEED, bodies: false })
      assert.deepEqual(
        outline.rows.map(({ id }) => id),
        ['evt_3', 'evt_1', 'evt_2'],
      )
      assert.ok(outline.rows.every(({ body }) => body.length === 0))
      const first = await store.events.list({ ...FEED, limit: 2 })
      assert.equal(first.more, true)
      const after = first.rows.at(-1)?.cursor ?? null
      assert.deepEqual(await listIds(store, { after }), ['evt_2'])
      assert.deepEqual(await listIds(store, { after, order: 'desc' }), ['evt_3'])
    },
  },
  {
    name: 'events: a page ends with the body that reaches its bytes, and goes on after it',
    async run({ open }) {
      const store = await open()
      for (const [index, size] of [10, 500, 10, 10].entries()) {
        const event = { ...sampleEvent(`evt_${index}`), body: new Uint8Array(size).fill(120) }
        await store.publish(() => [{ event, deliveries: [] }])
      }
      const pages: (readonly string[])[] = []
      let after: string | null = null
      for (let more = true; more && pages.length < 9;) {
        const page = await store.events.list({ ...FEED, after, limit: 3, bytes: 20 })
        pages.push(page.rows.map(({ id, body }) => `${id} ${body.length}`))
        after = page.rows.at(-1)?.cursor ?? after
        more = page.more
      }
      assert.deepEqual(pages, [
        ['evt_0 10', 'evt_1 500'],
        ['evt_2 10', 'evt_3 10'],
      ])
      const one = await store.events.list({ ...FEED, order: 'desc', bytes: 1 })
      assert.deepEqual(
        one.rows.map(({ id }) => id),
        ['evt_3'],
      )
      assert.equal(one.more, true)
      assert.deepEqual(await listIds(store, { bytes: 530 }), ['evt_0', 'evt_1', 'evt_2', 'evt_3'])
    },
  },
  {
    name: 'events: the last cursor is after everything committed before, and before everything committed later',
    async run({ open }) {
      const store = await open()
      const publish = (id: string) =>
        store.publish(() => [{ event: sampleEvent(id), deliveries: [] }])
      const none = await store.events.lastCursor()
      for (const id of ['evt_1', 'evt_2']) await publish(id)
      const last = await store.events.lastCursor()
      await publish('evt_3')
      const { rows } = await store.events.list(FEED)
      assert.ok(store.events.isCursor(last))
      const upTo = (cursor: string) => rows.map((row) => store.events.isCursor(row.cursor, cursor))
      assert.deepEqual(upTo(none), [false, false, false])
      assert.deepEqual(upTo(last), [true, true, false])
      assert.deepEqual(upTo(rows[0]?.cursor ?? ''), [true, false, false])
      assert.equal(store.events.isCursor('no cursor', last), false)
    },
  },
  {
    name: 'events: a reader that continues after the last cursor misses none that is published meanwhile',
    async run(harness) {
      const [a, b] = await openRacers(harness)
      let isPublished = false
      const publishing = Array.from({ length: 30 }, (_, index) =>
        (index % 2 === 0 ? a : b).publish(() => [
          { event: sampleEvent(`evt_${index}`), deliveries: [] },
        ]),
      )
      const readOn = async () => {
        const seen: string[] = []
        let after: string | null = null
        for (let ended = false; !ended;) {
          const isLast = isPublished
          const { rows } = await b.events.list({ ...FEED, after, limit: 4 })
          seen.push(...rows.map(({ id }) => id))
          after = rows.at(-1)?.cursor ?? after
          // A store that answers the same rows again must fail, not go on for ever.
          ended = (isLast && rows.length === 0) || seen.length > publishing.length
        }
        return seen
      }
      const published = Promise.all(publishing).finally(() => {
        isPublished = true
      })
      const [, seen] = await Promise.all([published, readOn()])
      assert.deepEqual(seen, await listIds(a, {}))
      assert.equal(seen.length, 30)
    },
  },
]

const writeCases: readonly StoreCase[] = [
  {
    name: 'putType: replaces a declaration, keeps its first instant, and answers what is kept',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      const put = (type: typeof TYPE) => store.write((tx) => tx.events.putType(type))
      assert.deepEqual(await put(TYPE), TYPE)
      const again = { ...TYPE, description: 'Paid.', created_at: now, updated_at: now }
      const kept = { ...again, created_at: BORN }
      assert.deepEqual(await put(again), kept)
      const { rows } = await store.events.types(TYPES)
      assert.deepEqual(rows, [kept])
    },
  },
  {
    name: 'putType: at the limit a new type is not declared, and what is declared may be declared anew',
    async run({ open }) {
      const store = await open()
      const put = async (type: string, most: number, account_id = ACCOUNT) =>
        (await store.write((tx) => tx.events.putType({ ...TYPE, type, account_id }, most)))?.type
      assert.equal(await put('order.paid', 0), undefined)
      assert.equal(await put('order.paid', 2), 'order.paid')
      assert.equal(await put('audit.done', 1, ''), 'audit.done')
      assert.equal(await put('order.sent', 2), 'order.sent')
      assert.equal(await put('order.lost', 2), undefined)
      assert.equal(await put('order.sent', 2), 'order.sent')
      assert.equal(await put('order.lost', 1, STRANGER), 'order.lost')
      assert.deepEqual(await store.events.typeNames(ACCOUNT), [
        'audit.done',
        'order.paid',
        'order.sent',
      ])
    },
  },
  {
    name: 'types: those of the account and of the operator, by name, and nobody else’s',
    async run({ open }) {
      const store = await open()
      const ours = { ...TYPE, type: 'order.shipped', description: 'Ours.' }
      await store.write(async (tx) => {
        await tx.events.putType(ours)
        await tx.events.putType({ ...ours, description: 'Of all.', account_id: '' })
        await tx.events.putType({ ...TYPE, type: 'audit.done', account_id: '' })
        await tx.events.putType({ ...TYPE, type: 'foreign.type', account_id: STRANGER })
      })
      const own = await store.events.types(TYPES)
      const done = { ...TYPE, type: 'audit.done', account_id: '' }
      assert.deepEqual(own, { rows: [done, ours], more: false })
      assert.deepEqual(await store.events.typeNames(ACCOUNT), ['audit.done', 'order.shipped'])
      const all = await store.events.types({ ...TYPES, account_id: '' })
      assert.deepEqual(
        all.rows.map(({ type, description }) => `${type}: ${description}`),
        [`audit.done: ${TYPE.description}`, 'order.shipped: Of all.'],
      )
      assert.deepEqual(await store.events.typeNames(''), ['audit.done', 'order.shipped'])
    },
  },
  {
    name: 'types: without documents, names and descriptions alone, page by page',
    async run({ open }) {
      const store = await open()
      const wide = { ...TYPE, schema: '{"type":"object"}', sample: '{"a":1}' }
      await store.write(async (tx) => {
        for (const type of ['one.a', 'one.b', 'one.c']) {
          await tx.events.putType({ ...wide, type, account_id: '' })
        }
        await tx.events.putType({ ...wide, type: 'one.b', description: 'Ours.' })
      })
      const outline = { ...wide, schema: null, sample: null, created_at: 0, updated_at: 0 }
      const list = (after: string | null) =>
        store.events.types({ ...TYPES, documents: false, after, limit: 2 })
      assert.deepEqual(await list(null), {
        rows: [
          { ...outline, type: 'one.a', account_id: '' },
          { ...outline, type: 'one.b', description: 'Ours.' },
        ],
        more: true,
      })
      const rest = { ...outline, type: 'one.c', account_id: '' }
      assert.deepEqual(await list('one.b'), { rows: [rest], more: false })
    },
  },
  {
    name: 'types: a page ends by count, and with the type that reaches its bytes',
    async run({ open }) {
      const store = await open()
      await store.write(async (tx) => {
        for (const [index, size] of [10, 500, 10, 10].entries()) {
          const type = { ...TYPE, type: `one.t${index}`, schema: 'x'.repeat(size / 2) }
          // The operator's declaration of the same name is no second type.
          await tx.events.putType({ ...type, account_id: '' })
          await tx.events.putType({ ...type, sample: 'x'.repeat(size / 2) })
        }
      })
      const pages: (readonly string[])[] = []
      let after: string | null = null
      for (let more = true; more && pages.length < 9;) {
        const page = await store.events.types({ ...TYPES, after, limit: 3, bytes: 20 })
        pages.push(page.rows.map(({ type }) => type))
        after = page.rows.at(-1)?.type ?? after
        more = page.more
      }
      assert.deepEqual(pages, [
        ['one.t0', 'one.t1'],
        ['one.t2', 'one.t3'],
      ])
      const counted = await store.events.types({ ...TYPES, limit: 3 })
      assert.deepEqual([counted.rows.length, counted.more], [3, true])
    },
  },
  {
    name: 'insert: events commit with their unit of work, judged as publish judges them',
    async run({ open }) {
      const store = await open()
      const event = sampleEvent('evt_1', { supplied: true })
      await store.publish(() => [{ event, deliveries: [] }])
      const outcomes = await store.write((tx) =>
        tx.insertPublished([
          { event, deliveries: [sampleDelivery('d1', { event_id: 'evt_1' })] },
          publicationOf(sampleDelivery('d2')),
          { event: sampleEvent('evt_1', { supplied: true, data: { total: 13 } }), deliveries: [] },
        ]),
      )
      assert.deepEqual(outcomes, ['duplicate', 'stored', 'conflict'])
      assert.equal(await deliveryOf(store, 'd1'), undefined)
      assert.deepEqual(await deliveryOf(store, 'd2'), sampleDelivery('d2'))
    },
  },
  {
    name: 'insert: a unit that rejects takes its events and deliveries back',
    async run({ open }) {
      const store = await open()
      await publishDeliveries(store, sampleDelivery('d1'))
      const failing = store.write(async (tx) => {
        await tx.insertPublished([publicationOf(sampleDelivery('d2'))])
        throw new Error('changed my mind')
      })
      await assert.rejects(failing, /changed my mind/)
      assert.deepEqual(await listIds(store, {}), ['evt_d1'])
      assert.equal(await deliveryOf(store, 'd2'), undefined)
    },
  },
]

export const eventCases: readonly StoreCase[] = [...readCases, ...writeCases]
