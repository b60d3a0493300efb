import t from 'tap'
import { createBacklog } from '../../lib/engine/backlog.ts'
import { createLanes } from '../../lib/engine/lanes.ts'
import { createLeaps } from '../../lib/engine/leap.ts'
import type { Claim, ClaimedDelivery, LaneHead } from '../../lib/engine/ports.ts'
import type { Target } from '../../lib/engine/targets.ts'
import { createClock, turn } from '../support/clock.ts'
import { claimedOf } from '../support/engine.ts'
import { signal } from '../support/signal.ts'

const START = 1_000_000
const LEASE = 30_000

const headOf = (webhook_id: string, first_due: number | null, retry_due: number | null = null) =>
  ({ webhook_id, account_id: 'acc', first_due, retry_due }) satisfies LaneHead

/** A backlog over a store whose answers a test gives: nothing due, nothing claimed, until it says more. */
function stage({ perWebhook = 4, total = 64 } = {}) {
  const clock = createClock(START)
  const lanes = createLanes({ total, perWebhook })
  const claims: Claim[] = []
  const asked: (readonly string[] | undefined)[] = []
  const failures: unknown[] = []
  let queued = 0
  let tokens = 0
  const store = {
    claim: async (_claim: Claim): Promise<readonly ClaimedDelivery[]> => [],
    lanes: async (_ids: readonly string[] | undefined): Promise<readonly LaneHead[]> => [],
  }
  const recorder = { stuck: false }
  const targets = { find: async (): Promise<Target | undefined> => undefined }
  const backlog = createBacklog({
    store: {
      claim(ask) {
        const claim = ask()
        claims.push(claim)
        return store.claim(claim)
      },
      lanes(ids) {
        asked.push(ids)
        return store.lanes(ids)
      },
    },
    targets: { find: () => targets.find() },
    lanes,
    recorder,
    clock,
    leaps: createLeaps(clock),
    lease: LEASE,
    newClaim: () => `claim${(tokens += 1)}`,
    queued: () => void (queued += 1),
    events: { claimFailed: (cause) => void failures.push(cause) },
  })
  return {
    backlog,
    clock,
    lanes,
    claims,
    asked,
    failures,
    store,
    recorder,
    targets,
    get queued() {
      return queued
    },
    lane: (id: string) => lanes.get(id, 'acc'),
    /** Notes work of a lane that is due after so many milliseconds. */
    note(id: string, after = 0, retry = false) {
      const lane = lanes.get(id, 'acc')
      lanes.note(lane, START + after, retry)
      return lane
    },
    /** Lets what is under way come to rest; no time passes. */
    rest: () => clock.advance(0),
    /** The same without timers, those that are due included. */
    async untimed() {
      for (let turns = 0; turns < 10; turns += 1) await turn()
    },
  }
}

await t.test('what is due is claimed for each lane, in one claim, under a lease', async (t) => {
  const s = stage()
  s.note('a')
  s.note('b')
  s.note('later', 1)
  s.backlog.start()
  await s.rest()
  t.same(s.claims, [
    {
      lanes: [
        { webhook_id: 'a', limit: 24 },
        { webhook_id: 'b', limit: 24 },
      ],
      now: START,
      lease_until: START + LEASE,
      renews: false,
      token: 'claim1',
    },
  ])
  t.same(s.asked, [['a', 'b']], 'and those that gave less are asked what they hold')
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
  const s = stage()
  const lane = s.note('a')
  s.backlog.pump()
  s.backlog.wake(lane, START, false)
  s.backlog.wake(lane, START + 10, false)
  s.backlog.freed(lane)
  await s.backlog.refresh(undefined)
  await s.rest()
  t.same([s.claims, s.asked, s.clock.timers], [[], [], 0])

  s.note('b', 10)
  s.backlog.start()
  await s.rest()
  t.same([s.claims.length, s.clock.timers], [1, 1])
  await s.backlog.stop()
  t.equal(s.clock.timers, 0)
  await s.clock.advance(10)
  s.backlog.pump()
  s.backlog.wake(lane, START, false)
  s.backlog.wake(lane, START + 100, false)
  await s.backlog.refresh(['a'])
  await s.rest()
  t.same([s.claims.length, s.asked.length, s.clock.timers], [1, 1, 0])
})

