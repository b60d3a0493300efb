import t from 'tap'
import { MINUTE, toIso } from '../../lib/time.ts'
import { publishedApp } from '../support/observed.ts'
import { NOW, openApp } from '../support/observed-app.ts'
import type { AnyBody } from '../support/world.ts'

interface Health extends AnyBody {
  readonly checks: readonly AnyBody[]
}

void t.test('health follows from probes and from requests', async (t) => {
  const { world, id: unpublished, store, clock, linesAt } = await openApp(t)
  const id = await publishedApp(world)
  const live = await store.deployments.live(id)
  const health = async (app: string, query = ''): Promise<Health> =>
    (await world.request<Health>('GET', `/v1/apps/${app}/health${query}`)).body
  const check = (ago: number, status: 'pass' | 'fail') =>
    store.write((tx) =>
      tx.observations.addChecks([
        {
          app_id: id,
          at: NOW - ago,
          status,
          latency_ms: status === 'pass' ? 4 : null,
          message: status === 'pass' ? null : 'The app did not answer.',
        },
      ]),
    )
  t.same(await health(unpublished), {
    app_id: unpublished,
    env: 'published',
    status: 'offline',
    checks: [],
    uptime_24h: null,
    error_rate_5m: null,
    deployment_id: null,
    checked_at: null,
  })
  t.match(await health(id), { status: 'unknown', deployment_id: live?.id, checked_at: null })
  await check(25 * 60 * MINUTE, 'fail')
  await check(4 * MINUTE, 'pass')
  t.match(await health(id), { status: 'unknown', uptime_24h: 1 }, 'that was too long ago')
  await check(2 * MINUTE, 'pass')
  t.match(await health(id), {
    status: 'healthy',
    checks: [
      { name: 'page', status: 'pass', latency_ms: 4, message: null },
      { name: 'requests', status: 'unknown' },
    ],
    checked_at: toIso(NOW - 2 * MINUTE),
  })
  await check(MINUTE, 'fail')
  t.match(await health(id), {
    status: 'degraded',
    checks: [{ name: 'page', status: 'fail', message: 'The app did not answer.' }, {}],
    uptime_24h: 2 / 3,
  })
  await check(0, 'fail')
  t.match(await health(id), { status: 'down', uptime_24h: 0.5 })

  await linesAt(MINUTE, { status: 200, kind: 'preview' }, 57)
  t.match(await health(unpublished, '?env=preview'), { status: 'healthy', error_rate_5m: 0 })
  await linesAt(MINUTE - 1, { status: 500, kind: 'preview' }, 2)
  t.match(await health(unpublished, '?env=preview'), { status: 'healthy', error_rate_5m: 2 / 59 })
  await linesAt(MINUTE - 2, { status: 500, kind: 'preview' })
  t.match(await health(unpublished, '?env=preview'), {
    status: 'degraded',
    checks: [
      {
        name: 'requests',
        status: 'fail',
        message: '3 of 60 requests of the last five minutes failed.',
      },
    ],
    error_rate_5m: 0.05,
    uptime_24h: null,
  })
  await clock.advance(6 * MINUTE)
  t.match(await health(unpublished, '?env=preview'), { status: 'unknown', error_rate_5m: null })
  await world.request('DELETE', `/v1/apps/${unpublished}`)
  t.match(await health(unpublished, '?env=preview'), { status: 'offline', checks: [] })
})
