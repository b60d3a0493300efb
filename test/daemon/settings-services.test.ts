import t from 'tap'
import { SECOND, toIso } from '../../lib/time.ts'
import { codeOf } from '../support/answer.ts'
import { START, openSettings } from '../support/app-settings.ts'
import type { Page } from '../support/webhooks.ts'
import type { AnyBody } from '../support/world.ts'

const PASSWORD = 'correct horse battery staple'

await t.test('a service is set, read and deleted, and its secrets are never shown', async (t) => {
  const { ask, app, clock, platform } = await openSettings(t)
  const body = {
    kind: 'database',
    config: { region: 'eu-central', note: 'ö "x"' },
    secrets: { PASSWORD, USER: 'shop' },
  }
  const set = await ask('PUT', 'services/orders-db', { body })
  const shown = {
    name: 'orders-db',
    service: 'orders-db',
    app_id: app,
    kind: 'database',
    config: body.config,
    secret_names: ['PASSWORD', 'USER'],
    in_use: false,
    created_at: toIso(START),
    updated_at: toIso(START),
  }
  t.strictSame([set.status, set.body], [200, shown])
  t.strictSame((await ask('GET', 'services/orders-db')).body, shown)
  t.strictSame((await ask<Page<AnyBody>>('GET', 'services')).body.data, [shown])
  const kept = await platform.store.services.get(app, 'orders-db')
  t.notMatch(JSON.stringify(kept), PASSWORD)

  await clock.advance(SECOND)
  const again = await ask('PUT', 'services/orders-db', {
    body: { kind: 'custom', secrets: { USER: null, TOKEN: 'new', GONE: null } },
  })
  t.strictSame(again.body, {
    ...shown,
    kind: 'custom',
    config: {},
    secret_names: ['PASSWORD', 'TOKEN'],
    updated_at: toIso(START + SECOND),
  })
  t.strictSame((await ask('DELETE', 'services/orders-db')).body, again.body)
  for (const method of ['GET', 'DELETE']) {
    t.equal(codeOf(await ask(method, 'services/orders-db')), '404 service_not_found')
  }
  t.equal(await platform.store.services.count(app), 0)
})

await t.test('a secret opens as that of its app, service and name alone', async (t) => {
  const { ask, app, newApp, platform } = await openSettings(t)
  const { services } = platform.store
  const other = await newApp()
  const body = { kind: 'email', secrets: { PASSWORD, SPARE: PASSWORD } }
  for (const of of [app, other]) await ask('PUT', 'services/mail', { app: of, body })
  await ask('PUT', 'services/post', { body })
  const sealedIn = async (appId: string, name: string) =>
    (await services.get(appId, name))?.secrets.map(({ sealed }) => sealed) ?? []
  const sealed = [
    ...(await sealedIn(app, 'mail')),
    ...(await sealedIn(app, 'post')),
    ...(await sealedIn(other, 'mail')),
  ]
  t.equal(new Set(sealed).size, 6)
  const place = `service_secret|${app}/mail/PASSWORD`
  const opened = sealed.map((text) => {
    try {
      return platform.keyring.decrypt(text, place)
    } catch (cause) {
      return (cause as { code?: unknown }).code
    }
  })
  t.same(opened, [PASSWORD, ...Array<string>(5).fill('secret_unreadable')])
})

