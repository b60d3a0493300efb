import t from 'tap'
import { createDomainHandler } from '../../daemon/families/settings/domains/check.ts'
import { runJobs, createRunner, jobTimes } from '../../daemon/jobs/runner.ts'
import type { Platform } from '../../daemon/platform.ts'
import { createLog } from '../../daemon/telemetry/log.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../lib/time.ts'
import { claimDomain } from '../platform/domain-samples.ts'
import type { Domain, SettingsWorld } from '../support/app-settings.ts'
import { START, openSettings } from '../support/app-settings.ts'
import { until } from '../support/daemon.ts'

const NEVER = new AbortController().signal
const TIMES = jobTimes('domain_check')

/** Runs the check that is due next; false when none is. */
function checkNext(platform: Platform): Promise<boolean> {
  const handler = createDomainHandler(platform)
  return createRunner(platform, handler, TIMES, () => undefined).runNext(NEVER)
}

/** The worker's one step, by a clock that the test sets. */
function worker({ platform, clock, app }: SettingsWorld) {
  const { domains } = platform.store
  const kept = async (id: string) => {
    const domain = await domains.get(app, id)
    if (domain === undefined) throw new Error('there is no such domain')
    return domain
  }
  const checkAt = async (at: number): Promise<boolean> => {
    await clock.advance(at - clock.now())
    return checkNext(platform)
  }
  return {
    kept,
    checkAt,
    /** Lets the next look come, and answers how long that took from the last. */
    async checkWhenDue(id: string): Promise<number> {
      const { next_check_at } = await kept(id)
      const from = clock.now()
      if (next_check_at === null) throw new Error('it is not looked at any more')
      if (await checkAt(next_check_at - 1)) throw new Error('it was looked at too early')
      if (!(await checkAt(next_check_at))) throw new Error('it was not looked at')
      return next_check_at - from
    },
  }
}

async function verified(t: Parameters<typeof openSettings>[0]) {
  const world = await openSettings(t)
  const domain = await world.addDomain('shop.example.com')
  world.setUp(domain)
  const steps = worker(world)
  await steps.checkWhenDue(domain.id)
  if ((await steps.kept(domain.id)).status !== 'verified') throw new Error('it is not verified')
  return { ...world, ...steps, domain }
}

await t.test(
  'what waits is looked at after 1, 5, 15 and 60 minutes, then hourly for a week',
  async (t) => {
    const world = await openSettings(t)
    const { kept, checkWhenDue, checkAt } = worker(world)
    const { id, hostname } = await world.addDomain('shop.example.com')
    const waits: number[] = []
    while ((await kept(id)).status === 'pending') waits.push(await checkWhenDue(id))
    const [first, second, third, ...hours] = waits
    t.same([first, second, third], [MINUTE, 5 * MINUTE, 15 * MINUTE])
    t.same([...new Set(hours)], [HOUR])
    const took = world.clock.now() - START
    t.ok(took >= 7 * DAY && took < 7 * DAY + HOUR, `${took}`)
    t.match(await world.domain(id), {
      status: 'failed',
      verification_error: { code: 'challenge_missing' },
      next_check_at: null,
    })
    t.notOk(await checkAt(START + 30 * DAY), 'it is left alone from then on')
    t.match(await world.events(), [
      {
        type: 'domain.failed',
        data: { domain_id: id, hostname, error: { code: 'challenge_missing', message: /TXT/ } },
      },
    ])
  },
)

await t.test('one that failed begins anew when it is asked for', async (t) => {
  const world = await openSettings(t)
  const { kept, checkWhenDue } = worker(world)
  const { addDomain, verify, setUp, events } = world
  const domain = await addDomain('shop.example.com')
  await world.clock.advance(7 * DAY)
  t.ok(await checkNext(world.platform))
  t.match(await kept(domain.id), { status: 'failed' })
  await world.clock.advance(DAY)
  t.match((await verify(domain.id)).body, { status: 'pending' })
  t.equal(await checkWhenDue(domain.id), MINUTE)
  t.equal(await checkWhenDue(domain.id), 5 * MINUTE)
  setUp(domain)
  t.equal(await checkWhenDue(domain.id), 15 * MINUTE)
  t.match(await kept(domain.id), { status: 'verified', failures: 0 })
  t.same(
    (await events()).map(({ type }) => type),
    ['domain.failed', 'domain.verified'],
  )
})

