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
  s.backlog.wake(s.lane('b'), START, false)
  await turn()
  t.equal(s.claims.length, 1, 'one at a time')
  resolve()
  await s.rest()
  t.same(
    s.claims.map(({ lanes }) => lanes.map(({ webhook_id }) => webhook_id)),
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
    s.backlog.wake(s.lane('a'), START + 12_000, true)
    t.equal(s.clock.timers, 1)
    s.backlog.wake(s.lane('b'), START + 7000, false)
    t.equal(s.clock.timers, 1, 'one timer')
    await s.clock.advance(6999)
    t.equal(s.claims.length, 0)
    await s.clock.advance(1)
    t.same(
      s.claims.map(({ lanes: [one] }) => one?.webhook_id),
      ['b'],
    )
    await s.clock.advance(4999)
    t.equal(s.claims.length, 1)
    await s.clock.advance(1)
    t.same(
      s.claims.map(({ lanes: [one] }) => one?.webhook_id),
      ['b', 'a'],
    )
    await s.backlog.stop()

    const leapt = stageBacklog()
    leapt.backlog.start()
    await leapt.rest()
    leapt.backlog.wake(leapt.lane('a'), START + 60_000, false)
    leapt.clock.set(60_000)
    await leapt.clock.advance(4999)
    t.equal(leapt.claims.length, 0)
    await leapt.clock.advance(1)
    t.equal(leapt.claims.length, 1)
    await leapt.backlog.stop()
  },
)

await t.test('what became due since the last look is not slept over', async (t) => {
  const s = stageBacklog()
  s.note('a')
  s.backlog.start()
  await s.rest()
  t.equal(s.claims.length, 1)
  s.lanes.note(s.lane('b'), START + 3, false)
  await s.clock.advance(3)
  t.equal(s.claims.length, 1, 'nobody woke it')
  s.backlog.wake(s.lane('c'), START + 500, false)
  await s.clock.advance(0)
  t.same(s.claims[1]?.lanes, [{ webhook_id: 'b', limit: 24 }])
  await s.backlog.stop()
})

await t.test('work that found no room is claimed for once any slot is freed', async (t) => {
  const s = stageBacklog({ perWebhook: 250, total: 250 })
  const fill = (id: string, count: number): void => {
    const held = Array.from({ length: count }, (_, at) => claimedOf(id, at))
    s.lanes.enqueue(s.lane(id), held)
  }
  fill('full', 1499)
  fill('a', 1)
  s.note('a')
  s.backlog.start()
  await s.rest()
  t.same([s.lanes.left, s.claims], [0, []])
  s.lanes.next(START)
  s.backlog.freed(s.lane('other'))
  await s.untimed()
  t.same(s.claims[0]?.lanes, [{ webhook_id: 'a', limit: 1 }])
  await s.backlog.stop()
})

await t.test('work that is due is claimed for as soon as it is told of', async (t) => {
  const s = stageBacklog()
  s.backlog.start()
  await s.untimed()
  s.backlog.wake(s.lane('a'), START, false)
  await s.untimed()
  t.equal(s.claims.length, 1)
  await s.backlog.stop()
})

await t.test('a slot that is freed is a reason to claim for a lane that has work', async (t) => {
  const s = stageBacklog()
  s.backlog.start()
  await s.rest()
  for (const [after, retry, claims] of [
    [0, false, 1],
    [0, true, 2],
    [1, false, 2],
    [1, true, 2],
  ] as const) {
    const lane = s.note('a', after, retry)
    s.backlog.freed(lane)
    await s.rest()
    t.equal(s.claims.length, claims, `due in ${after} ms`)
    s.lanes.forget(lane)
    s.lanes.learn(lane, undefined)
  }
  await s.backlog.stop()
})

await t.test('lanes are read by name, or all', async (t) => {
  const s = stageBacklog()
  s.store.lanes = async () => [headOf('a', START + 5), headOf('b', null, START)]
  await s.backlog.read()
  t.same(s.asked, [undefined])
  t.same([s.lane('a').first_due, s.lane('b').retry_due], [START + 5, START])
  t.same(s.claims, [], 'which claims nothing yet')
  s.store.lanes = async () => []
  s.backlog.start()
  await s.rest()
  t.same(
    s.claims.map(({ lanes: [one] }) => one?.webhook_id),
    ['b'],
  )

  s.store.lanes = async () => (s.claims.length < 2 ? [headOf('c', START)] : [])
  s.asked.length = 0
  await s.backlog.refresh(['c'])
  await s.rest()
  t.same(s.asked[0], ['c'])
  t.same(s.claims[1]?.lanes, [{ webhook_id: 'c', limit: 24 }])
  s.asked.length = 0
  await s.backlog.refresh([])
  t.same(s.asked, [], 'none is none')
  await s.backlog.stop()
})

await t.test('who asks while lanes are being read gets one more reading', async (t) => {
  const s = stageBacklog()
  s.backlog.start()
  await s.rest()
  const { promise, resolve } = signal()
  s.store.lanes = () => promise.then(() => [])
  const first = s.backlog.refresh(['a'])
  const second = [s.backlog.refresh(['b']), s.backlog.refresh(['c', 'b'])]
  await turn()
  t.same(s.asked, [['a']])
  resolve()
  await Promise.all([first, ...second])
  t.same(s.asked, [['a'], ['b', 'c']])
  const all = [s.backlog.refresh(['d']), s.backlog.refresh(undefined), s.backlog.refresh(['e'])]
  await Promise.all(all)
  t.same(s.asked.slice(2), [['d'], undefined], 'all holds what is named')
  await s.backlog.stop()
})

await t.test('an older reading does not overwrite what a claim is about to learn', async (t) => {
  const s = stageBacklog()
  const lane = s.note('a')
  const { promise, resolve } = signal()
  s.store.claim = () => promise.then(() => [])
  s.backlog.start()
  await turn()
  s.store.lanes = async () => [headOf('a', START)]
  await s.backlog.refresh(['a'])
  t.same([lane.asked, lane.first_due], [true, null])
  s.store.lanes = async () => []
  resolve()
  await s.rest()
  t.same([s.claims.length, s.lanes.find('a')], [1, undefined])
  await s.backlog.stop()
})

await t.test(
  'a reading that fails is its caller’s to hear of, and the next one reads again',
  async (t) => {
    const s = stageBacklog()
    s.backlog.start()
    s.store.lanes = () => Promise.reject(new Error('away'))
    await t.rejects(s.backlog.refresh(['a']), /away/)
    s.store.lanes = async () => []
    await s.backlog.refresh(['b'])
    t.same(s.asked, [['a'], ['b']])
    await s.backlog.stop()
  },
)