await t.test('what a service may be', async (t) => {
  const { ask } = await openSettings(t)
  const codeFor = async (body: unknown, name = 'mail') =>
    codeOf(await ask('PUT', `services/${name}`, { body }))
  const kind = 'email'
  for (const name of ['a', 'a-b_9', 'a'.repeat(40)]) t.equal(await codeFor({ kind }, name), '200')
  for (const name of ['A', '9a', '-a', 'a.b', 'a%2Fb', 'a'.repeat(41), 'ö']) {
    t.equal(await codeFor({ kind }, name), '400 invalid_request', name)
  }
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`N${at}`, 'x']))
  const fine: readonly object[] = [
    { kind, config: {}, secrets: {} },
    { kind, config: many(50), secrets: many(50) },
    { kind, config: { URL: 'https://user@example.com/in?a:b@c' } },
    { kind, secrets: { KEY: '-----BEGIN KEY-----\nAAAA\n-----END KEY-----\n', _x: 'ö' } },
    { kind, secrets: { KEY: 'x'.repeat(8192) } },
  ]
  for (const [at, body] of fine.entries())
    t.equal(await codeFor(body, `fine-${at}`), '200', `${at}`)
  const wrong: readonly unknown[] = [
    {},
    { kind: 'queue' },
    { kind, config: { a: 1 } },
    { kind, config: { a: null } },
    { kind, config: { a: '' } },
    { kind, config: { 'a-b': 'x' } },
    { kind, config: { a: 'x'.repeat(1001) } },
    { kind, config: many(51) },
    { kind, config: { URL: 'postgres://shop:secret@db.example.com/shop' } },
    { kind, secrets: many(51) },
    { kind, secrets: { '9a': 'x' } },
    { kind, secrets: { a: '' } },
    { kind, secrets: { a: 7 } },
    { kind, secrets: { a: '\0' } },
    { kind, secrets: { a: '\ud800' } },
    { kind, secrets: { a: 'x'.repeat(8193) } },
    { kind, secrets: null },
    { kind, name: 'mail' },
    [],
  ]
  for (const [at, body] of wrong.entries()) {
    t.match(await codeFor(body), /^400 invalid_(request|json)$/, `wrong ${at}`)
  }
  t.match(await ask('PUT', 'services/mail', { body: { kind, secrets: { a: 7 } } }), {
    body: { error: { errors: [{ location: 'body.secrets.a' }] } },
  })
})

await t.test('an app has fifty services, and a service fifty secrets, at most', async (t) => {
  const { ask } = await openSettings(t)
  const kind = 'custom'
  const named = (from: number, count: number, value: string | null) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`N${from + at}`, value]))
  const secrets = async (given: object) =>
    codeOf(await ask('PUT', 'services/s-00', { body: { kind, secrets: given } }))
  t.equal(await secrets(named(0, 50, 'x')), '200')
  t.equal(await secrets(named(49, 2, 'y')), '409 service_limit_reached')
  t.equal(await secrets({ ...named(0, 10, 'z'), ...named(10, 1, null), NEW: 'x' }), '200')
  for (let at = 1; at < 50; at += 1) {
    await ask('PUT', `services/s-${String(at).padStart(2, '0')}`, { body: { kind } })
  }
  const refused = await ask('PUT', 'services/one-more', { body: { kind } })
  t.equal(codeOf(refused), '409 service_limit_reached')
  t.equal(await secrets({}), '200', 'those there are can still be set')

  const seen: string[] = []
  for (let cursor = ''; seen.length < 60;) {
    const { body } = await ask<Page<{ name: string }>>('GET', `services?limit=20${cursor}`)
    seen.push(...body.data.map(({ name }) => name))
    if (!body.has_more) break
    cursor = `&cursor=${String(body.next_cursor)}`
  }
  t.same(
    seen,
    Array.from({ length: 50 }, (_, at) => `s-${String(at).padStart(2, '0')}`),
  )
})

await t.test('an archived app shows its services, and changes none', async (t) => {
  const { ask, request, app } = await openSettings(t)
  const body = { kind: 'email' }
  await ask('PUT', 'services/mail', { body })
  await request('DELETE', `/v1/apps/${app}`)
  t.equal(codeOf(await ask('PUT', 'services/mail', { body })), '409 app_archived')
  t.equal(codeOf(await ask('DELETE', 'services/mail')), '409 app_archived')
  t.equal(codeOf(await ask('GET', 'services/mail')), '200')
})
