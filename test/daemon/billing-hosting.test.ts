import t from 'tap'
import { sweepHosting } from '../../daemon/billing/hosting.ts'
import { createSweepHandler, enqueueSweep } from '../../daemon/billing/sweep-job.ts'
import { keepPrices, readPrices } from '../../daemon/billing/prices.ts'
import { appsFamily } from '../../daemon/families/apps/family.ts'
import { billingFamily } from '../../daemon/families/billing/family.ts'
import { deployFamily } from '../../daemon/families/deploy/family.ts'
import { editsFamily } from '../../daemon/families/edits/family.ts'
import { createRunner, jobTimes } from '../../daemon/jobs/runner.ts'
import { DAY, HOUR, MINUTE } from '../../lib/time.ts'
import type { UsageAddition } from '../../plugins/platform/contract/observations.ts'
import { openPlatformStore } from '../../plugins/platform/open.ts'
import { pricesOf, walletOf } from '../support/billing.ts'
import { createClock } from '../support/clock.ts'
import { publish } from '../support/deploys.ts'
import { createApp } from '../support/edits.ts'
import { startPostgres } from '../support/postgres.ts'
import type { AnyBody, WorldOptions } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

type Scope = Parameters<typeof createWorld>[0]

const OWN = { 'apps.create': 0, 'edits.create': 0, 'files.upload': 0 }
/** The last minute of a day: the next one is the first that is charged. */
const START = Date.UTC(2026, 10, 24, 23, 59)
const CHARGED = '2026-11-25'
const AFTER = Date.UTC(2026, 10, 26) + HOUR

async function openOn(
  t: Scope,
  units: Readonly<Record<string, number>>,
  options: WorldOptions = {},
) {
  const clock = createClock(START)
  const prices = pricesOf({ ...OWN, ...units })
  const families = [appsFamily, editsFamily, deployFamily, billingFamily]
  const world = await createWorld(t, { ...options, clock, prices, families })
  const { platform, request } = world
  const { id: app } = await createApp(world)
  const { grant, verified } = walletOf(world)
  return {
    ...world,
    grant,
    verified,
    app,
    at: (instant: number) => {
      clock.set(instant - clock.now())
    },
    async count(amount: number, changes: Partial<UsageAddition> = {}): Promise<void> {
      const counter = { app_id: app, day: CHARGED, kind: 'published', meter: 'requests' } as const
      const { store } = platform
      await store.write((tx) =>
        tx.observations.addUsage([{ ...counter, amount, ...changes }], clock.now()),
      )
    },
    sweep: () => sweepHosting(platform),
    async money(): Promise<readonly unknown[]> {
      const { body } = await request('GET', '/v1/billing/wallet')
      return [body['available_micros'], body['debt_micros']]
    },
    async listed(path: string): Promise<readonly AnyBody[]> {
      return (await request('GET', `/v1/billing/${path}`)).body['data'] as readonly AnyBody[]
    },
  }
}

await t.test('hosting is free unless the prices say otherwise', async (t) => {
  const { grant, count, at, sweep, money } = await openOn(t, {})
  await grant(1000)
  at(AFTER)
  await count(50)
  await sweep()
  t.same(await money(), [1000, 0])
})

await t.test('a day is charged once, when it has ended', async (t) => {
  const world = await openOn(t, { 'hosting.requests': 2, 'hosting.egress_bytes': 1 })
  const { grant, count, at, sweep, money, listed, app, verified } = world
  await grant(10_000)
  await count(7, { day: '2026-11-24' })
  at(AFTER - 2 * HOUR)
  await count(50)
  await count(20, { kind: 'preview' })
  await count(5, { meter: 'errors' })
  await count(300, { meter: 'egress_bytes' })
  await sweep()
  at(AFTER - 1)
  await sweep()
  t.same(await money(), [10_000, 0], 'not before it has ended, and is counted')
  at(AFTER)
  const { platform } = world
  const warn = (what: string): void => void t.fail(what)
  const handler = createSweepHandler(platform, warn, { swept: { found: 0, failed: 0 } })
  await enqueueSweep(platform)
  const runner = createRunner(platform, handler, jobTimes('billing_sweep'), warn)
  t.ok(await runner.runNext(new AbortController().signal))
  t.same(await money(), [10_000 - 140 - 300, 0], 'release and preview, and no day before')
  await sweep()
  t.same(await money(), [10_000 - 140 - 300, 0], 'once')
  await count(1)
  await sweep()
  t.same(await money(), [10_000 - 140 - 300 - 2, 0], 'what was counted later')

  t.match(await listed(`ledger?app_id=${app}&kind=usage`), [
    { operation: 'hosting.requests', quantity: 1, amount_micros: -2, price_version: 'v1' },
    { operation: 'hosting.requests', quantity: 70, amount_micros: -140, app_id: app },
    {
      operation: 'hosting.egress_bytes',
      quantity: 300,
      description: 'Usage: bytes that an app sent, 2026-11-25',
    },
  ])
  t.match(await listed('usage?group_by=operation'), [
    { group: { operation: 'hosting.egress_bytes' }, quantity: 300, charged_micros: 300 },
    { group: { operation: 'hosting.requests' }, quantity: 71, charged_micros: 142 },
  ])
  t.match(await listed('usage?group_by=app'), [{ group: { app_id: app }, charged_micros: 442 }])
  t.same(await verified(), [])
})

