import t from 'tap'
import { createAccountsFamily } from '../../daemon/families/accounts/family.ts'
import { createControlResolver } from '../../daemon/http/resolve.ts'
import { codeOf } from '../support/answer.ts'
import { EMAIL, PASSWORD, accountsOf, openSite, serve } from '../support/site.ts'
import type { Page } from '../support/webhooks.ts'
import {
  deliveryOf,
  hasStatus,
  heldAnswer,
  publish,
  receiverFor,
  register,
  shopWorld,
} from '../support/webhooks.ts'
import type { Answer, AnyBody, MintedKey } from '../support/world.ts'

await t.test('the operator acts for the account that the header names', async (t) => {
  const site = await openSite(t)
  const body = { name: 'by the operator', scopes: ['apps:read'] }
  t.equal(codeOf(await site.asOperator('POST', '/v1/keys', body)), '400 account_required')
  t.equal(
    codeOf(await site.asOperator('POST', '/v1/keys', body, 'unknown')),
    '404 account_not_found',
  )
  const made = await site.asOperator('POST', '/v1/keys', body, site.account.id)
  t.equal(made.status, 201)
  t.strictSame(made.body['created_by'], { type: 'operator', id: null })
  const kept = await site.platform.store.keys.get(site.account.id, String(made.body['id']))
  t.equal(kept?.name, 'by the operator')
})

await t.test('accounts and users are the operator’s alone', async (t) => {
  const site = await openSite(t)
  await site.addUser()
  const headers = { cookie: await site.session(), 'sec-fetch-site': 'same-origin' }
  const { key } = await site.mintKey({ scopes: ['*:*'] })
  const credentials = { email: 'x@example.com', password: PASSWORD }
  for (const [method, path, body] of [
    ['GET', '/v1/accounts', undefined],
    ['GET', `/v1/accounts/${site.account.id}`, undefined],
    ['POST', '/v1/accounts', { name: 'mine' }],
    ['POST', '/v1/users', credentials],
    ['POST', '/v1/users/reset-password', credentials],
    ['POST', '/v1/users/plan', { email: EMAIL, plan: 'pro' }],
  ] as const) {
    const byUser = await site.ask(method, path, { headers, body })
    t.equal(codeOf(byUser), '403 operator_required', `${method} ${path} by a user`)
    const byKey = await site.request(method, path, { as: key, body })
    t.equal(codeOf(byKey), '403 operator_required', `${method} ${path} by a key`)
  }
})

await t.test(
  'the control socket acts for the one named, the only account, or the only one with users',
  async (t) => {
    const site = await openSite(t)
    const control = await serve(
      t,
      site.platform,
      site.passwords,
      createControlResolver(site.platform),
    )
    const keys = async (headers = {}): Promise<string> =>
      codeOf(await control('GET', '/v1/keys', { headers }))
    t.equal(await keys(), '200')
    const other = await site.addAccount()
    t.equal(await keys(), '400 account_required')
    t.equal(await keys({ 'keyhook-account': other.id }), '200')
    t.equal(await keys({ 'keyhook-account': 'unknown' }), '404 account_not_found')
    const join = (email: string, account_id: string): Promise<Answer<AnyBody>> =>
      site.asOperator('POST', '/v1/users', { email, password: PASSWORD, account_id })
    t.equal((await join(EMAIL, other.id)).status, 201)
    const made = await control('POST', '/v1/keys', { body: { name: 'x', scopes: ['keys:read'] } })
    t.equal(codeOf(made), '201')
    const headers = { 'keyhook-account': other.id }
    t.match(await control('GET', '/v1/keys', { headers }), { body: { data: [{ name: 'x' }] } })
    t.equal((await join('second@example.com', other.id)).status, 201)
    t.equal(await keys(), '200', 'users of one account')
    t.equal((await join('third@example.com', site.account.id)).status, 201)
    t.equal(await keys(), '400 account_required')
    t.equal(codeOf(await control('GET', '/v1/accounts')), '200')
  },
)

