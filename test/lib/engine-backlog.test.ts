import t from 'tap'
import type { Target } from '../../lib/engine/targets.ts'
import { LEASE, START, headOf, stageBacklog } from '../support/backlog.ts'
import { claimedOf } from '../support/engine.ts'
import { signal } from '../support/signal.ts'

await t.test('what is due is claimed for each queue, in one claim, under a lease', async (t) => {
  const s = stageBacklog()
  s.note('a')
  s.note('b')
  s.note('later', 1)
  s.backlog.start()
  await s.rest()
  t.same(s.claims, [
    {
      queues: [
        { webhook_id: 'a', limit: 24 },
        { webhook_id: 'b', limit: 24 },
      ],
      now: START,
      lease_until: START + LEASE,
      renews: false,
      token: 'claim1',
    },
  ])
  t.same(s.requested, [['a', 'b']], 'and the heads of those that gave less are read')
  t.equal(s.queued, 1)
  t.equal(s.clock.timers, 1)
  await s.clock.advance(1)
  t.same(
    s.claims.map(({ token, now }) => [token, now]),
    [
      ['claim1', START],
      ['claim2', START + 1],
    ],
    'and the next once it is due',
  )
  await s.backlog.stop()
})

await t.test('nothing is claimed before it starts, and nothing once it stopped', async (t) => {
  const s = stageBacklog()
  const queue = s.note('a')
  s.backlog.pump()
  s.backlog.notify(queue, START, false)
  s.backlog.notify(queue, START + 10, false)
  s.backlog.slotFreed(queue)
  await s.backlog.refresh(undefined)
  await s.rest()
  t.same([s.claims, s.requested, s.clock.timers], [[], [], 0])

  s.note('b', 10)
  s.backlog.start()
  await s.rest()
  t.same([s.claims.length, s.clock.timers], [1, 1])
  await s.backlog.stop()
  t.equal(s.clock.timers, 0)
  await s.clock.advance(10)
  s.backlog.pump()
  s.backlog.notify(queue, START, false)
  s.backlog.notify(queue, START + 100, false)
  await s.backlog.refresh(['a'])
  await s.rest()
  t.same([s.claims.length, s.requested.length, s.clock.timers], [1, 1, 0])
})

await t.test('stopping waits for the claim under way, and begins no other', async (t) => {
  const s = stageBacklog()
  s.note('a')
  const { promise, resolve } = signal()
  s.store.claim = async ({ token }) => {
    await promise
    return Array.from({ length: 24 }, (_, at) => claimedOf('a', at, { claim: token }))
  }
  s.backlog.start()
  await s.rest()
  s.backlog.pump()
  let stopped = false
  const stopping = s.backlog.stop().then(() => {
    stopped = true
  })
  await s.rest()
  t.equal(stopped, false)
  resolve()
  await stopping
  t.same([s.claims.length, s.queued, s.queue('a').waiting.length], [1, 1, 24])
  await s.rest()
  t.same([s.claims.length, s.clock.timers], [1, 0])
})

await t.test('a queue that gave as much as its limit is assumed to have more', async (t) => {
  for (const trigger of ['event', 'retry'] as const) {
    const s = stageBacklog({ perWebhook: 1 })
    const queue = s.note('a', 0, trigger === 'retry')
    s.store.claim = async ({ queues: [one] }) =>
      Array.from({ length: one?.limit ?? 0 }, (_, at) => claimedOf('a', at, { trigger }))
    s.backlog.start()
    await s.rest()
    t.same([s.claims.length, queue.waiting.length], [1, 6])
    t.same(s.requested, [], 'without asking')
    const [first, retry] = trigger === 'event' ? [START, null] : [null, START]
    t.same([queue.first_due, queue.retry_due, queue.loading], [first, retry, false])
    await s.backlog.stop()
  }
})

await t.test('the head of a queue that gave less is read', async (t) => {
  const s = stageBacklog()
  const [a, b] = [s.note('a'), s.note('b')]
  s.store.claim = async () => [claimedOf('a', 0)]
  s.store.queueHeads = async () => [headOf('b', null, START + 70), headOf('a', START + 90)]
  s.backlog.start()
  await s.rest()
  t.same([a.first_due, a.retry_due, a.waiting.length], [START + 90, null, 1])
  t.same([b.first_due, b.retry_due, b.waiting.length], [null, START + 70, 0])
  t.same([s.claims.length, s.requested], [1, [['a', 'b']]])
  await s.backlog.stop()
})

await t.test('places of the queue are shared by the queues whose turn it is', async (t) => {
  const s = stageBacklog({ perWebhook: 400, total: 1000 })
  for (const id of ['a', 'b', 'c']) s.note(id)
  s.backlog.start()
  await s.rest()
  t.same(
    s.claims[0]?.queues.map(({ limit }) => limit),
    [167, 167, 167],
    'of 500 at most',
  )
  await s.backlog.stop()

  const many = stageBacklog()
  for (let index = 0; index < 60; index += 1) many.note(`w${index}`)
  many.backlog.start()
  await many.untimed()
  t.same(
    many.claims.map(({ queues }) => queues.length),
    [50, 10],
    'and 50 queues at a time',
  )
  await many.backlog.stop()
})

