import t from 'tap'
import { createPasswords } from '../../daemon/families/accounts/password.ts'
import { auditFamily } from '../../daemon/families/audit/family.ts'
import { FAMILIES } from '../../daemon/families/index.ts'
import { webhooksFamily } from '../../daemon/families/webhooks/family.ts'
import { kernelError } from '../../lib/errors.ts'
import { MINUTE } from '../../lib/time.ts'
import { codeOf } from '../support/answer.ts'
import type { Site } from '../support/site.ts'
import { CHEAP, PASSWORD, openSite } from '../support/site.ts'
import type { Page } from '../support/webhooks.ts'
import type { Answer, AnyBody, MintedKey } from '../support/world.ts'

const families = [webhooksFamily, auditFamily]
const HOOK = { url: 'http://127.0.0.1:9/', events: ['webhook.disabled'] }
const KEY = { name: 'a key', scopes: ['keys:*', 'webhooks:*'] }

type Ask = <Body = AnyBody>(method: string, path: string, body?: unknown) => Promise<Answer<Body>>

interface Owner {
  readonly accountId: string
  /** Asks by the cookie of a session that has just begun. */
  readonly ask: Ask
  stepUp(password?: string): Promise<string>
}

async function signIn(site: Site): Promise<Owner> {
  const { account_id } = await site.addUser()
  const headers = { cookie: await site.session(), 'sec-fetch-site': 'same-origin' }
  const ask: Ask = (method, path, body) => site.ask(method, path, { headers, body })
  return {
    accountId: account_id,
    ask,
    stepUp: async (password = PASSWORD) =>
      codeOf(await ask('POST', '/v1/session/step-up', { password })),
  }
}

/** Asks for everything that needs a recent proof, of what exists. */
async function tryAll(ask: Ask, keyId: string, webhookId: string): Promise<readonly string[]> {
  return [
    codeOf(await ask('POST', '/v1/keys', KEY)),
    codeOf(await ask('POST', `/v1/keys/${keyId}/rotate`)),
    codeOf(await ask('POST', `/v1/webhooks/${webhookId}/rotate-secret`)),
    codeOf(await ask('PATCH', `/v1/webhooks/${webhookId}`, { url: `${HOOK.url}${(moves += 1)}` })),
  ]
}

/** Every redirection leads somewhere else. */
let moves = 0
const OPEN = ['201', '201', '201', '200']
const SHUT = OPEN.map(() => '403 step_up_required')

await t.test('keys, secrets and changes of billing always need a recent proof', (t) => {
  const sensitive = FAMILIES.flatMap(({ operations }) => operations).filter(({ stepUp }) => stepUp)
  t.same(sensitive.map(({ id }) => id).sort(), [
    'billing.cancel',
    'billing.payment_method',
    'billing.portal',
    'billing.subscribe',
    'billing.topup',
    'billing.update_wallet',
    'keys.create',
    'keys.rotate',
    'webhooks.rotate_secret',
  ])
  t.end()
})

await t.test('a sign-in opens it for ten minutes, and the password for ten more', async (t) => {
  const site = await openSite(t, { families })
  const { ask, stepUp } = await signIn(site)
  const key = (await ask<MintedKey>('POST', '/v1/keys', KEY)).body
  const webhook = (await ask('POST', '/v1/webhooks', HOOK)).body
  const all = (): Promise<readonly string[]> => tryAll(ask, key.id, String(webhook['id']))

  await site.clock.advance(10 * MINUTE - 1)
  t.same(await all(), OPEN)
  await site.clock.advance(1)
  t.same(await all(), SHUT)
  for (const [method, path, body] of [
    ['GET', '/v1/keys', undefined],
    ['PATCH', `/v1/keys/${key.id}`, { name: 'renamed' }],
    ['POST', '/v1/webhooks', HOOK],
    ['PATCH', `/v1/webhooks/${String(webhook['id'])}`, { description: 'renamed' }],
    ['PATCH', `/v1/webhooks/${String(webhook['id'])}`, { events: HOOK.events }],
  ] as const) {
    t.match(codeOf(await ask(method, path, body)), /^20[01]$/, `${method} ${path} is always open`)
  }
  t.equal(await stepUp('wrong horse battery'), '401 invalid_credentials')
  t.same(await all(), SHUT, 'a wrong password opens nothing')
  t.equal(await stepUp(), '200')
  t.same(await all(), OPEN)
  await site.clock.advance(10 * MINUTE)
  t.same(await all(), SHUT)
})