await t.test('an empty wallet hides no app, and its debt is seen and paid first', async (t) => {
  const world = await openOn(t, { 'hosting.requests': 2 })
  const { grant, count, at, sweep, money, request, app, verified } = world
  t.equal((await publish(world, app)).status, 202)
  const shown = async (): Promise<AnyBody> => (await request('GET', `/v1/apps/${app}`)).body
  const before = await shown()
  await grant(30)
  await count(50)
  at(AFTER)
  await sweep()
  t.same(await money(), [0, 70])
  t.same(await shown(), before)
  for (const path of [`/v1/apps/${app}`, `/v1/apps/${app}/hosting-usage`, '/v1/billing/usage']) {
    t.equal((await request('GET', path)).status, 200, path)
  }
  t.equal((await publish(world, (await createApp(world)).id)).status, 202, 'publishing is free')
  await grant(100)
  t.same(await money(), [30, 0])
  t.same(await verified(), [])
})

await t.test('a price charges no day that began before it was known', async (t) => {
  const { grant, count, at, sweep, money, platform } = await openOn(t, {})
  await grant(1000)
  const priced = { ...OWN, 'hosting.requests': 1 }
  Object.assign(platform.billing, { prices: pricesOf(OWN, priced) })
  const { store } = platform
  at(AFTER)
  await store.write((tx) => keepPrices(tx, platform.billing.prices, AFTER))
  for (const day of ['2026-11-20', CHARGED, '2026-11-26', '2026-11-27']) await count(10, { day })
  await sweep()
  t.same(await money(), [1000, 0], 'although the file says that it was in effect')
  at(AFTER + 2 * DAY)
  await sweep()
  t.same(await money(), [980, 0], 'days that began since are charged')
})

await t.test('a file that prices an unknown meter of hosting is refused', async (t) => {
  const [version] = pricesOf(OWN).versions
  const operation = { meter: 'bytes', price_micros: 1, per: 1 }
  const file = (name: string): string =>
    JSON.stringify({
      versions: [
        {
          ...version,
          effective_at: '2026-01-01T00:00:00Z',
          operations: { ...version?.operations, [name]: operation },
        },
      ],
    })
  t.equal(readPrices(file('hosting.egress_bytes')).versions.length, 1)
  t.throws(() => readPrices(file('hosting.egress')), {
    message: /hosting\.egress: Hosting has the meters requests, errors, not_found, egress_bytes/,
  })
})

await t.test('PostgreSQL: of several daemons one charges', async (t) => {
  const postgres = await startPostgres()
  t.teardown(() => postgres.stop())
  const database = await postgres.createDatabase()
  const world = await openOn(t, { 'hosting.requests': 2, 'hosting.errors': 1 }, { database })
  const { grant, count, at, money, platform, verified, listed } = world
  const others = await Promise.all([1, 2].map(() => openPlatformStore(database)))
  t.teardown(async () => {
    for (const { store } of others) await store.close()
  })
  await grant(1_000_000)
  const daemons = [platform, ...others.map(({ store }) => ({ ...platform, store }))]
  for (let day = 1; day <= 5; day += 1) {
    const began = Date.UTC(2026, 10, 24 + day)
    at(began + DAY + HOUR + MINUTE)
    const apps = await Promise.all([1, 2, 3].map(() => createApp(world)))
    for (const { id } of apps) {
      const counter = { app_id: id, day: new Date(began).toISOString().slice(0, 10) }
      await count(10, counter)
      await count(1, { ...counter, meter: 'errors' })
    }
    await Promise.all([...daemons, ...daemons].map((one) => sweepHosting(one)))
    t.same(await money(), [1_000_000 - day * 3 * 21, 0])
  }
  t.equal((await listed('ledger?kind=usage&limit=100')).length, 30)
  t.same(await verified(), [])
})
