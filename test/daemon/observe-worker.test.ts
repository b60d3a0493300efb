import t from 'tap'
import type { Served } from '../../daemon/hosting/site.ts'
import { createLog } from '../../daemon/telemetry/log.ts'
import { startObserving } from '../../daemon/worker/observations.ts'
import { kernelError } from '../../lib/errors.ts'
import { SECOND, toIso } from '../../lib/time.ts'
import { ALL_ERROR_GROUPS, ALL_LINES, TAIL } from '../platform/observation-samples.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import { createClock } from '../support/clock.ts'
import { until } from '../support/daemon.ts'
import { createApp } from '../support/edits.ts'
import {
  faultyStore,
  observe,
  observedWorld,
  publishedApp,
  report,
  request,
} from '../support/observed.ts'
import type { World } from '../support/world.ts'

const NOON = Date.UTC(2026, 0, 31, 12)
const UNAVAILABLE = kernelError('unavailable')

async function totalsOf(store: PlatformStore, app: string): Promise<Record<string, number>> {
  const usage = await store.observations.usage(app, '2000-01-01', '2100-01-01')
  return Object.fromEntries(
    usage.map(({ day, kind, meter, total }) => [`${day} ${kind} ${meter}`, total]),
  )
}

async function pathsOf(store: PlatformStore, app: string): Promise<readonly string[]> {
  const { rows } = await store.observations.lines({ ...ALL_LINES, app_id: app })
  return rows.map(({ path }) => path).sort()
}

async function openApp(t: Parameters<typeof observedWorld>[0]) {
  const world = await observedWorld(t)
  const { id } = await createApp(world)
  return { world, store: world.platform.store, id }
}

void t.test('what is served is counted by day and kind, and kept line by line', async (t) => {
  const { world, store, id } = await openApp(t)
  const { observer, flush, stop } = observe(world)
  const serve = (changes: Partial<Served>) => observer.served(request(id, { at: NOON, ...changes }))
  serve({ path: '/a' })
  serve({ path: '/b', status: 404, bytes: 7 })
  serve({ path: '/c', status: 503, bytes: 0, method: 'POST' })
  serve({ path: '/d', kind: 'preview', deployment_id: null })
  serve({ path: '/e', at: NOON + 12 * 60 * 60 * SECOND })
  t.equal(await flush(), true)
  t.same(await totalsOf(store, id), {
    '2026-01-31 published requests': 3,
    '2026-01-31 published errors': 1,
    '2026-01-31 published not_found': 1,
    '2026-01-31 published egress_bytes': 107,
    '2026-01-31 preview requests': 1,
    '2026-01-31 preview egress_bytes': 100,
    '2026-02-01 published requests': 1,
    '2026-02-01 published egress_bytes': 100,
  })
  t.same(await pathsOf(store, id), ['/a', '/b', '/c', '/d', '/e'])
  const { rows } = await store.observations.lines({ ...ALL_LINES, app_id: id, path: '/c' })
  const { id: line, ...kept } = rows[0] ?? { id: '' }
  t.match(line, /^019c13/)
  t.same(kept, {
    app_id: id,
    kind: 'published',
    deployment_id: 'dep_1',
    request_id: 'req_1',
    at: NOON,
    method: 'POST',
    path: '/c',
    status: 503,
    bytes: 0,
    took_ms: 1,
  })
  await stop()
  t.equal((await totalsOf(store, id))['2026-01-31 published requests'], 3, 'nothing was left')
})

void t.test(
  'a batch that fails is written again, and counts once wherever it failed',
  async (t) => {
    for (const where of ['before', 'inside', 'after'] as const) {
      const { world, store, id } = await openApp(t)
      const faulty = faultyStore(store)
      const { observer, flush, stop, dropped } = observe(world, faulty.store)
      observer.served(request(id, { at: NOON, path: '/first' }))
      observer.reported(
        { app_id: id, kind: 'published', deployment_id: null },
        [report('one')],
        NOON,
        'net',
      )
      faulty.failNext(UNAVAILABLE, where, where)
      t.equal(await flush(), false, where)
      observer.served(request(id, { at: NOON, path: '/second' }))
      t.equal(await flush(), false, `${where}, again`)
      const before = await totalsOf(store, id)
      const isThere = where === 'after' ? 1 : undefined
      t.equal(before['2026-01-31 published requests'], isThere, 'what was not written waits')
      t.equal(await flush(), true)
      t.match(await totalsOf(store, id), {
        '2026-01-31 published requests': 2,
        '2026-01-31 published egress_bytes': 200,
      })
      t.same(await pathsOf(store, id), ['/first', '/second'])
      const { rows } = await store.observations.errorGroups({ ...ALL_ERROR_GROUPS, app_id: id })
      t.match(rows, [{ title: 'one', count: 1 }])
      t.same(dropped, { access_lines: 0, problems: 0 })
      await stop()
    }
  },
)

