import compose from 'koa-compose'
import t from 'tap'
import { z } from 'zod'
import { webhooksFamily } from '../../daemon/families/webhooks/family.ts'
import type { InnerAnswer, InnerRequest } from '../../daemon/http/inner-context.ts'
import type { Protocol, ProtocolOptions } from '../../daemon/http/protocol-steps.ts'
import { admitKey, readMessage } from '../../daemon/http/protocol-steps.ts'
import type { RequestContext } from '../../daemon/http/state.ts'
import { defineFamily } from '../../daemon/operations/family.ts'
import type { StreamEvent } from '../../daemon/operations/operation.ts'
import { operation } from '../../daemon/operations/operation.ts'
import { KeyhookError, defineErrors } from '../../lib/errors.ts'
import type { World, WorldOptions } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

type Run = (
  request: Omit<InnerRequest, 'operation' | 'via'> & { readonly id: string },
) => Promise<InnerAnswer>

/** What the current test does with a request of the other protocol. */
type Handle = (run: Run, ctx: RequestContext, options: ProtocolOptions) => Promise<unknown>

const VIA = { protocol: 'mcp', client: 'a test' } as const

/** A protocol whose requests do what the test says, and answer what it returns as JSON. */
function createProtocol() {
  let handle: Handle = () => Promise.resolve(null)
  const protocol: Protocol = (options) =>
    compose<RequestContext>([
      admitKey(options),
      readMessage(options, 4_194_304),
      async (ctx) => {
        const run: Run = ({ id, ...request }) => {
          const found = options.operations.find((one) => one.id === id)
          if (found === undefined) throw new TypeError(id)
          return options.calls.run(ctx, { ...request, operation: found, via: VIA })
        }
        ctx.body = JSON.stringify(await handle(run, ctx, options)) ?? 'null'
      },
    ])
  return {
    /** Passes on what is not its own, unlike the composed steps. */
    protocol: ((options) => {
      const own = protocol(options)
      return (ctx, next) => (ctx.path === '/inner' ? own(ctx, next) : next())
    }) satisfies Protocol,
    use(next: Handle) {
      handle = next
    },
  }
}

async function createInnerWorld(t: Parameters<typeof createWorld>[0], options: WorldOptions = {}) {
  const { protocol, use } = createProtocol()
  const families = [webhooksFamily, ...(options.families ?? [])]
  const world = await createWorld(t, { ...options, families, protocols: [protocol] })
  const { key, id: keyId } = await world.mintKey({ scopes: ['webhooks:*', 'events:read'] })
  /** Does it inside one request of the other protocol. */
  async function inside<T>(handle: (run: Run, ctx: RequestContext, options: ProtocolOptions) => T) {
    const results: Awaited<T>[] = []
    use(async (...given) => {
      results.push(await handle(...given))
    })
    const { status, body } = await world.request('POST', '/inner', { as: key, body: {} })
    const [result] = results
    if (result === undefined) throw new Error(`${status} ${JSON.stringify(body)}`)
    return result
  }
  /** Status and body of an inner call, as a request of its own would have them. */
  const call = (request: Parameters<Run>[0]) =>
    inside(async (run) => {
      try {
        const answer = await run(request)
        if (answer.kind === 'events') throw new TypeError('events')
        return { ...answer, body: JSON.parse(answer.text) as Record<string, unknown> }
      } catch (cause) {
        if (!(cause instanceof KeyhookError)) throw cause
        const { status, code, errors } = cause
        return { status, body: { error: { code, errors } } }
      }
    })
  return { ...world, key, keyId, use, inside, call }
}

const hook = { url: 'https://hooks.example.com/in', events: ['*'] }
const bodyOf = (value: unknown) => ({ value, text: JSON.stringify(value) })