await t.test(
  'a full process still claims one delivery for each webhook that has none queued',
  async (t) => {
    const s = stageBacklog({ perWebhook: 250, total: 250 })
    s.queues.enqueue(
      s.queue('full'),
      Array.from({ length: 1500 }, (_, at) => claimedOf('full', at)),
    )
    s.note('full')
    s.note('a')
    s.backlog.start()
    await s.rest()
    t.same(
      s.claims.map(({ queues }) => queues),
      [[{ webhook_id: 'a', limit: 1 }]],
    )

    s.queues.next(START)
    const { length } = s.claims
    s.backlog.slotFreed(s.queue('other'))
    await s.rest()
    t.same(s.claims.length, length, 'nobody else is due')
    s.note('b', 5)
    s.backlog.slotFreed(s.queue('b'))
    await s.rest()
    t.same(s.claims.length, length)
    await s.backlog.stop()
  },
)

await t.test('a limit that shrinks while webhooks are read is respected', async (t) => {
  const s = stageBacklog({ perWebhook: 2 })
  const queue = s.note('a')
  s.targets.find = async () => {
    s.queues.enqueue(
      queue,
      Array.from({ length: 20 }, (_, at) => claimedOf('a', at)),
    )
    return undefined
  }
  s.backlog.start()
  await s.rest()
  t.same(s.claims[0]?.queues, [{ webhook_id: 'a', limit: 0 }])
  t.same(s.requested, [['a']], 'none is less than the limit')
  await s.backlog.stop()
})

await t.test('what its owner set is known before anything is claimed for a webhook', async (t) => {
  const s = stageBacklog()
  s.note('a')
  const limits = { concurrency: 1, rate_limit: null }
  s.targets.find = async () => ({ webhook: limits }) as Target
  s.backlog.start()
  await s.rest()
  t.same(s.claims[0]?.queues, [{ webhook_id: 'a', limit: 6 }])
  await s.backlog.stop()

  const failing = stageBacklog()
  failing.note('a')
  const cause = new Error('away')
  failing.targets.find = () => Promise.reject(cause)
  failing.backlog.start()
  await failing.rest()
  t.same(failing.failures, [cause])
  t.same(failing.claims[0]?.queues, [{ webhook_id: 'a', limit: 24 }], 'as it was known before')
  await failing.backlog.stop()
})

await t.test('a failed claim is reported and retried after a second', async (t) => {
  const s = stageBacklog()
  const queue = s.note('a')
  const cause = new Error('away')
  s.store.claim = () => Promise.reject(cause)
  s.backlog.start()
  await s.rest()
  t.same([s.claims.length, s.failures], [1, [cause]])
  t.same([queue.first_due, queue.loading], [START + 1000, false])
  await s.clock.advance(999)
  t.equal(s.claims.length, 1)
  t.same(s.disclaimed, [])
  s.store.claim = async () => []
  await s.clock.advance(1)
  t.same(s.disclaimed, s.claims.slice(0, 1), 'what it may have taken is given back first, and once')
  t.same([s.claims.length, s.failures.length, s.queued], [2, 1, 1])
  t.same(
    s.claims.map(({ renews }) => renews),
    [false, false],
    'and by that alone the calendar was not set forward',
  )
  t.equal(s.queues.find('a'), undefined)
  await s.backlog.stop()
})

await t.test('a calendar that was set forward ends no claim of its own', async (t) => {
  const s = stageBacklog()
  s.note('a')
  s.clock.set(60_000)
  s.store.claim = () => Promise.reject(new Error('away'))
  s.backlog.start()
  await s.rest()
  s.store.claim = async () => []
  await s.clock.advance(1000)
  s.note('b', 61_000)
  s.backlog.pump()
  await s.rest()
  t.same(
    s.claims.map(({ renews }) => renews),
    [true, true, false],
    'as long as that was not seen to',
  )
  await s.backlog.stop()
})

await t.test('while outcomes cannot be recorded nothing is claimed', async (t) => {
  const s = stageBacklog()
  const queue = s.note('a')
  s.recorder.backpressure = true
  s.backlog.start()
  s.backlog.slotFreed(queue)
  await s.rest()
  t.same([s.claims, s.clock.timers], [[], 0])
  s.recorder.backpressure = false
  s.backlog.pump()
  await s.rest()
  t.equal(s.claims.length, 1)
  await s.backlog.stop()

  const later = stageBacklog()
  later.note('a')
  later.store.claim = async () => {
    later.recorder.backpressure = true
    later.note('b')
    return []
  }
  later.backlog.start()
  await later.rest()
  t.equal(later.claims.length, 1, 'nor is another beside it')
  await later.backlog.stop()
})