await t.test('stopping waits for the claim under way, and begins no other', async (t) => {
  const s = stage()
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
  t.same([s.claims.length, s.queued, s.lane('a').queue.length], [1, 1, 24])
  await s.rest()
  t.same([s.claims.length, s.clock.timers], [1, 0])
})

await t.test('a lane that gave all that was asked of it is taken to hold more', async (t) => {
  for (const trigger of ['event', 'retry'] as const) {
    const s = stage({ perWebhook: 1 })
    const lane = s.note('a', 0, trigger === 'retry')
    s.store.claim = async ({ lanes: [one] }) =>
      Array.from({ length: one?.limit ?? 0 }, (_, at) => claimedOf('a', at, { trigger }))
    s.backlog.start()
    await s.rest()
    t.same([s.claims.length, lane.queue.length], [1, 6])
    t.same(s.asked, [], 'without asking')
    const [first, retry] = trigger === 'event' ? [START, null] : [null, START]
    t.same([lane.first_due, lane.retry_due, lane.asked], [first, retry, false])
    await s.backlog.stop()
  }
})

await t.test('a lane that gave less is asked what it holds still', async (t) => {
  const s = stage()
  const [a, b] = [s.note('a'), s.note('b')]
  s.store.claim = async () => [claimedOf('a', 0)]
  s.store.lanes = async () => [headOf('b', null, START + 70), headOf('a', START + 90)]
  s.backlog.start()
  await s.rest()
  t.same([a.first_due, a.retry_due, a.queue.length], [START + 90, null, 1])
  t.same([b.first_due, b.retry_due, b.queue.length], [null, START + 70, 0])
  t.same([s.claims.length, s.asked], [1, [['a', 'b']]])
  await s.backlog.stop()
})

await t.test('places of the queue are shared by the lanes whose turn it is', async (t) => {
  const s = stage({ perWebhook: 400, total: 1000 })
  for (const id of ['a', 'b', 'c']) s.note(id)
  s.backlog.start()
  await s.rest()
  t.same(
    s.claims[0]?.lanes.map(({ limit }) => limit),
    [167, 167, 167],
    'of 500 at most',
  )
  await s.backlog.stop()

  const many = stage()
  for (let index = 0; index < 60; index += 1) many.note(`w${index}`)
  many.backlog.start()
  await many.untimed()
  t.same(
    many.claims.map(({ lanes }) => lanes.length),
    [50, 10],
    'and 50 lanes at a time',
  )
  await many.backlog.stop()
})

await t.test(
  'of a full queue one place each is asked for those of whom it has nothing',
  async (t) => {
    const s = stage({ perWebhook: 250, total: 250 })
    s.lanes.enqueue(
      s.lane('full'),
      Array.from({ length: 1500 }, (_, at) => claimedOf('full', at)),
    )
    s.note('full')
    s.note('a')
    s.backlog.start()
    await s.rest()
    t.same(
      s.claims.map(({ lanes }) => lanes),
      [[{ webhook_id: 'a', limit: 1 }]],
    )

    s.lanes.next(START)
    const { length } = s.claims
    s.backlog.freed(s.lane('other'))
    await s.rest()
    t.same(s.claims.length, length, 'nobody else is due')
    s.note('b', 5)
    s.backlog.freed(s.lane('b'))
    await s.rest()
    t.same(s.claims.length, length)
    await s.backlog.stop()
  },
)

