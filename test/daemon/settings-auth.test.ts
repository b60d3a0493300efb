import t from 'tap'
import { auditFamily } from '../../daemon/families/audit/family.ts'
import { toIso } from '../../lib/time.ts'
import { codeOf } from '../support/answer.ts'
import { START, openSettings } from '../support/app-settings.ts'
import type { Page } from '../support/webhooks.ts'
import type { AnyBody } from '../support/world.ts'

await t.test('until it is set nobody signs in; then what is named changes', async (t) => {
  const { ask, app } = await openSettings(t)
  const nothing = {
    app_id: app,
    enabled: false,
    providers: [],
    allowed_redirects: [],
    session_ttl: 86_400,
    signup: 'closed',
    in_use: false,
    updated_at: null,
  }
  t.strictSame((await ask('GET', 'auth')).body, nothing)
  const body = {
    enabled: true,
    providers: ['password', 'github'],
    allowed_redirects: ['https://shop.example.com/in?x=%20', 'http://localhost:3000/'],
  }
  const set = { ...nothing, ...body, updated_at: toIso(START) }
  t.strictSame((await ask('PATCH', 'auth', { body })).body, set)
  const more = { session_ttl: 300, signup: 'invite' }
  t.strictSame((await ask('PATCH', 'auth', { body: more })).body, { ...set, ...more })
  t.strictSame((await ask('GET', 'auth')).body, { ...set, ...more })
  const emptied = { providers: [], allowed_redirects: [] }
  t.match((await ask('PATCH', 'auth', { body: emptied })).body, { ...emptied, signup: 'invite' })
})

await t.test('each field is judged by itself', async (t) => {
  const { ask } = await openSettings(t)
  const at = (name: string, count: number): readonly string[] =>
    Array.from({ length: count }, (_, index) => `${name}${index}`)
  const fine: readonly AnyBody[] = [
    { session_ttl: 300 },
    { session_ttl: 7_776_000 },
    { signup: 'open' },
    { providers: at('p', 20) },
    { allowed_redirects: at('https://a.example.com/', 50) },
    {
      allowed_redirects: [
        'http://127.0.0.1:8080/in',
        'http://[::1]/',
        'https://größe.example.com/',
      ],
    },
  ]
  for (const body of fine) {
    t.equal(codeOf(await ask('PATCH', 'auth', { body })), '200', JSON.stringify(body).slice(0, 80))
  }
  const redirects = [
    'shop.example.com',
    '/in',
    '//shop.example.com/in',
    'http://shop.example.com/',
    'http://localhost.example.com/',
    'javascript:alert(1)',
    'ftp://shop.example.com/',
    'https://user@shop.example.com/',
    'https://:x@shop.example.com/',
    'https://shop.example.com/#in',
    'https://shop.example.com\\in',
    'https://shop.example.com/ in',
    'https://',
    'https:shop.example.com',
    `https://shop.example.com/${'x'.repeat(2000)}`,
  ]
  const wrong: readonly (readonly [string, unknown])[] = [
    ['enabled', 'yes'],
    ['session_ttl', 299],
    ['session_ttl', 7_776_001],
    ['session_ttl', 600.5],
    ['signup', 'all'],
    ['providers', at('p', 21)],
    ['providers', ['github', 'github']],
    ['providers', ['GitHub']],
    ['providers', null],
    ['allowed_redirects', at('https://a.example.com/', 51)],
    ['allowed_redirects', ['https://a.example.com/', 'https://a.example.com/']],
    ...redirects.map((one) => ['allowed_redirects', [one]] as const),
  ]
  for (const [field, value] of wrong) {
    const answer = await ask('PATCH', 'auth', { body: { [field]: value } })
    const said = `${field} ${JSON.stringify(value)}`.slice(0, 80)
    t.equal(codeOf(answer), '400 invalid_request', said)
    const { errors } = answer.body['error'] as { errors: { location: string }[] }
    t.ok(errors[0]?.location.startsWith(`body.${field}`), said)
  }
  t.equal(codeOf(await ask('PATCH', 'auth', { body: {} })), '400 invalid_request')
})

