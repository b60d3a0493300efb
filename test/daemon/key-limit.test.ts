import t from 'tap'
import { createKeyhook } from '../../daemon/embed/index.ts'
import { auditFamily } from '../../daemon/families/audit/family.ts'
import { codeOf } from '../support/answer.ts'
import { openSite } from '../support/site.ts'

const BODY = { name: 'one more', scopes: ['keys:read'] }

await t.test('the operator sets how many live keys an account may hold', async (t) => {
  const site = await openSite(t)
  const { id } = site.account
  const create = async (): Promise<string> =>
    codeOf(await site.request('POST', '/v1/keys', { body: BODY }))
  const set = (key_limit: unknown) => site.asOperator('PATCH', `/v1/accounts/${id}`, { key_limit })
  t.match(await site.asOperator('GET', `/v1/accounts/${id}`), { body: { key_limit: null } })

  t.match(await set(2), { status: 200, body: { id, key_limit: 2 } })
  t.equal(await create(), '201')
  t.equal(await create(), '201')
  const refused = await site.request('POST', '/v1/keys', { body: BODY })
  t.match(refused, {
    status: 409,
    body: {
      error: {
        code: 'key_limit_reached',
        message: /limit of 2 live keys\. Revoke one first, or ask the operator .* key_limit/,
        details: { limit: 'live_keys_per_account', maximum: 2 },
      },
    },
  })
  t.match(await set(3), { status: 200, body: { key_limit: 3 } })
  t.equal(await create(), '201')
  t.equal(await create(), '409 key_limit_reached')
  t.match(await set(null), { status: 200, body: { key_limit: null } })
  t.equal(await create(), '201')

  for (const wrong of [0, -1, 1.5, '5', 100_001]) {
    t.equal(codeOf(await set(wrong)), '400 invalid_request', String(wrong))
  }
  t.equal(codeOf(await site.asOperator('PATCH', `/v1/accounts/${id}`, {})), '400 invalid_request')
  const unknown = await site.asOperator('PATCH', '/v1/accounts/nobody', { key_limit: 1 })
  t.equal(codeOf(unknown), '404 account_not_found')
  const given = await site.asOperator('POST', '/v1/accounts', { name: 'Small', key_limit: 1 })
  t.match(given, { status: 201, body: { key_limit: 1 } })
})

await t.test('the audit log has each change of an account under a name of its own', async (t) => {
  const site = await openSite(t, { families: [auditFamily] })
  const { id } = site.account
  const path = `/v1/accounts/${id}`
  await site.asOperator('PATCH', path, { plan: 'free', key_limit: 5 })
  await site.asOperator('PATCH', path, { plan: 'pro' })
  const { rows } = await site.platform.store.requests.audit({
    account_id: id,
    action: null,
    actor_id: null,
    target_id: null,
    limit: 10,
    after: null,
  })
  const actions = rows.map(({ action }) => action)
  t.strictSame(actions, ['account.plan_changed', 'account.plan_changed', 'account.updated'])
})

await t.test('neither a key nor a user of the account raises its limit', async (t) => {
  const site = await openSite(t)
  await site.addUser()
  const { key } = await site.mintKey({ scopes: ['*:*'] })
  const path = `/v1/accounts/${site.account.id}`
  const body = { key_limit: 1000 }
  t.equal(codeOf(await site.request('PATCH', path, { as: key, body })), '403 operator_required')
  const headers = { cookie: await site.session(), 'sec-fetch-site': 'same-origin' }
  t.equal(codeOf(await site.ask('PATCH', path, { headers, body })), '403 operator_required')
  t.equal((await site.platform.store.accounts.get(site.account.id))?.key_limit, null)
})

await t.test(
  'creations at once do not pass the limit, and a rotation is not counted',
  async (t) => {
    const site = await openSite(t)
    await site.asOperator('PATCH', `/v1/accounts/${site.account.id}`, { key_limit: 3 })
    const first = await site.mintKey({ scopes: ['apps:read'] })
    const codes = await Promise.all(
      Array.from({ length: 8 }, async () =>
        codeOf(await site.request('POST', '/v1/keys', { body: BODY })),
      ),
    )
    t.strictSame(codes.toSorted(), [
      ...Array<string>(2).fill('201'),
      ...Array<string>(6).fill('409 key_limit_reached'),
    ])
    t.equal(codeOf(await site.request('POST', `/v1/keys/${first.id}/rotate`)), '201')
    await site.asOperator('PATCH', `/v1/accounts/${site.account.id}`, { key_limit: 1 })
    t.equal(codeOf(await site.request('POST', `/v1/keys/${first.id}/rotate`)), '201')
    t.equal(codeOf(await site.request('POST', '/v1/keys', { body: BODY })), '409 key_limit_reached')
  },
)

await t.test('an embedder sets it for an account of its own, and its default', async (t) => {
  const keyhook = await createKeyhook({ dataDir: t.testdir(), keyLimit: 1, logLevel: 'silent' })
  t.teardown(() => keyhook.stop())
  const { keys } = keyhook.as('acct_1')
  await keys.create(BODY)
  await t.rejects(keys.create(BODY), { code: 'key_limit_reached', details: { maximum: 1 } })
  t.strictSame(await keyhook.accounts.update('acct_1', { key_limit: 2 }), {
    id: 'acct_1',
    key_limit: 2,
    plan: 'pro',
  })
  await keys.create(BODY)
  await t.rejects(keys.create(BODY), { code: 'key_limit_reached', details: { maximum: 2 } })
  await keyhook.accounts.update('acct_1', { key_limit: null })
  await t.rejects(keys.create(BODY), { code: 'key_limit_reached', details: { maximum: 1 } })
  await keyhook.as('acct_2').keys.create(BODY)

  const update = keyhook.accounts.update as (...args: readonly unknown[]) => Promise<unknown>
  for (const args of [
    [],
    ['acct_1'],
    ['acct_1', {}],
    ['acct_1', { key_limit: 0 }],
    ['acct_1', { key_limit: '5' }],
    ['acct_1', { key_limit: undefined }],
    ['acct_1', { keyLimit: 5 }],
    ['acct 1', { key_limit: 5 }],
    ['acct_1', { key_limit: 5 }, {}],
  ]) {
    await t.rejects(update(...args), { name: 'TypeError', message: /^accounts\.update: / })
  }
})
