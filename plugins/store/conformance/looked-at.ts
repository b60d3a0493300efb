import assert from 'node:assert/strict'
import { uuid7Of } from '../../../lib/internal/uuid7.ts'
import type { DeliveryListQuery, FailedStep, Step } from '../contract/deliveries.ts'
import type { EventListQuery } from '../contract/events.ts'
import type { Page } from '../contract/page.ts'
import type { AuditRecord } from '../contract/requests.ts'
import type { Store } from '../contract.ts'
import type { StoreCase } from './harness.ts'
import { ACCOUNT, BORN, FEED, publishDeliveries, sampleDelivery, sampleEvent } from './samples.ts'

/** Rows that a page of these cases looks at. */
const MOST = 3

/** A store that leads on without end must fail. */
const MOST_PAGES = 20

/** What each page of a list shows, by the ids of its rows, following the pages to the end. */
export async function follow<T>(
  list: (after: string | null) => Promise<Page<T>>,
  idOf: (row: T) => string,
  cursorOf: (row: T) => string = idOf,
): Promise<readonly (readonly string[])[]> {
  const pages: (readonly string[])[] = []
  for (let after: string | null = null; pages.length < MOST_PAGES;) {
    const { rows, more, next } = await list(after)
    pages.push(rows.map(idOf))
    if (!more) return pages
    const last = rows.at(-1)
    after = next ?? (last && cursorOf(last)) ?? assert.fail('a page that leads on says where')
  }
  return assert.fail('the pages have no end')
}

/** Every step to the end. */
async function stepThrough<T extends Step>(
  take: (after: string | null) => Promise<T>,
): Promise<readonly T[]> {
  const steps: T[] = []
  for (let after: string | null = null; steps.length < MOST_PAGES;) {
    const step: T = await take(after)
    steps.push(step)
    after = step.next
    if (after === null) return steps
  }
  return assert.fail('the steps have no end')
}

const idOf = ({ id }: { readonly id: string }): string => id

/** Ten of a noun, numbered so that their ids sort in the order of their making. */
const TEN = Array.from({ length: 10 }, (_, index) => index)

/** The third and the fourth, and the last but one. */
const isRare = (index: number): boolean => [2, 3, 8].includes(index)

const publishTen = (store: Store) =>
  Promise.all(
    TEN.map((index) =>
      store.publish(() => [
        {
          event: sampleEvent(`evt_${index}`, {
            type: isRare(index) ? 'order.lost' : 'order.paid',
            app_id: isRare(index) ? 'app_a' : null,
            created_at: BORN + index,
          }),
          deliveries: [],
        },
      ]),
    ),
  )

const DELIVERIES: DeliveryListQuery = {
  account_id: ACCOUNT,
  webhook_id: 'wh_1',
  status: null,
  event_type: null,
  event_id: null,
  apps: null,
  limit: 100,
  after: null,
}

const AUDIT: AuditRecord = {
  id: 'aud_0',
  account_id: ACCOUNT,
  at: BORN,
  actor_type: 'user',
  actor_id: 'usr_1',
  action: 'key.created',
  target_type: 'key',
  target_id: 'key_1',
  app_id: null,
  request_id: 'req_1',
  ip: null,
  protocol: null,
  client: null,
  origins: null,
}

const at = (millis: number): string => uuid7Of(BORN + millis, new Uint8Array(8))

const FAILED: FailedStep = {
  account_id: ACCOUNT,
  webhook_id: 'wh_1',
  since: BORN,
  until: BORN + 100,
  apps: null,
  types: null,
  after: null,
}

/** Failed deliveries of two types, and between them some that did not fail. */
const publishFailed = (store: Store) =>
  publishDeliveries(
    store,
    ...TEN.map((index) =>
      sampleDelivery(at(index), {
        status: 'exhausted',
        event_type: isRare(index) ? 'order.lost' : 'order.paid',
      }),
    ),
    ...TEN.map((index) => sampleDelivery(at(20 + index), { status: 'succeeded' })),
  )