/** Every operation of the family, with a body that it takes. */
const OPERATIONS = [
  ['GET', 'domains', undefined, 'read'],
  ['POST', 'domains', { hostname: 'shop.example.com' }, 'write'],
  ['GET', 'domains/nothing', undefined, 'read'],
  ['PATCH', 'domains/nothing', { primary: true }, 'write'],
  ['DELETE', 'domains/nothing', undefined, 'write'],
  ['POST', 'domains/nothing/verify', {}, 'write'],
  ['GET', 'services', undefined, 'read'],
  ['GET', 'services/mail', undefined, 'read'],
  ['PUT', 'services/mail', { kind: 'email' }, 'write'],
  ['DELETE', 'services/mail', undefined, 'write'],
  ['GET', 'auth', undefined, 'read'],
  ['PATCH', 'auth', { enabled: true }, 'write'],
] as const

await t.test(
  'settings of a foreign app, and beyond the pins of a key, are not found',
  async (t) => {
    const { ask, addAccount, userOf, mintKey, newApp, platform, app } = await openSettings(t)
    const stranger = userOf(await addAccount())
    const { key } = await mintKey({ scopes: ['settings:*'], apps: [await newApp()] })
    const pinned = (await mintKey({ scopes: ['settings:*'], apps: [app] })).key
    for (const [method, path, body] of OPERATIONS) {
      for (const as of [stranger, key]) {
        const answer = await ask(method, path, { as, body })
        t.equal(codeOf(answer), '404 app_not_found', `${method} ${path}`)
      }
      t.not(codeOf(await ask(method, path, { as: pinned, body })), '404 app_not_found', path)
    }
    t.equal(await platform.store.domains.count(app), 1, 'of the key alone that is pinned to it')
  },
)

await t.test('who may read settings may not change them, and the other way round', async (t) => {
  const { ask, mintKey } = await openSettings(t)
  const keys = {
    read: (await mintKey({ scopes: ['settings:read'] })).key,
    write: (await mintKey({ scopes: ['settings:write'] })).key,
    none: (await mintKey({ scopes: ['apps:*', 'deploy:*'] })).key,
  }
  for (const [method, path, body, needs] of OPERATIONS) {
    for (const [holds, as] of Object.entries(keys)) {
      const answer = codeOf(await ask(method, path, { as, body }))
      t.equal(answer === '403 insufficient_scope', holds !== needs, `${holds}: ${method} ${path}`)
    }
  }
})

await t.test('every change is noted for the owners, and no reading is', async (t) => {
  const { ask, addDomain, setUp, verify, request, app } = await openSettings(t, {
    families: [auditFamily],
  })
  const domain = await addDomain('shop.example.com')
  const { id } = domain
  setUp(domain)
  await verify(id)
  await verify(id)
  await ask('PATCH', `domains/${id}`, { body: { primary: true } })
  await ask('DELETE', `domains/${id}`)
  await ask('PUT', 'services/mail', { body: { kind: 'email', secrets: { A: 'x' } } })
  await ask('DELETE', 'services/mail')
  await ask('PATCH', 'auth', { body: { enabled: true } })
  await ask('PATCH', 'auth', { body: { session_ttl: 1 } })
  for (const path of ['domains', 'services', 'auth']) await ask('GET', path)
  const { body } = await request<Page<{ action: string; target: AnyBody; app_id: string }>>(
    'GET',
    '/v1/audit-log',
  )
  const own = body.data.filter(({ action }) => /^(domain|service|auth)\./.test(action)).reverse()
  t.ok(own.every(({ app_id }) => app_id === app))
  t.same(
    own.map(({ action, target }) => [action, target['type'], target['id']]),
    [
      ['domain.created', 'domain', id],
      ['domain.checked', 'domain', id],
      ['domain.updated', 'domain', id],
      ['domain.deleted', 'domain', id],
      ['service.set', 'service', 'mail'],
      ['service.deleted', 'service', 'mail'],
      ['auth.updated', 'auth', app],
    ],
  )
})