void t.test(
  'what the database does not take keeps nothing after it from being counted',
  async (t) => {
    const { world, store, id } = await openApp(t)
    const faulty = faultyStore(store)
    const { observer, flush, stop, dropped } = observe(world, faulty.store)
    observer.served(request(id, { at: NOON, path: '/odd' }))
    observer.reported(
      { app_id: id, kind: 'published', deployment_id: null },
      [report('odd')],
      NOON,
      'net',
    )
    faulty.failNext(new TypeError('not a text'), 'inside')
    t.equal(await flush(), false)
    t.equal(await flush(), true)
    t.equal((await totalsOf(store, id))['2026-01-31 published requests'], 1)
    t.same(await pathsOf(store, id), [])
    t.same(dropped, { access_lines: 1, problems: 1 })
    await stop()
  },
)

void t.test('texts that no database takes are kept as others', async (t) => {
  const { world, store, id } = await openApp(t)
  const { observer, flush, stop } = observe(world)
  observer.served(request(id, { path: '/a\0b\ud800', method: 'G\0T', request_id: '\udc00' }))
  const odd = report('x\0y\ud800', { stack: 'at \0 (a.js:1:2)', url: 'https://a.example/\0' })
  observer.reported({ app_id: id, kind: 'preview', deployment_id: null }, [odd], NOON, 'net')
  t.equal(await flush(), true)
  t.same(await pathsOf(store, id), ['/a\ufffdb\ufffd'])
  const { rows } = await store.observations.errorGroups({ ...ALL_ERROR_GROUPS, app_id: id })
  t.match(rows, [{ title: 'x\ufffdy\ufffd' }])
  await stop()
})

void t.test(
  'several processes and flushes at once lose nothing and count nothing twice',
  async (t) => {
    const { world, store, id } = await openApp(t)
    const observers = Array.from({ length: 4 }, () => observe(world))
    let made = 0
    await Promise.all(
      observers.map(async ({ observer, flush }, process) => {
        for (let round = 0; round < 10; round += 1) {
          for (let turn = 0; turn < 25; turn += 1) {
            observer.served(request(id, { at: NOON + made, path: `/${process}/${round}/${turn}` }))
            made += 1
          }
          // Not waited for: the next one begins while this one is under way.
          const flushed = flush()
          observer.reported(
            { app_id: id, kind: 'published', deployment_id: null },
            [report('same'), report(`own ${'abcd'[process] ?? ''}`)],
            NOON,
            'net',
          )
          if (round % 3 === 0) await flushed
        }
      }),
    )
    await Promise.all(observers.map(({ stop }) => stop()))
    t.match(await totalsOf(store, id), {
      '2026-01-31 published requests': 1000,
      '2026-01-31 published egress_bytes': 100_000,
    })
    const tail = await store.observations.tail({ ...TAIL, app_id: id, limit: 2000 })
    t.equal(new Set(tail.map(({ path }) => path)).size, 1000)
    t.equal(tail.length, 1000)
    const { rows } = await store.observations.errorGroups({ ...ALL_ERROR_GROUPS, app_id: id })
    t.same(rows.map(({ title, count }) => `${title} ${count}`).sort(), [
      'own a 10',
      'own b 10',
      'own c 10',
      'own d 10',
      'same 40',
    ])
  },
)

