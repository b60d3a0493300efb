import t from 'tap'
import { z } from 'zod'
import { defineFamily } from '../../daemon/operations/family.ts'
import { operation } from '../../daemon/operations/operation.ts'
import type { StreamEvent } from '../../daemon/operations/operation.ts'
import { createStreams } from '../../daemon/http/stream.ts'
import { createAccountsFamily } from '../../daemon/families/accounts/family.ts'
import { appError } from '../../daemon/families/apps/errors.ts'
import { createChanges } from '../../lib/engine/changes.ts'
import { SECOND } from '../../lib/time.ts'
import { createClock } from '../support/clock.ts'
import { openStream } from '../support/stream.ts'
import type { World } from '../support/world.ts'
import { createWorld } from '../support/world.ts'

/** What is told is what streams of it read, each from where its client left off. */
function createTeller() {
  const told: string[] = []
  let wake = (): void => undefined
  let next = new Promise<void>((resolve) => (wake = resolve))
  let readers = 0
  async function* read(after: number): AsyncGenerator<StreamEvent<{ text: string }>> {
    readers += 1
    try {
      for (let at = after; ; at += 1) {
        while (at >= told.length) await next
        const text = told[at] ?? ''
        if (text === 'end') return
        if (text === 'fail') throw appError('app_archived')
        yield { id: String(at + 1), event: 'told', data: { text } }
      }
    } finally {
      readers -= 1
    }
  }
  return {
    read,
    get readers() {
      return readers
    },
    tell(text: string) {
      told.push(text)
      wake()
      next = new Promise<void>((resolve) => (wake = resolve))
    },
  }
}

async function createTellingWorld(t: Parameters<typeof createWorld>[0]) {
  const teller = createTeller()
  const follow = operation({
    effect: 'stream',
    id: 'tales.follow',
    summary: 'Follow a tale',
    method: 'GET',
    path: '/v1/tales/{tale_id}/events',
    access: { scope: 'observe:read', pinned: 'refused' },
    agent: { toolset: 'tales' },
    emits: ['observe'],
    input: { params: z.strictObject({ tale_id: z.string() }) },
    output: z.strictObject({ text: z.string() }),
    errors: ['app_archived'],
    example: { params: { tale_id: 'a' }, response: { text: 'once' } },
    async run({ params, after }) {
      if (params.tale_id === 'gone') throw appError('app_archived')
      return teller.read(Number(after))
    },
  })
  const family = defineFamily({
    name: 'tales',
    scopes: {},
    events: [],
    errors: appError,
    operations: [follow],
  })
  const world = await createWorld(t, { families: [family, createAccountsFamily()] })
  return { ...world, teller }
}

const open = ({ baseUrl }: World, key: string, after?: string) =>
  openStream(`${baseUrl}/v1/tales/a/events`, key, after)

