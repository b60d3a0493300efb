import t from 'tap'
import { START, headOf, stageBacklog } from '../support/backlog.ts'
import { turn } from '../support/clock.ts'
import { claimedOf } from '../support/engine.ts'
import { signal } from '../support/signal.ts'

await t.test('who asks while a claim is under way is not forgotten', async (t) => {
  const s = stageBacklog()
  s.note('a')
  const { promise, resolve } = signal()
  s.store.claim = () => promise.then(() => [])
  s.backlog.start()
  await turn()
  s.backlog.notify(s.queue('b'), START, false)
  await turn()
  t.equal(s.claims.length, 1, 'one at a time')
  resolve()
  await s.rest()
  t.same(
    s.claims.map(({ queues }) => queues.map(({ webhook_id }) => webhook_id)),
    [['a'], ['b']],
  )
  await s.backlog.stop()
})

await t.test(
  'sleeps until something is due, and no longer than the calendar is trusted',
  async (t) => {
    const s = stageBacklog()
    s.backlog.start()
    await s.rest()
    t.equal(s.clock.timers, 0)
    s.backlog.notify(s.queue('a'), START + 12_000, true)
    t.equal(s.clock.timers, 1)
    s.backlog.notify(s.queue('b'), START + 7000, false)
    t.equal(s.clock.timers, 1, 'one timer')
    await s.clock.advance(6999)
    t.equal(s.claims.length, 0)
    await s.clock.advance(1)
    t.same(
      s.claims.map(({ queues: [one] }) => one?.webhook_id),
      ['b'],
    )
    await s.clock.advance(4999)
    t.equal(s.claims.length, 1)
    await s.clock.advance(1)
    t.same(
      s.claims.map(({ queues: [one] }) => one?.webhook_id),
      ['b', 'a'],
    )
    await s.backlog.stop()

    const jumped = stageBacklog()
    jumped.backlog.start()
    await jumped.rest()
    jumped.backlog.notify(jumped.queue('a'), START + 60_000, false)
    jumped.clock.set(60_000)
    await jumped.clock.advance(4999)
    t.equal(jumped.claims.length, 0)
    await jumped.clock.advance(1)
    t.equal(jumped.claims.length, 1)
    await jumped.backlog.stop()
  },
)

await t.test('what became due since the last look is not slept over', async (t) => {
  const s = stageBacklog()
  s.note('a')
  s.backlog.start()
  await s.rest()
  t.equal(s.claims.length, 1)
  s.queues.addDue(s.queue('b'), START + 3, false)
  await s.clock.advance(3)
  t.equal(s.claims.length, 1, 'nobody woke it')
  s.backlog.notify(s.queue('c'), START + 500, false)
  await s.clock.advance(0)
  t.same(s.claims[1]?.queues, [{ webhook_id: 'b', limit: 24 }])
  await s.backlog.stop()
})

await t.test('work that found no room is claimed for once any slot is freed', async (t) => {
  const s = stageBacklog({ perWebhook: 250, total: 250 })
  const fill = (id: string, count: number): void => {
    const held = Array.from({ length: count }, (_, at) => claimedOf(id, at))
    s.queues.enqueue(s.queue(id), held)
  }
  fill('full', 1499)
  fill('a', 1)
  s.note('a')
  s.backlog.start()
  await s.rest()
  t.same([s.queues.capacity, s.claims], [0, []])
  s.queues.next(START)
  s.backlog.slotFreed(s.queue('other'))
  await s.untimed()
  t.same(s.claims[0]?.queues, [{ webhook_id: 'a', limit: 1 }])
  await s.backlog.stop()
})

await t.test('due work is claimed at the notification', async (t) => {
  const s = stageBacklog()
  s.backlog.start()
  await s.untimed()
  s.backlog.notify(s.queue('a'), START, false)
  await s.untimed()
  t.equal(s.claims.length, 1)
  await s.backlog.stop()
})

await t.test('a slot that is freed is a reason to claim for a queue that has work', async (t) => {
  const s = stageBacklog()
  s.backlog.start()
  await s.rest()
  for (const [after, retry, claims] of [
    [0, false, 1],
    [0, true, 2],
    [1, false, 2],
    [1, true, 2],
  ] as const) {
    const queue = s.note('a', after, retry)
    s.backlog.slotFreed(queue)
    await s.rest()
    t.equal(s.claims.length, claims, `due in ${after} ms`)
    s.queues.startLoading(queue)
    s.queues.recordHead(queue, undefined)
  }
  await s.backlog.stop()
})

await t.test('queues are read by name, or all', async (t) => {
  const s = stageBacklog()
  s.store.queueHeads = async () => [headOf('a', START + 5), headOf('b', null, START)]
  await s.backlog.read()
  t.same(s.requested, [undefined])
  t.same([s.queue('a').first_due, s.queue('b').retry_due], [START + 5, START])
  t.same(s.claims, [], 'which claims nothing yet')
  s.store.queueHeads = async () => []
  s.backlog.start()
  await s.rest()
  t.same(
    s.claims.map(({ queues: [one] }) => one?.webhook_id),
    ['b'],
  )

  s.store.queueHeads = async () => (s.claims.length < 2 ? [headOf('c', START)] : [])
  s.requested.length = 0
  await s.backlog.refresh(['c'])
  await s.rest()
  t.same(s.requested[0], ['c'])
  t.same(s.claims[1]?.queues, [{ webhook_id: 'c', limit: 24 }])
  s.requested.length = 0
  await s.backlog.refresh([])
  t.same(s.requested, [], 'none is none')
  await s.backlog.stop()
})

await t.test('who asks while queues are being read gets one more reading', async (t) => {
  const s = stageBacklog()
  s.backlog.start()
  await s.rest()
  const { promise, resolve } = signal()
  s.store.queueHeads = () => promise.then(() => [])
  const first = s.backlog.refresh(['a'])
  const second = [s.backlog.refresh(['b']), s.backlog.refresh(['c', 'b'])]
  await turn()
  t.same(s.requested, [['a']])
  resolve()
  await Promise.all([first, ...second])
  t.same(s.requested, [['a'], ['b', 'c']])
  const all = [s.backlog.refresh(['d']), s.backlog.refresh(undefined), s.backlog.refresh(['e'])]
  await Promise.all(all)
  t.same(s.requested.slice(2), [['d'], undefined], 'all holds what is named')
  await s.backlog.stop()
})

await t.test('an older reading does not overwrite what a claim is about to learn', async (t) => {
  const s = stageBacklog()
  const queue = s.note('a')
  const { promise, resolve } = signal()
  s.store.claim = () => promise.then(() => [])
  s.backlog.start()
  await turn()
  s.store.queueHeads = async () => [headOf('a', START)]
  await s.backlog.refresh(['a'])
  t.same([queue.loading, queue.first_due], [true, null])
  s.store.queueHeads = async () => []
  resolve()
  await s.rest()
  t.same([s.claims.length, s.queues.find('a')], [1, undefined])
  await s.backlog.stop()
})

await t.test(
  'a reading that fails is its caller’s to hear of, and the next one reads again',
  async (t) => {
    const s = stageBacklog()
    s.backlog.start()
    s.store.queueHeads = () => Promise.reject(new Error('away'))
    await t.rejects(s.backlog.refresh(['a']), /away/)
    s.store.queueHeads = async () => []
    await s.backlog.refresh(['b'])
    t.same(s.requested, [['a'], ['b']])
    await s.backlog.stop()
  },
)
