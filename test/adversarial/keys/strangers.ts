import { request as requestRaw } from 'node:http'
import { text } from 'node:stream/consumers'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Test } from 'tap'
import { createSignal } from '../race.ts'
import { mintToken } from '../../../lib/key/token.ts'
import { DEFAULT_KEY_PREFIX } from '../../support/key-prefix.ts'
import { HOUR } from '../../../lib/time.ts'
import { sampleEdit } from '../../platform/edit-samples.ts'
import { openStream } from '../../support/stream.ts'
import type { AnyBody } from '../../support/world.ts'
import type { Checks } from '../run.ts'
import type { AppWorld } from './world.ts'
import { openAppWorld, openWorld, OPERATOR_TOKEN } from './world.ts'

const scopes = ['apps:read', 'keys:*']

/** An answer that is still being given: the stream of an edit that waits. */
async function followUntilRevoked(t: Test, world: AppWorld): Promise<void> {
  const { platform, account, a1, baseUrl } = world
  const edit = sampleEdit('edit_1', { app_id: a1, account_id: account.id })
  await platform.store.write((tx) => tx.edits.insert(edit))
  const path = `/v1/apps/${a1}/edits/${edit.id}/events`
  for (const revoked of ['the key', 'its parent'] as const) {
    const parent = await world.make({ scopes: ['edits:read', 'keys:write'] })
    const reader = await world.make({ scopes: ['edits:read'], apps: [a1] }, parent.key)
    const stream = await openStream(baseUrl + path, reader.key)
    await stream.until('queue_position')
    const { id } = revoked === 'the key' ? reader : parent
    t.equal((await world.request('DELETE', `/v1/keys/${id}`)).status, 200)
    t.match(await stream.until(), /event: error\ndata: .*"code":"key_revoked"/, revoked)
  }
}

