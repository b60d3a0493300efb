import t from 'tap'
import { DAY, MINUTE, SECOND, toIso } from '../../lib/time.ts'
import { codeOf } from '../support/answer.ts'
import type { Domain } from '../support/app-settings.ts'
import { START, openSettings } from '../support/app-settings.ts'
import type { Page } from '../support/webhooks.ts'
import type { AnyBody } from '../support/world.ts'

const GAP = 10 * SECOND

await t.test('a domain is told which records to set, and verified once they are', async (t) => {
  const { app, addDomain, domain, setUp, verify, events, clock, dns } = await openSettings(t)
  const made = await addDomain('Shop.Example.com.')
  const token = made.records[0].value
  t.match(token, /^[0-9a-f]{40}$/)
  const target = { type: 'CNAME', name: 'shop.example.com', value: 'apps.example.net' }
  t.match(made, {
    app_id: app,
    domain_id: made.id,
    hostname: 'shop.example.com',
    status: 'pending',
    records: [
      { type: 'TXT', name: '_service-challenge.shop.example.com', value: token, verified: false },
      { ...target, verified: false },
    ],
    verification_error: null,
    tls: 'proxy',
    primary: false,
    checked_at: null,
    verified_at: null,
    next_check_at: toIso(START + MINUTE),
    created_by: { type: 'user' },
  })

  t.match((await verify(made.id)).body, {
    status: 'pending',
    verification_error: { code: 'challenge_missing', message: /TXT record .* is missing/ },
    checked_at: toIso(START),
  })
  setUp(made, 'TXT')
  await clock.advance(GAP)
  t.match((await verify(made.id)).body, {
    status: 'verifying',
    records: [{ verified: true }, { verified: false }],
    verification_error: { code: 'route_missing' },
  })
  setUp(made, 'CNAME')
  await clock.advance(GAP)
  const now = START + 2 * GAP
  const verified = await verify(made.id)
  t.match(verified, {
    status: 200,
    body: {
      status: 'verified',
      records: [{ verified: true }, { verified: true }],
      verification_error: null,
      verified_at: toIso(now),
      next_check_at: toIso(now + DAY),
    },
  })
  t.same(await domain(made.id), verified.body)
  const data = { app_id: app, domain_id: made.id, hostname: 'shop.example.com' }
  t.same(await events(), [{ type: 'domain.verified', data }])
  t.ok(dns.asked.every((question) => /(shop\.example\.com|apps\.example\.net)$/.test(question)))
})

await t.test('a look that is asked for comes ten seconds after the last', async (t) => {
  const { addDomain, verify, clock, dns } = await openSettings(t)
  const { id } = await addDomain('shop.example.com')
  const [one, other] = await Promise.all([verify(id), verify(id)])
  const statuses = new Set([one.status, other.status])
  t.same(statuses, new Set([200, 429]), 'of two at once one looks')
  t.equal(dns.asked.filter((question) => question.startsWith('TXT')).length, 1)
  await clock.advance(GAP - 1)
  const refused = await verify(id)
  t.equal(codeOf(refused), '429 rate_limited')
  t.equal(refused.headers.get('retry-after'), '1')
  await clock.advance(1)
  t.equal((await verify(id)).status, 200)
})

await t.test('a hostname leads here by whatever ends at the apps domain', async (t) => {
  const { addDomain, setUp, verify, dns } = await openSettings(t)
  dns.set('apps.example.net', { a: ['192.0.2.1', '192.0.2.2'], aaaa: ['2001:db8:0:0:0:0:0:1'] })
  dns.set('hop.example.org', { cname: 'k3v9.APPS.example.net' })
  dns.set('round.example.org', { cname: 'trip.example.org' })
  dns.set('trip.example.org', { cname: 'round.example.org' })
  const routes = {
    'an address': [{ a: ['192.0.2.2'] }, undefined],
    'addresses of both families': [{ a: ['192.0.2.1'], aaaa: ['2001:db8:0:0:0:0:0:1'] }, undefined],
    'an alias of a name below it, by way of another': [{ cname: 'hop.example.org' }, undefined],
    'one address elsewhere': [{ a: ['192.0.2.1', '198.51.100.1'] }, 'route_differs'],
    'an alias elsewhere': [{ cname: 'elsewhere.example.org' }, 'route_missing'],
    'aliases in a circle': [{ cname: 'round.example.org' }, 'route_missing'],
    'a name that only ends alike': [{ cname: 'notapps.example.net' }, 'route_missing'],
    'a name of this network': [{ cname: 'db.internal' }, 'no_answer'],
  } as const
  let made = 0
  for (const [way, [records, code]] of Object.entries(routes)) {
    const domain = await addDomain(`shop-${(made += 1)}.example.com`)
    setUp(domain, 'TXT')
    dns.set(domain.hostname, records)
    const { body } = await verify(domain.id)
    t.match(body, { status: code === undefined ? 'verified' : 'verifying' }, way)
    t.equal((body['verification_error'] as AnyBody | null)?.['code'], code, way)
  }
})