await t.test('an inner call answers as a request of its own', async (t) => {
  const world = await createInnerWorld(t)
  const { key, call, request } = world
  const made = await call({ id: 'webhooks.create', body: bodyOf(hook) })
  t.match(made, { status: 201, replayed: false, watch: undefined, body: { url: hook.url } })
  const { id: webhook_id } = made.body as { readonly id: string }

  const UNKNOWN = '00000000-0000-7000-8000-000000000000'
  const same: readonly [id: string, method: string, path: string, given: object, body?: unknown][] =
    [
      ['webhooks.get', 'GET', `/v1/webhooks/${webhook_id}`, { params: { webhook_id } }],
      ['webhooks.get', 'GET', `/v1/webhooks/${UNKNOWN}`, { params: { webhook_id: UNKNOWN } }],
      ['webhooks.get', 'GET', '/v1/webhooks/a%2Fb', { params: { webhook_id: 'a/b' } }],
      ['webhooks.list', 'GET', '/v1/webhooks?limit=1', { query: { limit: '1' } }],
      ['webhooks.list', 'GET', '/v1/webhooks?limit=0', { query: { limit: '0' } }],
      ['webhooks.list', 'GET', '/v1/webhooks?by=name', { query: { by: 'name' } }],
      ['webhooks.create', 'POST', '/v1/webhooks', {}],
      ['webhooks.create', 'POST', '/v1/webhooks', {}, { url: 7, more: 1 }],
      ['webhooks.delete', 'DELETE', `/v1/webhooks/${webhook_id}`, { params: { webhook_id } }, {}],
      ['keys.list', 'GET', '/v1/keys', {}],
    ]
  for (const [id, method, path, given, body] of same) {
    const asked = body === undefined ? { as: key } : { as: key, body }
    const own = await request(method, path, asked)
    const inner = await call({
      ...given,
      id,
      ...(body === undefined ? {} : { body: bodyOf(body) }),
    })
    t.equal(inner.status, own.status, `${method} ${path}`)
    const { error } = own.body as {
      readonly error?: { readonly code: string; readonly errors?: [] }
    }
    const expected =
      error === undefined ? own.body : { error: { code: error.code, errors: error.errors ?? [] } }
    t.same(inner.body, expected, `${method} ${path}`)
  }
})

await t.test(
  'an inner call refuses what no URL, and no body of the operation, can have',
  async (t) => {
    const { call } = await createInnerWorld(t)
    t.match(await call({ id: 'webhooks.get', params: { webhook_id: '\ud800' } }), {
      status: 400,
      body: { error: { errors: [{ location: 'path.webhook_id', code: 'not_unicode' }] } },
    })
    const text = JSON.stringify({ url: 'a'.repeat(1_048_576) })
    t.match(await call({ id: 'webhooks.create', body: { value: JSON.parse(text), text } }), {
      status: 413,
      body: { error: { code: 'payload_too_large' } },
    })
    t.match(await call({ id: 'webhooks.list', body: bodyOf({}) }), { status: 400 })
  },
)

await t.test('requests and inner calls spend one rate limit, and see its headers', async (t) => {
  const world = await createInnerWorld(t, { rateLimits: { reads: 3, writes: 100 } })
  const { key, call, use, request } = world
  const read = () => request('GET', '/v1/webhooks', { as: key })
  t.equal((await read()).status, 200)
  t.equal((await call({ id: 'webhooks.list' })).status, 200)
  use((run) => run({ id: 'webhooks.list' }))
  const { headers } = await request('POST', '/inner', { as: key, body: {} })
  t.match(headers.get('ratelimit'), /^"reads";r=0;/)
  t.match(await call({ id: 'webhooks.list' }), { status: 429 })
  t.match(await read(), { status: 429 })
})

await t.test('an Idempotency-Key is one key, whichever way it comes', async (t) => {
  const { key, call, request, inside } = await createInnerWorld(t)
  const headers = { 'idempotency-key': 'k1' }
  const own = await request<{ id: string }>('POST', '/v1/webhooks', {
    as: key,
    body: hook,
    headers,
  })
  const again = { id: 'webhooks.create', body: bodyOf(hook), idempotencyKey: 'k1' }
  t.match(await call(again), { status: 201, replayed: true, body: { id: own.body.id } })
  const other = { ...again, body: bodyOf({ ...hook, description: 'another' }) }
  t.match(await call(other), { status: 422, body: { error: { code: 'idempotency_mismatch' } } })
  let commits = 0
  await inside((run) =>
    run({
      ...again,
      alsoCommit: async () => {
        commits += 1
      },
    }),
  )
  t.equal(commits, 0, 'a replay commits nothing more')
})

await t.test('what is also committed is committed with the work, or neither is', async (t) => {
  const { inside, request, key, platform, account } = await createInnerWorld(t)
  const count = async () =>
    (await request<{ data: unknown[] }>('GET', '/v1/webhooks', { as: key })).body.data.length
  const create = { id: 'webhooks.create', body: bodyOf(hook) }
  for (const idempotencyKey of [undefined, 'k1']) {
    const before = await count()
    await t.rejects(
      inside((run) =>
        run({
          ...create,
          idempotencyKey,
          alsoCommit: () => Promise.reject(new Error('not this')),
        }),
      ),
    )
    t.equal(await count(), before)
    const other = { id: platform.newId(), name: 'with it', plan: 'pro', key_limit: null } as const
    let seen: unknown
    await inside((run) =>
      run({
        ...create,
        idempotencyKey,
        async alsoCommit(tx, { status, body }) {
          seen = { status, url: (JSON.parse(body) as typeof hook).url }
          const now = account.created_at
          await tx.accounts.insert({
            ...other,
            suspended_at: null,
            created_at: now,
            updated_at: now,
          })
        },
      }),
    )
    t.same(seen, { status: 201, url: hook.url })
    t.equal(await count(), before + 1)
    t.match(await platform.store.accounts.get(other.id), { name: 'with it' })
  }
})