await t.test('what shrinks while the shape of lanes is read is not asked for', async (t) => {
  const s = stage({ perWebhook: 2 })
  const lane = s.note('a')
  s.targets.find = async () => {
    s.lanes.enqueue(
      lane,
      Array.from({ length: 20 }, (_, at) => claimedOf('a', at)),
    )
    return undefined
  }
  s.backlog.start()
  await s.rest()
  t.same(s.claims[0]?.lanes, [{ webhook_id: 'a', limit: 0 }])
  t.same(s.asked, [['a']], 'none is not all of what was asked for')
  await s.backlog.stop()
})

await t.test('what its owner set is known before anything is claimed for a webhook', async (t) => {
  const s = stage()
  s.note('a')
  const shape = { concurrency: 1, rate_limit: null }
  s.targets.find = async () => ({ webhook: shape }) as Target
  s.backlog.start()
  await s.rest()
  t.same(s.claims[0]?.lanes, [{ webhook_id: 'a', limit: 6 }])
  await s.backlog.stop()

  const failing = stage()
  failing.note('a')
  const cause = new Error('away')
  failing.targets.find = () => Promise.reject(cause)
  failing.backlog.start()
  await failing.rest()
  t.same(failing.failures, [cause])
  t.same(failing.claims[0]?.lanes, [{ webhook_id: 'a', limit: 24 }], 'as it was known before')
  await failing.backlog.stop()
})

await t.test('a claim that failed is tried again in a second, and told of', async (t) => {
  const s = stage()
  const lane = s.note('a')
  const cause = new Error('away')
  s.store.claim = () => Promise.reject(cause)
  s.backlog.start()
  await s.rest()
  t.same([s.claims.length, s.failures], [1, [cause]])
  t.same([lane.first_due, lane.asked], [START + 1000, false])
  await s.clock.advance(999)
  t.equal(s.claims.length, 1)
  s.store.claim = async () => []
  await s.clock.advance(1)
  t.same([s.claims.length, s.failures.length, s.queued], [2, 1, 1])
  t.same(
    s.claims.map(({ renews }) => renews),
    [false, false],
    'and by that alone the calendar was not set forward',
  )
  t.equal(s.lanes.find('a'), undefined)
  await s.backlog.stop()
})

await t.test('a calendar that was set forward ends no claim of its own', async (t) => {
  const s = stage()
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
  const s = stage()
  const lane = s.note('a')
  s.recorder.stuck = true
  s.backlog.start()
  s.backlog.freed(lane)
  await s.rest()
  t.same([s.claims, s.clock.timers], [[], 0])
  s.recorder.stuck = false
  s.backlog.pump()
  await s.rest()
  t.equal(s.claims.length, 1)
  await s.backlog.stop()

  const later = stage()
  later.note('a')
  later.store.claim = async () => {
    later.recorder.stuck = true
    later.note('b')
    return []
  }
  later.backlog.start()
  await later.rest()
  t.equal(later.claims.length, 1, 'nor is another beside it')
  await later.backlog.stop()
})

await t.test('who asks while a claim is under way is not forgotten', async (t) => {
  const s = stage()
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
    const s = stage()
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

    const leapt = stage()
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
  const s = stage()
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
  const s = stage({ perWebhook: 250, total: 250 })
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
  const s = stage()
  s.backlog.start()
  await s.untimed()
  s.backlog.wake(s.lane('a'), START, false)
  await s.untimed()
  t.equal(s.claims.length, 1)
  await s.backlog.stop()
})

await t.test('a slot that is freed is a reason to claim for a lane that has work', async (t) => {
  const s = stage()
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
  const s = stage()
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
  const s = stage()
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
  const s = stage()
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
    const s = stage()
    s.backlog.start()
    s.store.lanes = () => Promise.reject(new Error('away'))
    await t.rejects(s.backlog.refresh(['a']), /away/)
    s.store.lanes = async () => []
    await s.backlog.refresh(['b'])
    t.same(s.asked, [['a'], ['b']])
    await s.backlog.stop()
  },
)
