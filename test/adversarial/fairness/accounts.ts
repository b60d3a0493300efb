import { once } from 'node:events'
import type { Test } from 'tap'
import { createBuckets } from '../../../daemon/limits/buckets.ts'
import { createStreams } from '../../../daemon/http/stream.ts'
import { createChanges } from '../../../lib/engine/changes.ts'
import { MINUTE } from '../../../lib/time.ts'
import { createClock } from '../../support/clock.ts'
import { signal } from '../../support/signal.ts'
import type { World } from '../../support/world.ts'
import { createWorld } from '../../support/world.ts'
import type { Checks, Saw } from '../run.ts'

const WRITES = 120

/** An account with three keys, and another one, where writes are limited as by default. */
async function openAccounts(t: Test) {
  const clock = createClock(Date.UTC(2026, 0, 31))
  const world = await createWorld(t, { clock, rateLimits: { reads: 600, writes: WRITES } })
  const scopes = ['keys:*']
  const keys = await Promise.all([1, 2, 3].map(() => world.mintKey({ scopes }, world.operator)))
  const other = world.userOf(await world.addAccount())
  return { ...world, clock, keys: keys.map(({ key }) => key), other }
}

/** A write that is refused once it was counted. */
const UNKNOWN = '/v1/keys/00000000-0000-7000-8000-000000000000'

/** Writes with each key in turn until each was refused; answers how many were let in. */
async function writeAll(world: World, keys: readonly string[], saw: Saw): Promise<number> {
  let written = 0
  for (const as of keys) {
    for (let tries = 0; tries < WRITES + 10; tries += 1) {
      const answer = await world.request('PATCH', UNKNOWN, { as, body: { name: 'a' } })
      if (answer.status === 429) {
        saw('429 rate_limited')
        break
      }
      written += 1
    }
  }
  return written
}

/** Streams of a process in which nothing happens. */
function openStreams() {
  const clock = createClock(0)
  const { signal: leaving } = new AbortController()
  const streams = createStreams({ changes: createChanges(), clock, leaving })
  const events: AsyncIterable<never> = {
    [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }),
  }
  return (caller: string, holder: string) =>
    streams.open({
      pieces: events,
      refused: ({ code }) => code,
      caller,
      holder,
      admit: async () => undefined,
    })
}

/** Resolves once what was queued before has begun: reads begin in an immediate, which a timer may precede. */
function settle(): Promise<unknown> {
  return new Promise((resolve) => {
    setTimeout(() => setImmediate(resolve))
  })
}

export const ACCOUNT_CHECKS: Checks = {
  async F15(t, saw) {
    const world = await openAccounts(t)
    const { keys, clock } = world
    saw(`${await writeAll(world, keys, saw)} writes`)
    const refused = await world.request('PATCH', UNKNOWN, {
      as: keys[2] ?? '',
      body: { name: 'a' },
    })
    t.equal(refused.headers.get('ratelimit-policy'), `"writes";q=${WRITES};w=60`)
    t.equal(refused.headers.get('ratelimit'), '"writes";r=0;t=1', 'of the account')
    t.equal(refused.headers.get('retry-after'), '1')
    const { status } = await world.request('POST', '/v1/keys', {
      as: world.other,
      body: { name: 'b', scopes: ['keys:read'] },
    })
    saw(`${status} to another account`)
    await clock.advance(MINUTE)
    t.equal(await writeAll(world, keys, saw), WRITES)
  },

  async F16(t, saw) {
    const open = openStreams()
    const streams = Array.from({ length: 2000 }, (_, index) => open(`key ${index % 100}`, 'a'))
    const evicted = streams.at(-1)
    const texts: string[] = []
    evicted?.on('data', (chunk: Buffer) => texts.push(chunk.toString()))
    const ended = evicted === undefined ? undefined : once(evicted, 'end')
    const others = Array.from({ length: 20 }, () => open('key b', 'b'))
    saw(`${others.length} streams`)
    await ended
    t.match(texts.join(''), 'too_many_streams')
    saw('too_many_streams')
    t.throws(() => open('key 101', 'a'), { code: 'too_many_streams' }, 'it has most')
    for (const stream of [...streams, ...others]) stream.destroy()
  },

  async F17(t, saw) {
    const buckets = createBuckets(1000)
    const spent = buckets.find('account', 'a', 120, 0)
    spent.left = 0
    for (let name = 0; name < 10_000; name += 1)
      buckets.find('network', `${name}`, 120, 0).left -= 1
    t.equal(buckets.find('network', '0', 120, 0).left, 120, 'it was forgotten')
    saw(`${buckets.find('account', 'a', 120, 0).left} left`)
    t.equal(buckets.find('account', 'a', 120, MINUTE).left, 120, 'it refills with time')
  },

  async F62(t, saw) {
    const { platform, traffic } = await createWorld(t)
    const { largePages, polls, applying, replays, writes } = platform.queues
    const queues = { largePages, polls, applying, replays, writes }
    const places = { largePages: 4, polls: 4, applying: 2, replays: 2, writes: 2 }
    for (const [name, queue] of Object.entries(queues)) {
      const begun: string[] = []
      const { promise: opened, resolve: open } = signal()
      const add = (holder: string) =>
        queue({ holder }, async () => {
          begun.push(holder)
          await opened
        })
      const flood = Array.from({ length: 20 }, () => add('a'))
      await settle()
      const every = places[name as keyof typeof places]
      saw(begun.length === every ? 'every place' : `${begun.length} places of ${name}`)
      const other = add('b')
      open()
      await Promise.all([...flood, other])
      saw(begun[every] === 'b' ? 'the next place' : `${name}: place ${begun.indexOf('b')}`)
    }
    const { transfers } = traffic
    const begin = (address: string) => transfers.begin('download', undefined, address)
    const first = Array.from({ length: 100 }, () => begin('192.0.2.1'))
    saw(first.length === 100 ? 'every place' : 'less')
    const other = begin('192.0.2.2')
    saw('the next place')
    t.throws(() => begin('192.0.2.1'), { code: 'too_many_transfers' })
    for (const transfer of [...first, other]) transfer.end()
  },
}