await t.test('an inner call is recorded under the request that it came with', async (t) => {
  const { call, use, request, key, platform, account } = await createInnerWorld(t)
  await call({ id: 'webhooks.create', body: bodyOf(hook) })
  use((run) => run({ id: 'webhooks.create', body: bodyOf(hook) }))
  const headers = { 'x-request-id': 'outer-request-1' }
  await request('POST', '/inner', { as: key, body: {}, headers })
  const { rows } = await platform.store.requests.audit({
    account_id: account.id,
    action: null,
    actor_id: null,
    target_id: null,
    limit: 10,
    after: null,
  })
  t.match(rows[0], { action: 'webhook.created', request_id: 'outer-request-1', actor_type: 'key' })
})

await t.test('a caller may be told in advance what it may call', async (t) => {
  const { inside } = await createInnerWorld(t)
  const allowed = await inside((_run, ctx, { calls, operations }) => {
    const { principal } = ctx.state
    if (principal === undefined) throw new TypeError('nobody')
    return operations.filter((one) => calls.allows(principal, one)).map(({ id }) => id)
  })
  t.ok(allowed.includes('webhooks.create'))
  t.notOk(allowed.includes('keys.create'))
  t.ok(allowed.includes('keys.revoke'), 'a key may always end itself')
})

await t.test('a request whose client has left does nothing', async (t) => {
  const { use, key, baseUrl, request } = await createInnerWorld(t)
  const ended = new AbortController()
  const done = new Promise<unknown>((resolve) => {
    use(async (run, ctx) => {
      ended.abort()
      await new Promise((left) => ctx.req.socket.once('close', left))
      const outcome = await run({ id: 'webhooks.create', body: bodyOf(hook) }).catch(
        (cause: unknown) => cause,
      )
      resolve(outcome)
    })
  })
  await t.rejects(
    fetch(`${baseUrl}/inner`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{}',
      signal: ended.signal,
    }),
  )
  t.match(await done, { code: 'request_abandoned' })
  const { body } = await request<{ data: unknown[] }>('GET', '/v1/webhooks')
  t.same(body.data, [])
})

await t.test('the bytes of an answer are held until its call has ended', async (t) => {
  const { inside, traffic } = await createInnerWorld(t)
  const held = await inside(async (run) => {
    const before = traffic.responses.used
    for (let calls = 0; calls < 10; calls += 1) await run({ id: 'webhooks.list' })
    return traffic.responses.used - before
  })
  t.equal(held, 0)
})

const revoke = ({ request, keyId }: World & { keyId: string }) =>
  request('DELETE', `/v1/keys/${keyId}`)

const taleError = defineErrors({ tale_over: { status: 409, text: 'The tale is over.' } })

await t.test('the events of an inner call are left to the protocol', async (t) => {
  const left: unknown[] = []
  const follow = operation({
    effect: 'stream',
    id: 'tales.follow',
    agent: { omit: 'Followed by the tools of this test alone.' },
    summary: 'Follow a tale',
    method: 'GET',
    path: '/v1/tales/{tale_id}/events',
    access: { scope: 'webhooks:read', pinned: 'allowed' },
    emits: ['webhooks'],
    input: { params: z.strictObject({ tale_id: z.string() }) },
    output: z.strictObject({ text: z.string() }),
    errors: ['tale_over'],
    example: { params: { tale_id: 'a' }, response: { text: 'once' } },
    run: ({ params, after, left: signal }) => {
      if (params.tale_id === 'over') return Promise.reject(taleError('tale_over'))
      signal.addEventListener('abort', () => left.push(signal.reason))
      return Promise.resolve(tell(Number(after)))
    },
  })
  async function* tell(after: number): AsyncGenerator<StreamEvent<{ text: string }>> {
    for (let at = after; at < 3; at += 1)
      yield { id: String(at + 1), event: 'told', data: { text: String(at) } }
  }
  const family = defineFamily({
    name: 'tales',
    scopes: {},
    events: [],
    errors: taleError,
    operations: [follow],
  })
  const world = await createInnerWorld(t, { families: [family] })
  const request = { id: 'tales.follow', params: { tale_id: 'a' }, after: '1' }
  const { texts, held } = await world.inside(async (run) => {
    const answer = await run(request)
    if (answer.kind !== 'events') throw new TypeError('no events')
    const texts: unknown[] = []
    for await (const { data } of answer.events) {
      await answer.admit()
      texts.push(data)
    }
    await revoke(world)
    await t.rejects(answer.admit(), { code: 'key_revoked' })
    const held = world.traffic.responses.used
    answer.leave()
    return { texts, held }
  })
  t.same(texts, [{ text: '1' }, { text: '2' }])
  t.ok(held > 0)
  t.match(left, [{ code: 'request_abandoned' }])
})