await t.test('whose a hostname is nothing but its own record proves', async (t) => {
  const { addDomain, setUp, verify, dns } = await openSettings(t)
  const domain = await addDomain('shop.example.com')
  const [{ name, value }] = domain.records
  setUp(domain, 'CNAME')
  const others = [`${value}x`, value.toUpperCase(), value.slice(1), ` ${value}`]
  dns.set(name, { txt: others })
  t.match((await verify(domain.id)).body, {
    status: 'verifying',
    verification_error: { code: 'challenge_differs' },
  })
  const other = await addDomain('other.example.com')
  setUp(other, 'CNAME')
  dns.set(other.hostname, { txt: [other.records[0].value] })
  dns.set('_service-challenge.example.com', { txt: [other.records[0].value] })
  t.match((await verify(other.id)).body, { status: 'pending' }, 'at another name it proves nothing')
  const third = await addDomain('third.example.com')
  setUp(third)
  dns.set(third.records[0].name, { txt: ['v=spf1 -all', third.records[0].value, 'x'] })
  t.match((await verify(third.id)).body, { status: 'verified' }, 'among others it does')
})

for (const fault of ['servfail', 'silent', 'wrong id', 'wrong question'] as const) {
  await t.test(`name servers that give no answer prove nothing: ${fault}`, async (t) => {
    const { addDomain, setUp, verify, dns } = await openSettings(t)
    const domain = await addDomain('shop.example.com')
    const [{ name, value }] = domain.records
    setUp(domain, 'CNAME')
    dns.set(name, { txt: [value] }, fault)
    t.match((await verify(domain.id)).body, {
      status: 'verifying',
      verification_error: { code: 'no_answer' },
    })
  })
}

await t.test('of accounts that wait for one hostname one gets it', async (t) => {
  const world = await openSettings(t)
  const { addDomain, setUp, verify, newApp, addAccount, userOf, ask, dns } = world
  const stranger = userOf(await addAccount())
  const theirs = { app: await newApp(stranger), as: stranger }
  const mine = await addDomain('shop.example.com')
  const other = await addDomain('shop.example.com', theirs)
  t.not(mine.records[0].value, other.records[0].value)
  // Whoever owns the name lets both prove it, at once.
  setUp(mine)
  dns.set(mine.records[0].name, { txt: [mine.records[0].value, other.records[0].value] })
  t.match((await verify(mine.id)).body, { status: 'verified' })
  const late = await ask<Domain>('POST', `domains/${other.id}/verify`, theirs)
  t.match(late.body, {
    status: 'verifying',
    records: [{ verified: true }, { verified: true }],
    verification_error: { code: 'domain_in_use' },
  })
  const again = await ask('POST', 'domains', { ...theirs, body: { hostname: 'shop.example.com' } })
  t.equal(codeOf(again), '409 domain_in_use')
  const third = { app: await newApp(stranger), as: stranger }
  const taken = await ask('POST', 'domains', { ...third, body: { hostname: 'SHOP.example.com' } })
  t.equal(codeOf(taken), '409 domain_in_use')
  t.equal((await ask('DELETE', `domains/${mine.id}`)).status, 200)
  await world.clock.advance(GAP)
  const won = await ask<Domain>('POST', `domains/${other.id}/verify`, theirs)
  t.match(won.body, { status: 'verified' })
})

