import { auditFamily } from '../../../daemon/families/audit/family.ts'
import { eventsFamily } from '../../../daemon/families/events/family.ts'
import { uuid7Of } from '../../../lib/internal/uuid7.ts'
import type { DeliveryRecord } from '../../../lib/engine/ports.ts'
import {
  BORN,
  publishDeliveries,
  sampleDelivery,
} from '../../../plugins/store/conformance/samples.ts'
import { MOST_LOOKED_AT } from '../../../plugins/store/contract/page.ts'
import { until } from '../../support/daemon.ts'
import { signal } from '../../support/signal.ts'
import type { Page } from '../../support/webhooks.ts'
import { register, shopWorld } from '../../support/webhooks.ts'
import type { AnyBody, World } from '../../support/world.ts'
import { createWorld } from '../../support/world.ts'
import type { Checks } from '../run.ts'

const RECEIVER = 'http://127.0.0.1:9/in'
const SINCE = { since: '2023-01-01T00:00:00Z', dry_run: true }

/** Events of a group, which are one commit. */
const GROUP = 1000

/** The deliveries of a webhook, oldest first, each with its event: as many as a page looks at, after `first`. */
async function fill(
  world: World,
  webhookId: string,
  first: Partial<DeliveryRecord>,
  others: Partial<DeliveryRecord>,
): Promise<void> {
  const { store } = world.platform
  for (let from = 0; from <= MOST_LOOKED_AT; from += GROUP) {
    const group = Array.from({ length: Math.min(GROUP, MOST_LOOKED_AT + 1 - from) }, (_, index) => {
      const number = from + index
      const id = uuid7Of(BORN + number, new Uint8Array(8))
      return sampleDelivery(id, {
        account_id: world.account.id,
        webhook_id: webhookId,
        event_id: `evt_${number}`,
        ...(number === 0 ? first : others),
      })
    })
    await publishDeliveries(store, ...group)
  }
}

/** Follows a list to its end; tells how its first page is, and what was found. */
async function search(world: World, path: string) {
  const found: AnyBody[] = []
  const pages: Page<AnyBody>[] = []
  let cursor = ''
  for (let more = true; more && pages.length < 5;) {
    const { status, body } = await world.request<Page<AnyBody>>('GET', path + cursor)
    if (status !== 200) throw new Error(`${path}: ${status}`)
    pages.push(body)
    found.push(...body.data)
    more = body.has_more
    cursor = `&cursor=${String(body.next_cursor)}`
  }
  const [first] = pages
  const isEmpty = first?.data.length === 0 && first.has_more
  return { found, pages, first: isEmpty ? 'an empty page with has_more' : 'a page with records' }
}

