import t from 'tap'
import { eventsFamily } from '../../daemon/families/events/family.ts'
import { webhooksFamily } from '../../daemon/families/webhooks/family.ts'
import { MINUTE } from '../../lib/time.ts'
import { createClock } from '../support/clock.ts'
import { declare, listed, publish, publishAll, shopWorld, told } from '../support/shop-events.ts'
import type { Event } from '../support/shop-events.ts'
import type { Page } from '../support/webhooks.ts'
import type { AnyBody, Asker } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

await t.test('events are listed newest first, page by page, by type', async (t) => {
  const world = await shopWorld(t)
  const types = Array.from({ length: 25 }, (_, at) => (at % 5 === 0 ? 'order.sent' : 'order.paid'))
  const items = await publishAll(
    world,
    types.map((type) => ({ type, data: {} })),
  )
  const ids = items.map(({ id }) => String(id)).reverse()
  const first = await listed(world)
  t.same(
    first.data.map(({ id }) => id),
    ids.slice(0, 20),
    '20 when no limit is given',
  )
  t.equal(first.has_more, true)
  await publish(world)
  const rest = await listed(world, `?cursor=${first.next_cursor ?? ''}`)
  t.same(
    rest.data.map(({ id }) => id),
    ids.slice(20),
    'what is new moves no page',
  )
  t.match(rest, { has_more: false, next_cursor: null })
  const sent = await listed(world, '?type=order.sent&limit=3')
  t.same(
    sent.data.map(({ type }) => type),
    Array<string>(3).fill('order.sent'),
  )
  const more = await listed(world, `?type=order.sent&cursor=${sent.next_cursor ?? ''}`)
  t.equal(more.data.length, 2)
  t.same(await listed(world, '?type=order.lost'), { data: [], has_more: false, next_cursor: null })

  await world.mintKey({ scopes: ['*:*'] })
  await world.mintKey({ scopes: ['*:*'] })
  const keys = await world.request<Page<AnyBody>>('GET', '/v1/keys?limit=1')
  const stranger = world.userOf(await world.addAccount())
  const numberless = Buffer.from(first.next_cursor ?? '', 'base64url')
    .toString()
    .slice(0, 12)
  const foreign: readonly (readonly [string, Asker])[] = [
    [`?cursor=${keys.body.next_cursor ?? ''}`, world.user],
    [`?cursor=${sent.next_cursor ?? ''}`, world.user],
    [`?type=order.paid&cursor=${sent.next_cursor ?? ''}`, world.user],
    [`?cursor=${first.next_cursor ?? ''}`, stranger],
    [`?cursor=${Buffer.from(`${numberless}abc`).toString('base64url')}`, world.user],
    [`?cursor=${Buffer.from(`${numberless}-1`).toString('base64url')}`, world.user],
    [`?cursor=${Buffer.from(`${numberless}${'9'.repeat(40)}`).toString('base64url')}`, world.user],
  ]
  for (const [query, as] of foreign) {
    const refused = await world.request('GET', `/v1/events${query}`, { as })
    t.equal(told(refused), '400 invalid_cursor', query)
  }
})

await t.test(
  'events are found by types, app and time, and a cursor keeps its filters',
  async (t) => {
    const clock = createClock(Date.UTC(2026, 0, 31, 12))
    const world = await createWorld(t, { clock, families: [webhooksFamily, eventsFamily] })
    for (const type of ['order.paid', 'order.sent', 'order.lost']) await declare(world, type)
    const all: AnyBody[] = []
    for (const [type, app_id] of [
      ['order.paid', 'a1'],
      ['order.sent', 'a1'],
      ['order.lost', 'a2'],
      ['order.paid', 'a2'],
      ['order.paid', undefined],
    ]) {
      const { body } = await publish(world, { type, app_id })
      all.push({ name: `${type} ${app_id ?? '-'}`, id: body.id })
      await clock.advance(MINUTE)
    }
    const names = (page: Page<Event>): readonly unknown[] =>
      page.data.map(({ id }) => all.find((one) => one['id'] === id)?.['name'])
    const found = async (query: string, as?: Asker) => names(await listed(world, query, as))
    t.same(await found('?type=order.sent,order.lost'), ['order.lost a2', 'order.sent a1'])
    t.same(await found('?type=order.none,order.lost'), ['order.lost a2'])
    t.same(await found('?app_id=a1'), ['order.sent a1', 'order.paid a1'])
    t.same(await found('?app_id=a1&type=order.paid'), ['order.paid a1'])
    t.same(await found('?app_id=none'), [])
    t.same(await found('?since=2026-01-31T12:01:00Z&until=2026-01-31T12:03:00Z'), [
      'order.lost a2',
      'order.sent a1',
    ])
    t.same(await found('?since=2026-01-31T14:04:00%2B02:00'), ['order.paid -'], 'any time zone')
    t.same(await found('?until=2026-01-31T12:01:00Z&order=asc'), ['order.paid a1'])

    const filters = 'type=order.paid,order.sent&app_id=a1&since=2026-01-31T12:00:00Z'
    const first = await listed(world, `?${filters}&limit=1`)
    t.same([names(first), first.has_more], [['order.sent a1'], true])
    const cursor = `cursor=${first.next_cursor ?? ''}`
    t.same(await found(`?${filters}&${cursor}`), ['order.paid a1'])
    for (const other of [
      'type=order.paid,order.sent&app_id=a1',
      'type=order.paid,order.sent&app_id=a2&since=2026-01-31T12:00:00Z',
      'type=order.paid&app_id=a1&since=2026-01-31T12:00:00Z',
      `${filters}&until=2026-01-31T13:00:00Z`,
    ]) {
      const refused = await world.request('GET', `/v1/events?${other}&${cursor}`)
      t.equal(told(refused), '400 invalid_cursor', other)
    }
    const faulty: readonly (readonly [query: string, location: string])[] = [
      ['since=2026-01-31T12:00:00Z&until=2026-01-31T12:00:00Z', 'query.since'],
      ['since=yesterday', 'query.since'],
      ['type=order.paid,', 'query.type'],
      [`type=${Array<string>(21).fill('order.paid').join(',')}`, 'query.type'],
    ]
    for (const [query, location] of faulty) {
      const refused = await world.request('GET', `/v1/events?${query}`)
      t.match(refused, { status: 400, body: { error: { errors: [{ location }] } } }, query)
    }

    const { key: as } = await world.mintKey({ scopes: ['events:read'], apps: ['a1'] })
    t.same(await found('', as), ['order.sent a1', 'order.paid a1'])
    t.same(await found('?app_id=a1&type=order.paid', as), ['order.paid a1'])
    const nothing = { data: [], has_more: false, next_cursor: null }
    for (const app of ['a2', 'none']) t.same(await listed(world, `?app_id=${app}`, as), nothing)
  },
)
