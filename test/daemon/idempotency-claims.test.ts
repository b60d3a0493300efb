import type { Test } from 'tap'
import t from 'tap'
import { httpError } from '../../daemon/operations/errors.ts'
import { MINUTE, SECOND, toIso } from '../../lib/time.ts'
import type { StoreTx } from '../../plugins/store/contract.ts'
import { createClock } from '../support/clock.ts'
import { until } from '../support/daemon.ts'
import { signal } from '../support/signal.ts'
import { receiverFor, register, shopWorld } from '../support/webhooks.ts'

const START = Date.UTC(2026, 0, 31)

/** Replays under one Idempotency-Key, of which the first runs until `letGo`. */
async function openReplays(t: Test) {
  const clock = createClock(START)
  const world = await shopWorld(t, { clock })
  const { platform } = world
  const { url } = await receiverFor(t)
  const webhook = await register(world, { url })
  await clock.advance(SECOND)
  const { promise: held, resolve: letGo } = signal()
  t.teardown(async () => letGo())
  let begun = 0
  Object.assign(platform.queues, {
    replays: (async (_turn, work) => {
      begun += 1
      if (begun === 1) await held
      return work()
    }) satisfies typeof platform.queues.replays,
  })
  return {
    clock,
    world,
    letGo,
    begun: () => begun,
    replay: () =>
      world.request<{ error?: { code: string } }>('POST', `/v1/webhooks/${webhook.id}/replay`, {
        body: { since: toIso(START) },
        headers: { 'idempotency-key': 'once' },
      }),
    /** Time passes, and what falls due is committed. */
    async pass(ms: number) {
      for (let passed = 0; passed < ms; passed += SECOND) {
        await clock.advance(SECOND)
        await platform.store.write(() => Promise.resolve())
      }
    },
  }
}

const IN_PROGRESS = { status: 409, body: { error: { code: 'idempotency_in_progress' } } }

void t.test('a claim holds for as long as the work takes', async (t) => {
  const { clock, letGo, begun, replay, pass } = await openReplays(t)
  const timers = clock.timers
  const first = replay()
  await until('it runs', () => begun() === 1)
  for (let minutes = 0; minutes < 5; minutes += 1) {
    await pass(MINUTE)
    t.match(await replay(), IN_PROGRESS, `after ${minutes + 1} minutes`)
  }
  letGo()
  t.equal((await first).status, 202)
  t.equal(begun(), 1)
  t.equal(clock.timers, timers, 'it is not renewed any more')
  await pass(5 * MINUTE)
  const again = await replay()
  t.match(again, { status: 202 })
  t.equal(again.headers.get('idempotency-replayed'), 'true')
})

void t.test('it begins once the claim is written, not before it waited for that', async (t) => {
  const { world, letGo, begun, replay, pass } = await openReplays(t)
  const { platform } = world
  const { writes } = platform.queues
  const { promise: mayWrite, resolve: write } = signal()
  let waits = 0
  Object.assign(platform.queues, {
    writes: (async (turn, work) => {
      waits += 1
      await mayWrite
      return writes(turn, work)
    }) satisfies typeof writes,
  })
  const first = replay()
  await until('it waits', () => waits === 1)
  await pass(55 * SECOND)
  write()
  await until('it runs', () => begun() === 1)
  await pass(10 * SECOND)
  t.match(await replay(), IN_PROGRESS)
  letGo()
  t.equal((await first).status, 202)
})

void t.test('a claim that cannot be given back hides no error, and is logged', async (t) => {
  const { world, replay, letGo } = await openReplays(t)
  const { platform } = world
  const { store } = platform
  letGo()
  const { write } = store
  Object.assign(platform.queues, {
    replays: (async () => {
      throw httpError('rate_limited')
    }) satisfies typeof platform.queues.replays,
  })
  Object.assign(store, {
    write: ((work: (tx: StoreTx) => Promise<unknown>) =>
      write((tx) => {
        const dropIdempotency = () => Promise.reject(new Error('the claim stays'))
        return work({ ...tx, requests: { ...tx.requests, dropIdempotency } })
      })) as typeof write,
  })
  // The world tells of what was logged, with the answer in the message.
  const answered = { message: /"rate_limited"/, cause: { message: 'the claim stays' } }
  await t.rejects(replay(), answered)
  t.match(await replay(), IN_PROGRESS, 'the work is not repeated at once')
})