void t.test('it writes every five seconds, and what is left when it stops', async (t) => {
  const { world, store, id } = await openApp(t)
  const requests = async (): Promise<number> =>
    (await totalsOf(store, id))['2026-01-31 published requests'] ?? 0
  const clock = createClock(NOON)
  const dropped = { access_lines: 0, problems: 0 }
  const platform = { ...world.platform, clock }
  const { observer, stop } = startObserving(platform, createLog('silent'), dropped)
  observer.served(request(id, { at: NOON }))
  await clock.advance(4999)
  t.equal(await requests(), 0)
  await clock.advance(1)
  await until('the first is written', async () => (await requests()) === 1)
  t.equal(clock.timers, 0, 'nothing is due while nothing happens')
  observer.served(request(id, { at: NOON }))
  await clock.advance(5 * SECOND)
  await until('the second is written', async () => (await requests()) === 2)
  observer.served(request(id, { at: NOON }))
  await stop()
  t.equal(await requests(), 3)
  t.equal(clock.timers, 0)
})

void t.test('what could not be written is tried again by itself', async (t) => {
  const { world, store, id } = await openApp(t)
  const faulty = faultyStore(store)
  const clock = createClock(NOON)
  const dropped = { access_lines: 0, problems: 0 }
  const platform = { ...world.platform, clock, store: faulty.store }
  const { observer, stop } = startObserving(platform, createLog('silent'), dropped)
  faulty.failNext(UNAVAILABLE, 'before', 'after')
  observer.served(request(id, { at: NOON }))
  for (const failed of [1, 2]) {
    await clock.advance(5 * SECOND)
    await until('it failed', () => faulty.units === failed && clock.timers === 1)
  }
  await clock.advance(5 * SECOND)
  await until('it is written', () => faulty.units === 3 && clock.timers === 0)
  t.equal((await totalsOf(store, id))['2026-01-31 published requests'], 1)
  await stop()
})

void t.test('when it stops it tries again, and then lets go', async (t) => {
  const { world, store, id } = await openApp(t)
  const faulty = faultyStore(store)
  const log = createLog('silent')
  const dropped = { access_lines: 0, problems: 0 }
  const begin = () => startObserving({ ...world.platform, store: faulty.store }, log, dropped)
  const patient = begin()
  patient.observer.served(request(id, { at: NOON }))
  faulty.failNext(UNAVAILABLE, 'before', 'after')
  await patient.stop()
  t.equal((await totalsOf(store, id))['2026-01-31 published requests'], 1)
  const unlucky = begin()
  unlucky.observer.served(request(id, { at: NOON }))
  faulty.failNext(UNAVAILABLE, 'before', 'before', 'before')
  await unlucky.stop()
  t.equal((await totalsOf(store, id))['2026-01-31 published requests'], 1)
  t.equal(faulty.units, 6)
})

void t.test('a group has the deployment that brought it, and that one’s edit', async (t) => {
  const world: World = await observedWorld(t)
  const { store } = world.platform
  const id = await publishedApp(world)
  const live = await store.deployments.live(id)
  const other = await publishedApp(world, 'dep_2')
  const foreign = await store.deployments.live(other)
  const { observer, flush, stop } = observe(world)
  const site = { app_id: id, kind: 'published', deployment_id: live?.id ?? null } as const
  observer.reported(site, [report('of the page', { deployment_id: live?.id ?? '' })], NOON, 'net')
  observer.reported(
    site,
    [report('of another app', { deployment_id: foreign?.id ?? '' })],
    NOON,
    'net',
  )
  observer.reported(site, [report('of nothing', { deployment_id: 'made-up' })], NOON, 'net')
  observer.reported(
    { app_id: id, kind: 'preview', deployment_id: null },
    [report('of a preview', { deployment_id: live?.id ?? '' })],
    NOON,
    'net',
  )
  t.equal(await flush(), true)
  const { rows } = await store.observations.errorGroups({ ...ALL_ERROR_GROUPS, app_id: id })
  const brought = Object.fromEntries(
    rows.map(({ title, deployment_id, edit_id }) => [title, [deployment_id, edit_id]]),
  )
  t.same(brought, {
    'of the page': [live?.id, 'edit_1'],
    'of another app': [live?.id, 'edit_1'],
    'of nothing': [live?.id, 'edit_1'],
    'of a preview': [null, null],
  })
  t.match(rows, [{ first_seen: NOON }, {}, {}, {}], toIso(NOON))
  await stop()
})