/** A page or a step looks at so many rows at most, and whoever goes on finds everything once. */
export const lookedAtCases: readonly StoreCase[] = [
  {
    name: 'events: a filtered page looks at so many events, and one that finds less leads on',
    async run({ open }) {
      const store = await open()
      await publishTen(store)
      const all = (await store.events.list(FEED)).rows.map(idOf)
      const rare = (await store.events.list({ ...FEED, types: ['order.lost'] })).rows.map(idOf)
      const pagesOf = (query: Partial<EventListQuery>) =>
        follow(
          (after) => store.events.list({ ...FEED, ...query, after }, MOST),
          idOf,
          ({ cursor }) => cursor,
        )
      /** What is looked at for each page, in either order, of which the rare ones are found. */
      const looked = (ids: readonly string[], keep: (id: string) => boolean) =>
        [0, 3, 6, 9].map((from) => ids.slice(from, from + MOST).filter(keep))
      const isFound = (id: string) => rare.includes(id)
      assert.equal(rare.length, 3)
      for (const bodies of [true, false]) {
        const lost = { types: ['order.lost'], bodies }
        assert.deepEqual(await pagesOf(lost), looked(all, isFound))
        const newestFirst = await pagesOf({ ...lost, order: 'desc' })
        assert.deepEqual(newestFirst, looked(all.toReversed(), isFound))
        assert.deepEqual(await pagesOf({ types: ['none'], bodies }), [[], [], [], []])
        assert.deepEqual(await pagesOf({ apps: ['app_b'], bodies }), [[], [], [], []])
        assert.deepEqual((await pagesOf({ ...lost, limit: 1 })).flat(), rare)
        assert.deepEqual((await pagesOf({ apps: ['app_a'], bodies })).flat(), rare)
        assert.deepEqual(
          (await pagesOf({ since: BORN + 2, until: BORN + 4, bodies })).flat().sort(),
          ['evt_2', 'evt_3'],
        )
      }
      const large = await pagesOf({ types: ['order.lost', 'order.paid'], bytes: 1 })
      assert.deepEqual(
        large.filter((ids) => ids.length > 0),
        all.map((id) => [id]),
      )
    },
  },
  {
    name: 'deliveries: a filtered page looks at so many deliveries, and one that finds less leads on',
    async run({ open }) {
      const store = await open()
      await publishDeliveries(
        store,
        ...TEN.map((index) =>
          sampleDelivery(`d${index}`, {
            status: isRare(index) ? 'blocked' : 'pending',
            event_type: isRare(index) ? 'order.lost' : 'order.paid',
            event_id: `evt_${index}`,
            app_id: isRare(index) ? 'app_a' : null,
          }),
        ),
        ...TEN.map((index) => sampleDelivery(`x${index}`, { webhook_id: 'wh_2' })),
      )
      const pagesOf = (query: Partial<DeliveryListQuery>) =>
        follow(
          (after) => store.deliveries.list({ ...DELIVERIES, ...query, after }, MOST),
          ({ delivery }) => delivery.id,
        )
      const sparse = [['d8'], [], ['d3', 'd2'], []]
      assert.deepEqual(await pagesOf({ event_type: 'order.lost' }), sparse)
      assert.deepEqual(await pagesOf({ apps: ['app_a'] }), sparse)
      assert.deepEqual(await pagesOf({ event_id: 'evt_0' }), [[], [], [], ['d0']])
      assert.deepEqual(await pagesOf({ status: 'succeeded' }), [[], [], [], []])
      const two = await pagesOf({ event_type: 'order.lost', limit: 1 })
      assert.deepEqual(two.flat(), ['d8', 'd3', 'd2'])
      const failed = await pagesOf({ status: 'blocked' })
      assert.deepEqual(failed, [['d8', 'd3', 'd2'], []], 'an index leads to those that failed')
      const few = await pagesOf({ status: 'blocked', event_type: 'order.paid' })
      assert.deepEqual(few, [[], []])
    },
  },
  {
    name: 'requestRetries, countFailed: a step looks at so many failed deliveries and leads on',
    async run({ open, clock }) {
      const store = await open()
      await publishFailed(store)
      const lost = { ...FAILED, types: ['order.lost'] }
      const counts = await stepThrough((after) =>
        store.deliveries.countFailed({ ...lost, after }, MOST),
      )
      assert.deepEqual(
        counts.map(({ count }) => count),
        [1, 1, 1, 0],
      )
      const retries = await stepThrough((after) =>
        store.write((tx) =>
          tx.deliveries.requestRetries({ ...lost, after, limit: 2 }, clock.now(), MOST),
        ),
      )
      const steps = retries.map(({ ids }) => ids)
      assert.deepEqual(steps.flat(), [at(2), at(3), at(8)])
      assert.ok(steps.some((ids) => ids.length === 0))
      assert.equal((await store.deliveries.countFailed(lost)).count, 0)
      assert.equal((await store.deliveries.countFailed(FAILED)).count, 7)
    },
  },
  {
    name: 'ofEvents: a step looks at so many deliveries and leads on',
    async run({ open }) {
      const store = await open()
      const ten = TEN.map((index) => sampleDelivery(at(index), { event_id: `evt_${index}` }))
      await publishDeliveries(store, ...ten)
      const events = ['evt_0', 'evt_9', 'evt_x'].map((id) => ({ id, created_at: BORN }))
      for (const most of [1, 2, 5, 9, 10, 11]) {
        const steps: (readonly string[])[] = []
        let after: string | null = null
        do {
          const step: Awaited<ReturnType<typeof store.deliveries.ofEvents>> =
            await store.deliveries.ofEvents('wh_1', events, after, most)
          steps.push(step.deliveries.map(({ id }) => id))
          after = step.next
        } while (after !== null)
        assert.deepEqual(steps.flat(), [at(0), at(9)])
        assert.equal(steps.length, Math.floor(TEN.length / most) + 1)
      }
    },
  },
  {
    name: 'audit: a filtered page looks at so many rows and leads on',
    async run({ open }) {
      const store = await open()
      await store.write(async (tx) => {
        for (const index of TEN) {
          const action = isRare(index) ? 'key.revoked' : 'key.created'
          await tx.requests.insertAudit({ ...AUDIT, id: `aud_${index}`, action })
        }
      })
      const found = (noun: string) => [[`${noun}_8`], [], [`${noun}_3`, `${noun}_2`], []]
      const audit = { account_id: ACCOUNT, action: null, actor_id: null, target_id: null }
      const entries = (query: object) =>
        follow(
          (after) => store.requests.audit({ ...audit, ...query, limit: 100, after }, MOST),
          idOf,
        )
      assert.deepEqual(await entries({ action: 'key.revoked' }), found('aud'))
      assert.deepEqual(await entries({ target_id: 'none' }), [[], [], [], []])
    },
  },
]