await t.test('a stream', async (t) => {
  await t.test('tells what comes, as server-sent events, until it ends', async (t) => {
    const world = await createTellingWorld(t)
    const { key } = await world.mintKey({ scopes: ['observe:read'] })
    const { response, until } = await open(world, key)
    t.equal(response.status, 200)
    t.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
    t.equal(response.headers.get('cache-control'), 'no-store')
    world.teller.tell('once')
    await until('once')
    world.teller.tell('upon\na time')
    world.teller.tell('end')
    t.equal(
      await until(),
      'retry: 1000\n\nid: 1\nevent: told\ndata: {"text":"once"}\n\n' +
        'id: 2\nevent: told\ndata: {"text":"upon\\na time"}\n\n',
    )
  })
  await t.test('goes on where a client left off', async (t) => {
    const world = await createTellingWorld(t)
    const { key } = await world.mintKey({ scopes: ['observe:read'] })
    for (const text of ['one', 'two', 'three', 'end']) world.teller.tell(text)
    const { until } = await open(world, key, '2')
    t.equal(await until(), 'retry: 1000\n\nid: 3\nevent: told\ndata: {"text":"three"}\n\n')
  })
  await t.test('that may not be opened is refused as any operation is', async (t) => {
    const world = await createTellingWorld(t)
    const { key } = await world.mintKey({ scopes: ['apps:read'] })
    t.match(await world.request('GET', '/v1/tales/a/events', { as: key }), {
      status: 403,
      body: { error: { code: 'insufficient_scope' } },
    })
    t.match(await world.request('GET', '/v1/tales/gone/events'), {
      status: 409,
      body: { error: { code: 'app_archived' } },
    })
  })
  await t.test('whose source fails says why and ends', async (t) => {
    const world = await createTellingWorld(t)
    const { key } = await world.mintKey({ scopes: ['observe:read'] })
    const { until } = await open(world, key)
    world.teller.tell('fail')
    t.match(await until(), /event: error\ndata: \{"code":"app_archived","message":"[^"]+"\}\n\n$/)
  })
  await t.test('that its client leaves is not read on', async (t) => {
    const world = await createTellingWorld(t)
    const { key } = await world.mintKey({ scopes: ['observe:read'] })
    const { until, leave } = await open(world, key)
    world.teller.tell('once')
    await until('once')
    t.equal(world.teller.readers, 1)
    leave()
    // Whoever waits for its source is woken by what comes next.
    for (let turns = 0; world.teller.readers > 0 && turns < 200; turns += 1) {
      world.teller.tell('more')
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    t.equal(world.teller.readers, 0)
  })
})

/** What ends what a key may do, and why its streams are told to end. */
const ENDS: readonly [
  what: string,
  end: (world: World, id: string) => Promise<unknown>,
  code: string,
][] = [
  ['revoked', ({ request }, id) => request('DELETE', `/v1/keys/${id}`), 'key_revoked'],
  [
    'narrowed',
    ({ request }, id) => request('PATCH', `/v1/keys/${id}`, { body: { scopes: ['apps:read'] } }),
    'insufficient_scope',
  ],
  [
    'suspended with its account',
    ({ request, account, operatorFor }) =>
      request('POST', `/v1/accounts/${account.id}/suspend`, { as: operatorFor(null) }),
    'account_suspended',
  ],
]

for (const [what, end, code] of ENDS) {
  await t.test(`a key that is ${what} reads nothing more of its open streams`, async (t) => {
    const world = await createTellingWorld(t)
    const { id, key } = await world.mintKey({ scopes: ['observe:read', 'apps:read'] })
    const stream = await open(world, key)
    world.teller.tell('before')
    await stream.until('before')
    const { status } = (await end(world, id)) as { status: number }
    t.equal(status, 200)
    world.teller.tell('after')
    const text = await stream.until()
    t.match(text, `event: error\ndata: {"code":"${code}"`)
    t.notMatch(text, 'after')
  })
}

await t.test('a stream in which nothing happens', async (t) => {
  const refused = ({ code }: { readonly code: string }): string => `refused: ${code}`
  async function* source(): AsyncGenerator<string> {
    for await (const { data } of createTeller().read(0)) yield data.text
  }

  await t.test('shows that it lives, and looks at its caller each time', async (t) => {
    const clock = createClock(0)
    const { signal: leaving } = new AbortController()
    const streams = createStreams({ changes: createChanges(), clock, leaving })
    let admitted = 0
    const stream = streams.open({
      opening: 'opened',
      pieces: source(),
      refused,
      caller: 'a',
      holder: 'a',
      async admit() {
        admitted += 1
      },
    })
    let text = ''
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
    for (let beats = 0; beats < 3; beats += 1) await clock.advance(5 * SECOND)
    t.equal(text, 'opened:\n\n:\n\n:\n\n')
    t.equal(admitted, 3)
    stream.destroy()
  })
  await t.test('ends at once when the process stops, or its caller is ended', async (t) => {
    const clock = createClock(0)
    const leaving = new AbortController()
    const changes = createChanges()
    const streams = createStreams({ changes, clock, leaving: leaving.signal })
    let isEnded = false
    const opened = ['a', 'b'].map((caller) => {
      const stream = streams.open({
        pieces: source(),
        refused,
        caller,
        holder: caller,
        async admit() {
          if (isEnded && caller === 'a') throw appError('app_archived')
        },
      })
      const state = { text: '', ended: false }
      stream.on('data', (chunk: Buffer) => (state.text += chunk.toString()))
      stream.once('end', () => (state.ended = true))
      return state
    })
    await clock.advance(SECOND)
    isEnded = true
    void changes.emit({ kind: 'webhooks', id: 'a' })
    await clock.advance(0)
    t.same(
      opened.map(({ ended }) => ended),
      [false, false],
    )
    void changes.emit({ kind: 'key', id: 'a' })
    await clock.advance(0)
    t.match(opened[0], { text: 'refused: app_archived', ended: true })
    t.equal(opened[1]?.ended, false)
    leaving.abort()
    await clock.advance(0)
    t.equal(opened[1]?.ended, true)
    t.equal(clock.timers, 0)
  })
  await t.test('counts against its caller until it is closed', async (t) => {
    const clock = createClock(0)
    const { signal: leaving } = new AbortController()
    const streams = createStreams({ changes: createChanges(), clock, leaving })
    const admit = async (): Promise<void> => undefined
    const opened = Array.from({ length: 20 }, () =>
      streams.open({ pieces: source(), refused, caller: 'a', holder: 'a', admit }),
    )
    t.throws(() => streams.open({ pieces: source(), refused, caller: 'a', holder: 'a', admit }), {
      code: 'too_many_streams',
      status: 429,
    })
    opened.push(streams.open({ pieces: source(), refused, caller: 'b', holder: 'b', admit }))
    opened[0]?.destroy()
    await clock.advance(0)
    opened.push(streams.open({ pieces: source(), refused, caller: 'a', holder: 'a', admit }))
    for (const stream of opened) stream.destroy()
  })
  await t.test('is reserved before its work begins', async (t) => {
    const clock = createClock(0)
    const { signal: leaving } = new AbortController()
    const streams = createStreams({ changes: createChanges(), clock, leaving })
    const reader = { caller: 'a', holder: 'a' }
    const reserved = Array.from({ length: 20 }, () => streams.reserve(reader))
    t.throws(() => streams.reserve(reader), { code: 'too_many_streams' })
    reserved[0]?.release()
    reserved[0]?.release()
    const again = streams.reserve(reader)
    t.throws(() => streams.reserve(reader), { code: 'too_many_streams' })
    const opened = again.open({ pieces: source(), refused, admit: async () => undefined })
    again.release()
    t.throws(() => streams.reserve(reader), { code: 'too_many_streams' }, 'it is open')
    opened.destroy()
    streams.reserve(reader).release()
    t.equal(clock.timers, 0)
  })
})