await t.test('accounts are created under a given id or a new one, read and listed', async (t) => {
  const site = await openSite(t)
  const given = await site.asOperator('POST', '/v1/accounts', { name: 'Acme', id: 'acme-1' })
  t.equal(given.status, 201)
  t.match(given.body, { id: 'acme-1', name: 'Acme', plan: 'pro', suspended_at: null })
  const again = await site.asOperator('POST', '/v1/accounts', { name: 'Acme', id: 'acme-1' })
  t.equal(codeOf(again), '409 account_exists')
  t.equal((await site.asOperator('POST', '/v1/accounts', { name: 'Acme' })).status, 201)
  for (const id of ['', 'a b', 'a/b', 'ä', 'x'.repeat(65)]) {
    const refused = await site.asOperator('POST', '/v1/accounts', { name: 'Acme', id })
    t.equal(codeOf(refused), '400 invalid_request', `"${id}"`)
  }
  t.strictSame((await site.asOperator('GET', '/v1/accounts/acme-1')).body, given.body)
  t.equal(codeOf(await site.asOperator('GET', '/v1/accounts/nobody')), '404 account_not_found')

  const seen: string[] = []
  let query = '?limit=1'
  for (let more = true; more;) {
    const { body } = await site.asOperator<Page<{ readonly id: string }>>(
      'GET',
      `/v1/accounts${query}`,
    )
    seen.push(...body.data.map(({ id }) => id))
    query = `?limit=1&cursor=${body.next_cursor}`
    more = body.has_more
  }
  t.equal(seen.length, 3)
  t.strictSame(seen, seen.toSorted().toReversed())
})

await t.test('users join the account named, or get one of their own', async (t) => {
  const site = await openSite(t)
  const create = (body: object): Promise<Answer<AnyBody>> =>
    site.asOperator('POST', '/v1/users', { password: PASSWORD, ...body })
  const own = await create({ email: EMAIL })
  t.equal(own.status, 201)
  t.not(own.body['account_id'], site.account.id)
  const joined = await create({ email: 'second@example.com', account_id: site.account.id })
  t.equal(joined.body['account_id'], site.account.id)
  t.equal(
    codeOf(await create({ email: 'third@example.com', account_id: 'unknown' })),
    '404 account_not_found',
  )
  const before = (await accountsOf(site)).length
  t.equal(codeOf(await create({ email: 'OWNER@example.com' })), '409 email_taken')
  t.equal((await accountsOf(site)).length, before, 'no account is left over')
})

await t.test('addresses and passwords that make no sense are refused', async (t) => {
  const site = await openSite(t)
  const create = async (email: string, password: string): Promise<string> =>
    codeOf(await site.asOperator('POST', '/v1/users', { email, password }))
  const faulty = ['', 'x', '@x.org', 'a@', 'a b@x.org', 'a@x..org', 'a@x.org\n', 'a@b@x.org']
  for (const email of [...faulty, `${'a'.repeat(65)}@x.org`, `a@${'x.'.repeat(130)}org`]) {
    t.equal(await create(email, PASSWORD), '400 invalid_request', JSON.stringify(email))
  }
  for (const password of ['', 'elevenchars', '😀'.repeat(11), 'x'.repeat(129)]) {
    t.equal(await create(EMAIL, password), '400 invalid_request', password.slice(0, 12))
  }
  t.equal(await create(EMAIL, '\ud800'.repeat(12)), '400 invalid_json')
  t.equal(await create('müller+keys@bücher.example', '😀'.repeat(12)), '201')
  t.equal(await create('admin@localhost', '😀'.repeat(128)), '201')
  t.equal((await site.signIn('😀'.repeat(128), 'admin@localhost')).status, 200)
})

await t.test('a free account mints no keys; those it has work on and rotate', async (t) => {
  const site = await openSite(t)
  const { account_id } = await site.addUser()
  const headers = { cookie: await site.session(), 'sec-fetch-site': 'same-origin' }
  const body = { name: 'a key', scopes: ['keys:*'] }
  const made = await site.ask('POST', '/v1/keys', { body, headers })
  const free = await site.asOperator('POST', '/v1/users/plan', { email: EMAIL, plan: 'free' })
  t.match(free.body, { id: account_id, plan: 'free' })

  const minted = await site.ask('POST', '/v1/keys', { body, headers })
  t.equal(codeOf(minted), '403 dev_api_not_enabled')
  const key = String(made.body['key'])
  t.equal((await site.request('GET', '/v1/keys', { as: key })).status, 200)
  const path = `/v1/keys/${String(made.body['id'])}/rotate`
  const rotated = await site.request('POST', path, { as: key })
  t.equal(rotated.status, 201)
  t.equal((await site.request('GET', '/v1/keys', { as: String(rotated.body['key']) })).status, 200)

  await site.asOperator('POST', '/v1/users/plan', { email: EMAIL, plan: 'pro' })
  t.equal((await site.ask('POST', '/v1/keys', { body, headers })).status, 201)
  const unknown = { email: 'nobody@example.com', plan: 'pro' }
  t.equal(codeOf(await site.asOperator('POST', '/v1/users/plan', unknown)), '404 user_not_found')
})