export const SEARCH_CHECKS: Checks = {
  async F38(t, saw) {
    const world = await shopWorld(t, { families: [eventsFamily] })
    await fill(world, 'wh_1', { event_type: 'app.deployed' }, { status: 'succeeded' })
    const list = await search(world, '/v1/events?type=app.deployed')
    saw(list.first)
    t.same(
      list.found.map(({ id }) => id),
      ['evt_0'],
    )
    saw('the event')
    const feed = await search(world, '/v1/events?order=asc&type=order.paid&limit=100')
    t.same(feed.found.length, 500)
    const none = await search(world, '/v1/events?order=asc&type=none&limit=1')
    t.same([none.first, none.pages.length], ['an empty page with has_more', 2])
  },

  async F39(t, saw) {
    const world = await shopWorld(t)
    const { id } = await register(world, { url: RECEIVER })
    const failed = { event_type: 'app.deployed', status: 'exhausted' } as const
    await fill(world, id, failed, { status: 'succeeded' })
    const path = `/v1/webhooks/${id}/deliveries`
    for (const filter of ['event_type=app.deployed', 'event_id=evt_0']) {
      const list = await search(world, `${path}?${filter}`)
      saw(list.first)
      t.same(
        list.found.map(({ event_id }) => event_id),
        ['evt_0'],
      )
    }
    saw('the delivery')
    const exhausted = await search(world, `${path}?status=exhausted`)
    t.same([exhausted.pages.length, exhausted.found.length], [1, 1])
    saw('at once')
  },

  async F40(t, saw) {
    const world = await createWorld(t, { families: [auditFamily] })
    const { store } = world.platform
    await store.write(async (tx) => {
      for (let number = 0; number <= MOST_LOOKED_AT; number += 1) {
        await tx.requests.insertAudit({
          id: uuid7Of(BORN + number, new Uint8Array(8)),
          account_id: world.account.id,
          at: BORN + number,
          actor_type: 'key',
          actor_id: 'key_1',
          action: number === 0 ? 'key.created' : 'key.rotated',
          target_type: 'key',
          target_id: 'key_1',
          app_id: null,
          request_id: 'req_1',
          ip: null,
          protocol: null,
          client: null,
          origins: null,
        })
      }
    })
    const list = await search(world, '/v1/audit-log?action=key.created')
    saw(list.first)
    t.equal(list.found.length, 1)
    saw('the entry')
  },

  async F41(t, saw) {
    const world = await shopWorld(t)
    const { id } = await register(world, { url: RECEIVER })
    await fill(world, 'wh_1', { event_type: 'app.deployed' }, { status: 'succeeded' })
    const { events } = world.platform.store
    let steps = 0
    const list: typeof events.list = (...asked) => {
      steps += 1
      return events.list(...asked)
    }
    Object.assign(world.platform.store, { events: { ...events, list } })
    const { body } = await world.request('POST', `/v1/webhooks/${id}/replay`, { body: SINCE })
    saw(`${steps} steps`)
    t.match(body, { queued: 1 })
    saw('1 event')
  },

  async F42(t, saw) {
    const world = await shopWorld(t)
    const { id } = await register(world, { url: RECEIVER })
    const failed = { event_type: 'app.deployed', status: 'exhausted' } as const
    await fill(world, id, failed, failed)
    const { deliveries } = world.platform.store
    let steps = 0
    const countFailed: typeof deliveries.countFailed = (...asked) => {
      steps += 1
      return deliveries.countFailed(...asked)
    }
    Object.assign(world.platform.store, { deliveries: { ...deliveries, countFailed } })
    const { body } = await world.request('POST', `/v1/webhooks/${id}/retry-failed`, { body: SINCE })
    saw(`${steps} steps`)
    t.match(body, { queued: MOST_LOOKED_AT + 1 })
    saw(`${Number(body['queued'])} deliveries`)
  },

  async F43(t, saw) {
    const world = await createWorld(t, { families: [eventsFamily] })
    const other = await world.addAccount()
    const { events } = world.platform.store
    const begun: string[] = []
    const { promise: opened, resolve: open } = signal()
    const list: typeof events.list = async (query) => {
      begun.push(query.account_id)
      if (query.account_id === world.account.id) await opened
      return events.list(query)
    }
    const { largePages } = world.platform.queues
    let asked = 0
    Object.assign(world.platform.store, { events: { ...events, list } })
    Object.assign(world.platform.queues, {
      largePages: ((turn, read) => {
        asked += 1
        return largePages(turn, read)
      }) satisfies typeof largePages,
    })
    const slow = Array.from({ length: 8 }, () => world.request('GET', '/v1/events'))
    await until('all pages are asked for', () => asked === 8)
    const late = world.request('GET', '/v1/events', { as: world.userOf(other) })
    await until('another page is asked for', () => asked === 9)
    saw(`${begun.length} at a time`)
    open()
    saw(`${(await late).status} to another account`)
    if (begun[4] === other.id) saw('the next place')
    t.same(new Set((await Promise.all(slow)).map((answer) => answer.status)), new Set([200]))
  },
}