export const STRANGER_CHECKS: Checks = {
  async K46(t, saw) {
    const world = await openWorld(t, saw)
    const { id } = await world.make({ scopes })
    const path = `/v1/keys/${id}`
    const before = await world.request('GET', path)
    const foreign = ['id', 'account_id', 'parent_id', 'parent_key_id', 'hash', 'version', 'status']
    for (const field of [...foreign, 'created_by', 'owner', 'depth', 'revoked_at']) {
      const bodies = [
        ['POST', '/v1/keys', { name: 'b', scopes }],
        ['PATCH', path, { name: 'b' }],
        ['POST', `${path}/rotate`, {}],
      ] as const
      for (const [method, at, given] of bodies) {
        const body = { ...given, [field]: 'x' }
        const { status, body: answer } = await world.attempt(method, at, { body })
        t.match(
          { status, answer },
          { status: 400, answer: { error: { errors: [{ location: `body.${field}` }] } } },
          `${method} ${at} ${field}`,
        )
      }
    }
    t.same((await world.request('GET', path)).body, before.body)
  },

  async K47(t, saw) {
    const world = await openWorld(t, saw)
    const stranger = await world.addAccount()
    const parent = await world.make({ scopes })
    const child = await world.make({ scopes }, parent.key)
    for (const headers of [
      { 'x-limited-key-id': parent.id },
      { 'x-api-key': parent.key },
      { 'keyhook-account': stranger.id },
      { cookie: `keyhook=${parent.key}` },
    ]) {
      const self = await world.attempt('GET', '/v1/keys/self', { as: child.key, headers })
      t.match(self.body, { id: child.id, account_id: world.account.id }, JSON.stringify(headers))
    }
    for (const headers of [{ 'x-api-key': parent.key }, { authorization: parent.key }]) {
      const asked = await world.attempt('GET', '/v1/keys/self', { as: null, headers })
      t.match(asked.body, { error: { code: 'missing_credentials' } })
    }
    const inQuery = await world.ask('GET', `/v1/keys?key=${parent.key}`, null)
    t.equal(inQuery, '401 missing_credentials')
  },

  async K48(t, saw) {
    const world = await openWorld(t, saw)
    const { key } = await world.make({ scopes: ['*:*'] })
    for (const [method, path] of [
      ['GET', '/v1/accounts'],
      ['POST', '/v1/accounts'],
      ['POST', '/v1/users'],
      ['POST', '/v1/users/plan'],
    ] as const) {
      const answer = await world.ask(method, path, key, method === 'GET' ? undefined : {})
      t.equal(answer, '403 operator_required', path)
    }
    t.equal(await world.ask('GET', '/v1/session', key), '403 session_required')
    const headers = { cookie: `keyhook=${key}` }
    const asUser = await world.attempt('GET', '/v1/session', { as: null, headers })
    t.match(asUser.body, { error: { code: 'session_expired' } })

    const body = { url: 'http://127.0.0.1:9/in', events: ['webhook.test'] }
    const made = await world.request<{ secret: string }>('POST', '/v1/webhooks', { body })
    const { secret } = made.body
    for (const value of [secret, `${OPERATOR_TOKEN}x`, OPERATOR_TOKEN.slice(1)]) {
      t.equal(await world.standing(value), '401 invalid_key')
    }
  },

  async K49(t, saw) {
    const world = await openWorld(t, saw)
    for (const as of [world.user, world.operator]) {
      const { key } = await world.make({ scopes: ['keys:read'] }, as)
      t.equal(await world.mint(key, { scopes: ['keys:read'] }), '403 insufficient_scope')
      t.equal(await world.ask('GET', '/v1/webhooks', key), '403 insufficient_scope')
      t.equal(await world.ask('GET', '/v1/keys', key), '200')
    }
  },

  async K50(t, saw) {
    const world = await openWorld(t, saw)
    const parent = await world.make({ scopes: ['apps:*', 'keys:*'] })
    const key = await world.make({ scopes }, parent.key)
    const uncle = await world.make({ scopes: ['apps:write'] }, parent.key)
    for (const { id, key: value } of [parent, uncle]) {
      t.equal(await world.ask('DELETE', `/v1/keys/${id}`, key.key), '403 key_not_managed')
      t.equal(await world.standing(value), '200')
    }
    const twin = await world.make({ scopes: ['apps:*', 'keys:*'] }, parent.key)
    for (const { id } of [parent, uncle, key]) {
      const rotating = await world.ask('POST', `/v1/keys/${id}/rotate`, twin.key)
      t.equal(rotating, '403 key_not_managed', 'no value of theirs is handed to it')
    }
    t.equal(await world.ask('DELETE', `/v1/keys/${uncle.id}`, twin.key), '200')
    t.equal(await world.standing(uncle.key), '401 key_revoked')

    const weak = await world.make({ scopes: ['apps:read'], apps: ['a1'] }, parent.key)
    t.equal(await world.ask('DELETE', `/v1/keys/${weak.id}`, weak.key), '200')
    t.equal(await world.standing(weak.key), '401 key_revoked')
    t.equal(await world.ask('DELETE', `/v1/keys/${parent.id}`, twin.key), '200')
    t.equal(await world.standing(twin.key), '401 key_revoked', 'it ends with its parent')
  },

  async K51(t, saw) {
    const world = await openAppWorld(t, saw)
    const { id, key } = await world.make({ scopes })
    const body = JSON.stringify({ name: 'late', scopes: ['apps:read'] })
    const admitted = createSignal()
    const { verify } = world.platform.verifier
    const watched = t.intercept(world.platform.verifier, 'verify', {
      async value(given: string) {
        const verified = await verify(given)
        admitted.tell()
        return verified
      },
    })
    const sending = requestRaw(`${world.baseUrl}/v1/keys`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'content-length': body.length,
      },
    })
    sending.write(body.slice(0, -1))
    await admitted.told
    watched.restore()
    t.equal((await world.request('DELETE', `/v1/keys/${id}`)).status, 200)
    sending.end(body.slice(-1))
    const [response] = (await once(sending, 'response')) as [IncomingMessage]
    const { error } = JSON.parse(await text(response)) as { error: { code: string } }
    saw(`${response.statusCode} ${error.code}`)
    t.match((await world.request('GET', '/v1/keys')).body, { data: [] })
    await followUntilRevoked(t, world)
  },

  async K52(t, saw) {
    const world = await openWorld(t, saw)
    const { key } = await world.make({ scopes })
    const nobodys = mintToken(DEFAULT_KEY_PREFIX, (length) => new Uint8Array(length).fill(7)).value
    const malformed = [
      key.slice(0, -1).concat(key.endsWith('0') ? '1' : '0'),
      key.slice(0, -1),
      `${key}0`,
      key.toUpperCase(),
      key.replace('service_dk_', 'another_dk_'),
      'service_dk_',
      'x',
    ]
    const reads = t.capture(
      world.platform.store.keys,
      'findChain',
      world.platform.store.keys.findChain,
    )
    const answers: AnyBody[] = []
    for (const value of [...malformed, nobodys]) {
      const { status, body, headers } = await world.attempt('GET', '/v1/keys/self', { as: value })
      const { request_id: _, ...error } = body['error'] as AnyBody
      answers.push({ status, error, challenge: headers.get('www-authenticate') })
    }
    t.equal(reads.calls.length, 1, 'the one that is well-formed is looked up')
    reads.restore()
    for (const answer of answers) t.same(answer, answers[0])

    const brief = await world.make({ scopes, expires_at: world.at(HOUR) })
    const revoked = await world.make({ scopes })
    await world.request('DELETE', `/v1/keys/${revoked.id}`)
    await world.clock.advance(HOUR)
    t.equal(await world.standing(brief.key), '401 key_expired')
    t.equal(await world.standing(revoked.key), '401 key_revoked')
    t.equal(await world.standing(`${revoked.key.slice(0, -1)}~`), '401 invalid_key')
  },
}