await t.test('a suspended account’s keys and sessions are refused at once', async (t) => {
  const site = await openSite(t)
  const { account_id } = await site.addUser()
  const headers = { cookie: await site.session(), 'sec-fetch-site': 'same-origin' }
  const body = { name: 'a key', scopes: ['keys:*'] }
  const minted = await site.ask<MintedKey>('POST', '/v1/keys', { body, headers })
  const stranger = await site.mintKey({ scopes: ['keys:read'] })
  const act = (verb: string): Promise<Answer<AnyBody>> =>
    site.asOperator('POST', `/v1/accounts/${account_id}/${verb}`)
  const known = async (): Promise<readonly string[]> => [
    codeOf(await site.request('GET', '/v1/keys', { as: minted.body.key })),
    codeOf(await site.ask('GET', '/v1/keys', { headers })),
    codeOf(await site.signIn()),
  ]
  t.same(await known(), ['200', '200', '200'])
  t.match(await act('suspend'), { status: 200, body: { id: account_id, suspended_at: /Z$/ } })
  t.same(await known(), Array(3).fill('403 account_suspended'))
  const { status } = await site.request('GET', '/v1/keys', { as: stranger.key })
  t.equal(status, 200, 'no other account is meant')
  t.equal(codeOf(await act('suspend')), '409 account_suspension_unchanged')
  t.match(await site.asOperator('GET', `/v1/accounts/${account_id}`), {
    body: { suspended_at: /Z$/ },
  })

  t.match(await act('resume'), { status: 200, body: { suspended_at: null } })
  t.same(await known(), ['200', '200', '200'], 'nothing is lost')
  t.equal(codeOf(await act('resume')), '409 account_suspension_unchanged')
  t.equal(
    codeOf(await site.asOperator('POST', '/v1/accounts/unknown/suspend')),
    '404 account_not_found',
  )
})

await t.test('suspending is the operator’s alone, and each is noted once', async (t) => {
  const site = await openSite(t)
  const { key } = await site.mintKey({ scopes: ['*:*'] })
  const path = `/v1/accounts/${site.account.id}/suspend`
  t.equal(codeOf(await site.request('POST', path, { as: key })), '403 operator_required')
  t.equal(codeOf(await site.request('POST', path)), '403 operator_required')
  const asked = await Promise.all([1, 2, 3].map(() => site.asOperator('POST', path)))
  t.same(asked.map(codeOf).sort(), [
    '200',
    '409 account_suspension_unchanged',
    '409 account_suspension_unchanged',
  ])
  const query = { account_id: site.account.id, actor_id: null, target_id: null }
  const noted = await site.platform.store.requests.audit({
    ...query,
    action: 'account.suspended',
    limit: 9,
    after: null,
  })
  t.match(noted.rows, [{ actor_type: 'operator', target_id: site.account.id }])
  t.equal(noted.rows.length, 1)
})

await t.test('a suspended account’s deliveries go on', async (t) => {
  const world = await shopWorld(t, { families: [createAccountsFamily()] })
  const held = heldAnswer()
  const receiver = await receiverFor(t, held.answer)
  const webhook = await register(world, { url: receiver.url })
  const eventId = await publish(world)
  await held.asked
  const operator = world.operatorFor(null)
  const path = `/v1/accounts/${world.account.id}/suspend`
  t.equal((await world.request('POST', path, { as: operator })).status, 200)
  held.letGo()
  t.match(await deliveryOf(world, webhook, eventId, hasStatus('succeeded')), { attempts: [{}] })
})