await t.test('a look that is asked for in between leaves the schedule as it was', async (t) => {
  const world = await openSettings(t)
  const { kept, checkWhenDue } = worker(world)
  const { id } = await world.addDomain('shop.example.com')
  await world.clock.advance(30 * SECOND)
  await world.verify(id)
  t.match(await kept(id), { failures: 0, next_check_at: START + MINUTE })
  t.equal(await checkWhenDue(id), 30 * SECOND)
  t.match(await kept(id), { failures: 1, next_check_at: START + 6 * MINUTE })
})

await t.test(
  'a verified one is looked at daily, and fails when it was wrong three times in a row',
  async (t) => {
    const { dns, domain, kept, checkWhenDue, checkAt, clock, events, platform, ask } =
      await verified(t)
    const { id, hostname } = domain
    await ask('PATCH', `domains/${id}`, { body: { primary: true } })
    const serves = async () =>
      (await platform.store.domains.domainByHostname(hostname)) !== undefined
    t.equal(await checkWhenDue(id), DAY)
    dns.remove(hostname)
    for (const failures of [1, 2]) {
      t.equal(await checkWhenDue(id), DAY)
      t.match(await kept(id), {
        status: 'verified',
        failures,
        routed: false,
        error: 'route_missing',
      })
      t.ok(await serves())
    }
    dns.set(hostname, { cname: 'apps.example.net' })
    await checkWhenDue(id)
    t.match(await kept(id), { status: 'verified', failures: 0, error: null, primary: true })
    dns.remove(domain.records[0].name)
    for (const failures of [1, 2, 3]) {
      t.equal(await checkWhenDue(id), DAY)
      t.equal((await kept(id)).failures, failures)
    }
    t.match(await kept(id), { status: 'failed', primary: false, next_check_at: null })
    t.notOk(await serves())
    t.notOk(await checkAt(clock.now() + 30 * DAY))
    t.match(await events(), [
      { type: 'domain.verified' },
      { type: 'domain.failed', data: { hostname, error: { code: 'challenge_missing' } } },
    ])
  },
)

for (const fault of ['servfail', 'silent', 'wrong id'] as const) {
  await t.test(`a verified one whose name servers do not answer serves on: ${fault}`, async (t) => {
    const { dns, domain, kept, checkWhenDue, events } = await verified(t)
    const [{ name, value }] = domain.records
    dns.set(name, { txt: [value] }, fault)
    const waits: number[] = []
    for (let looks = 0; looks < 5; looks += 1) waits.push(await checkWhenDue(domain.id))
    t.same(waits, [DAY, HOUR, HOUR, HOUR, HOUR])
    const unknown = { status: 'verified', failures: 0, owned: true, error: 'no_answer' }
    t.match(await kept(domain.id), unknown)
    dns.set(name, { txt: ['another’s'] })
    await checkWhenDue(domain.id)
    t.match(await kept(domain.id), { failures: 1, owned: false, error: 'challenge_differs' })
    t.equal((await events()).length, 1)
  })
}

await t.test('looks that are asked for fail no verified one', async (t) => {
  const { dns, domain, kept, clock, verify } = await verified(t)
  dns.remove(domain.hostname)
  for (let looks = 0; looks < 5; looks += 1) {
    await clock.advance(10 * SECOND)
    t.match((await verify(domain.id)).body, {
      status: 'verified',
      records: [{}, { verified: false }],
    })
  }
  t.match(await kept(domain.id), { failures: 0, next_check_at: START + MINUTE + DAY })
})