await t.test('one verified domain of an app is primary at most', async (t) => {
  const { addDomain, domain, setUp, verify, ask } = await openSettings(t)
  const made = [await addDomain('a.example.com'), await addDomain('b.example.com')] as const
  const [a, b] = made
  const patch = (id: string, primary: unknown) =>
    ask<Domain>('PATCH', `domains/${id}`, { body: { primary } })
  t.equal(codeOf(await patch(a.id, true)), '409 domain_not_verified')
  t.match((await patch(a.id, false)).body, { primary: false })
  for (const one of made) {
    setUp(one)
    await verify(one.id)
  }
  t.match((await patch(a.id, true)).body, { id: a.id, primary: true })
  t.match((await patch(b.id, true)).body, { id: b.id, primary: true })
  t.match([await domain(a.id), await domain(b.id)], [{ primary: false }, { primary: true }])
  t.match((await patch(b.id, false)).body, { primary: false })
  t.equal(codeOf(await patch('nothing', true)), '404 domain_not_found')
  for (const wrong of [null, 'yes', undefined]) {
    t.equal(codeOf(await patch(a.id, wrong)), '400 invalid_request', String(wrong))
  }
})

await t.test('domains are listed newest first, page by page, twenty an app at most', async (t) => {
  const { addDomain, ask, newApp } = await openSettings(t)
  const hostnames = Array.from({ length: 20 }, (_, at) => `shop-${at}.example.com`)
  for (const hostname of hostnames) await addDomain(hostname)
  const refused = await ask('POST', 'domains', { body: { hostname: 'one-more.example.com' } })
  t.equal(codeOf(refused), '409 domain_limit_reached')
  await addDomain('one-more.example.com', { app: await newApp() })
  const seen: string[] = []
  for (let cursor = ''; seen.length < 30;) {
    const { body } = await ask<Page<Domain>>('GET', `domains?limit=8${cursor}`)
    seen.push(...body.data.map(({ hostname }) => hostname))
    if (!body.has_more) break
    cursor = `&cursor=${String(body.next_cursor)}`
  }
  t.same(seen, hostnames.toReversed())
  const stray = await ask<Page<Domain>>('GET', `domains?limit=8`, { app: await newApp() })
  t.same(stray.body.data, [])
})

await t.test('an archived app keeps its domains, serves none, and may give them up', async (t) => {
  const { app, addDomain, setUp, verify, ask, request, platform, clock } = await openSettings(t)
  const domain = await addDomain('shop.example.com')
  setUp(domain)
  await verify(domain.id)
  const served = async () =>
    (await platform.store.domains.domainByHostname('shop.example.com'))?.app_id
  t.equal(await served(), app)
  await request('DELETE', `/v1/apps/${app}`)
  t.equal(await served(), undefined)
  await clock.advance(GAP)
  const body = { hostname: 'other.example.com' }
  t.equal(codeOf(await ask('POST', 'domains', { body })), '409 app_archived')
  t.equal(codeOf(await verify(domain.id)), '409 app_archived')
  const primary = await ask('PATCH', `domains/${domain.id}`, { body: { primary: true } })
  t.equal(codeOf(primary), '409 app_archived')
  t.equal((await ask<Page<Domain>>('GET', 'domains')).body.data.length, 1)
  await request('POST', `/v1/apps/${app}/restore`)
  t.equal(await served(), app)
  await request('DELETE', `/v1/apps/${app}`)
  t.match((await ask('DELETE', `domains/${domain.id}`)).body, { status: 'verified' })
  t.equal(codeOf(await ask('DELETE', `domains/${domain.id}`)), '404 domain_not_found')
})

await t.test('one that is deleted while it is looked at is not brought back', async (t) => {
  const world = await openSettings(t, { dnsTimeout: SECOND })
  const { addDomain, setUp, verify, ask, events, dns } = world
  const domain = await addDomain('shop.example.com')
  setUp(domain)
  const [{ name, value }] = domain.records
  dns.set(name, { txt: [value] }, 'silent')
  const looking = verify(domain.id)
  while (dns.asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  t.equal((await ask('DELETE', `domains/${domain.id}`)).status, 200)
  dns.set(name, { txt: [value] })
  t.equal(codeOf(await looking), '404 domain_not_found')
  t.same(await events(), [])
})

await t.test('where apps have no names in public there are no domains', async (t) => {
  const { ask } = await openSettings(t, { appsDomain: 'localhost' })
  const body = { hostname: 'shop.example.com' }
  t.equal(codeOf(await ask('POST', 'domains', { body })), '501 capability_unavailable')
  t.same((await ask<Page<Domain>>('GET', 'domains')).body.data, [])
})