await t.test('of two sessions the one that proved itself is opened', async (t) => {
  const site = await openSite(t, { families })
  const { ask, stepUp } = await signIn(site)
  const headers = { cookie: await site.session(), 'sec-fetch-site': 'same-origin' }
  await site.clock.advance(10 * MINUTE)
  t.equal(await stepUp(), '200')
  t.equal(codeOf(await ask('POST', '/v1/keys', KEY)), '201')
  const beside = await site.ask('POST', '/v1/keys', { headers, body: KEY })
  t.equal(codeOf(beside), '403 step_up_required')
})

await t.test('keys and the operator need no proof', async (t) => {
  const site = await openSite(t, { families })
  const { ask, accountId } = await signIn(site)
  const { id } = (await ask<MintedKey>('POST', '/v1/keys', KEY)).body
  const { key } = (await ask<MintedKey>('POST', '/v1/keys', KEY)).body
  const webhook = (await ask('POST', '/v1/webhooks', HOOK)).body
  const webhookId = String(webhook['id'])
  await site.clock.advance(60 * MINUTE)
  const byOperator: Ask = (method, path, body) => site.asOperator(method, path, body, accountId)
  t.same(await tryAll(byOperator, id, webhookId), OPEN)
  const byKey: Ask = (method, path, body) => site.request(method, path, { as: key, body })
  t.equal(codeOf(await byKey('POST', `/v1/webhooks/${webhookId}/rotate-secret`)), '201')
  t.equal(
    codeOf(await byKey('POST', '/v1/session/step-up', { password: PASSWORD })),
    '403 session_required',
  )
})

await t.test('a proof is noted for the owners, without the password', async (t) => {
  const site = await openSite(t, { families })
  const { ask, stepUp } = await signIn(site)
  await site.clock.advance(MINUTE)
  t.equal(await stepUp(), '200')
  t.equal(await stepUp('wrong horse battery'), '401 invalid_credentials')
  const { body } = await ask<Page<AnyBody>>('GET', '/v1/audit-log?action=user.stepped_up')
  t.match(body.data, [{ actor: { type: 'user' }, target: { type: 'user' } }])
  t.equal(body.data.length, 1)
  t.notMatch(JSON.stringify(body), PASSWORD)
})

await t.test('guesses are throttled together with those at the door', async (t) => {
  const site = await openSite(t, { families })
  const { stepUp } = await signIn(site)
  for (let failed = 0; failed < 4; failed += 1) {
    t.equal(await stepUp('wrong horse battery'), '401 invalid_credentials')
  }
  t.equal((await site.signIn('wrong horse battery')).status, 401)
  t.equal(await stepUp(), '429 rate_limited')
  t.equal((await site.signIn()).status, 429)
  await site.clock.advance(15 * MINUTE)
  t.equal(await stepUp(), '200')
})

await t.test('a check that came to no outcome is no guess', async (t) => {
  const inner = createPasswords({ cost: CHEAP })
  let busy = false
  const site = await openSite(t, {
    families,
    passwords: {
      ...inner,
      check: (...given) =>
        busy ? Promise.reject(kernelError('unavailable')) : inner.check(...given),
    },
  })
  const { stepUp } = await signIn(site)
  busy = true
  for (let asked = 0; asked < 6; asked += 1) t.equal(await stepUp(), '503 unavailable')
  busy = false
  t.equal(await stepUp(), '200')
})

await t.test('a password that is reset while it is checked opens nothing', async (t) => {
  const inner = createPasswords({ cost: CHEAP })
  let checked = (): Promise<unknown> => Promise.resolve()
  const site = await openSite(t, {
    families,
    passwords: {
      ...inner,
      async check(...given) {
        const result = await inner.check(...given)
        await checked()
        return result
      },
    },
  })
  const { stepUp } = await signIn(site)
  const changed = { email: 'owner@example.com', password: 'another horse battery' }
  checked = () => site.asOperator('POST', '/v1/users/reset-password', changed)
  t.equal(await stepUp(), '401 session_expired')
})