await t.test('of several workers one looks at a domain', async (t) => {
  const world = await openSettings(t)
  const domain = await world.addDomain('shop.example.com')
  world.setUp(domain)
  await world.clock.advance(MINUTE)
  const looked = await Promise.all(Array.from({ length: 4 }, () => checkNext(world.platform)))
  t.equal(looked.filter(Boolean).length, 1)
  t.equal(world.dns.asked.filter((question) => question.startsWith('TXT')).length, 1)
  t.equal((await world.events()).length, 1)
})

await t.test(
  'the look of a worker that died is taken over, and what it found is lost',
  async (t) => {
    const world = await openSettings(t)
    const { kept, checkAt } = worker(world)
    const domain = await world.addDomain('shop.example.com')
    world.setUp(domain)
    await world.clock.advance(MINUTE)
    const now = world.clock.now()
    const { store } = world.platform
    const claimed = await claimDomain(store, 'dead', now)
    t.notOk(await checkAt(now + MINUTE - 1))
    t.ok(await checkAt(now + MINUTE))
    t.match(await kept(domain.id), { status: 'verified' })
    if (claimed === undefined) throw new Error('it was not due')
    const late = await store.write((tx) => tx.domains.settle(claimed, 'dead', claimed))
    t.equal(late, 'lost')
    t.equal((await world.events()).length, 1)
  },
)

await t.test('a clock that was ahead for a while holds up no look', async (t) => {
  const world = await openSettings(t)
  const { kept, checkAt } = worker(world)
  const { clock, addDomain, setUp, verify } = world
  const ahead = 400 * DAY
  clock.set(ahead)
  const domain = await addDomain('shop.example.com')
  await clock.advance(MINUTE)
  t.ok(await checkNext(world.platform))
  clock.set(-ahead)
  t.ok(await checkAt(clock.now()), 'it is due')
  t.match(await kept(domain.id), {
    waiting_since: clock.now(),
    next_check_at: clock.now() + 15 * MINUTE,
  })
  t.notOk(await checkAt(clock.now()), 'once')

  clock.set(ahead)
  setUp(domain, 'TXT')
  t.match((await verify(domain.id)).status, 200)
  clock.set(-ahead)
  await clock.advance(10 * SECOND)
  t.match((await verify(domain.id)).status, 200, 'it was not looked at a moment ago')
  t.equal((await verify(domain.id)).status, 429)
})

await t.test(
  'the worker looks at what is due, by its own clock, until it is stopped',
  async (t) => {
    const world = await openSettings(t, { dnsTimeout: SECOND })
    const { kept } = worker(world)
    const { addDomain, setUp, clock, platform, dns } = world
    const domains: Domain[] = []
    for (let at = 0; at < 12; at += 1) domains.push(await addDomain(`shop-${at}.example.com`))
    for (const domain of domains) setUp(domain)
    const loop = runJobs(platform, createLog('silent'), createDomainHandler, TIMES, 15 * SECOND)
    t.teardown(() => loop.stop())
    await until('all are verified', async () => {
      await clock.advance(SECOND)
      const all = await Promise.all(domains.map(({ id }) => kept(id)))
      return all.every(({ status }) => status === 'verified')
    })
    t.ok(clock.now() >= START + MINUTE)
    t.equal((await world.events()).length, domains.length)

    const late = await addDomain('late.example.com')
    const [{ name, value }] = late.records
    dns.set(name, { txt: [value] }, 'silent')
    await until('a look is under way', async () => {
      await clock.advance(SECOND)
      return dns.asked.includes(`TXT ${name}`)
    })
    await loop.stop()
    t.match(await kept(late.id), { status: 'pending', checked_at: null }, 'its look is given up')
    t.equal(
      await platform.store.jobs.isClaimable('domain_check', clock.now()),
      true,
      'and given back',
    )
  },
)
