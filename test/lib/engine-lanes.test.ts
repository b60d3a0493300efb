import t from 'tap'
import type { Woken } from '../../lib/engine/birth.ts'
import { createDispatcher } from '../../lib/engine/dispatcher.ts'
import { createKeyring } from '../../lib/engine/keyring.ts'
import type { Lane } from '../../lib/engine/lanes.ts'
import { createLanes } from '../../lib/engine/lanes.ts'
import { createPace } from '../../lib/engine/pace.ts'
import type { ClaimedDelivery, Clock, LaneHead } from '../../lib/engine/ports.ts'
import { createSignal } from '../../lib/engine/signal.ts'
import type { Holder, Slots } from '../../lib/engine/slots.ts'
import { createSlots, learnFrom } from '../../lib/engine/slots.ts'
import { createClock } from '../support/clock.ts'
import { claimedOf, countingRandom, plainWebhook } from '../support/engine.ts'

const head = (webhookId: string, due: number): LaneHead => ({
  webhook_id: webhookId,
  account_id: 'acc',
  first_due: due,
  retry_due: null,
})

await t.test('lanes', async (t) => {
  await t.test('serve each webhook in turn: one delivery is not behind 5,000', async (t) => {
    const lanes = createLanes({ total: 1, perWebhook: 1 })
    const [big, small] = [lanes.get('big', 'a'), lanes.get('small', 'b')]
    lanes.enqueue(
      big,
      Array.from({ length: 5000 }, (_, at) => claimedOf('big', at)),
    )
    lanes.enqueue(small, [claimedOf('small', 0)])
    const order: string[] = []
    for (let next = lanes.next(0); next !== undefined; next = lanes.next(0)) {
      order.push(next.lane.webhook_id)
      lanes.free(next.lane)
    }
    t.same(order.slice(0, 3), ['big', 'small', 'big'])
    t.equal(order.length, 5001)
    t.equal(lanes.left, 1500)
  })
  await t.test(
    'claim nothing more while large bodies wait, and again once they are fewer',
    async (t) => {
      const lanes = createLanes({ total: 64, perWebhook: 64 })
      const lane = lanes.get('a', 'acc')
      const body = new Uint8Array(16_777_216)
      lanes.enqueue(
        lane,
        [0, 1, 2, 3].map((at) => ({ ...claimedOf('a', at), body })),
      )
      t.equal(lanes.left, 0)
      lanes.next(0)
      t.equal(lanes.left, 1497)
      lanes.drain()
      t.equal(lanes.left, 1500)
    },
  )
  await t.test('claim in turn, those with first attempts before those with retries', async (t) => {
    const lanes = createLanes({ total: 8, perWebhook: 2 })
    for (const id of ['r', 'a', 'b', 'later', 'parked']) lanes.get(id, 'acc')
    lanes.learn(lanes.get('r', 'acc'), { ...head('r', 0), first_due: null, retry_due: 1 })
    for (const id of ['a', 'b', 'parked']) lanes.learn(lanes.get(id, 'acc'), head(id, 5))
    lanes.learn(lanes.get('later', 'acc'), head('later', 90))
    lanes.get('parked', 'acc').parked_until = 60
    const ids = (most: number): string[] => lanes.claimable(50, most).map((l) => l.webhook_id)
    t.same(ids(9), ['a', 'b', 'r'])
    t.same(ids(1), ['a'])
    t.same(ids(2), ['b', 'a'])
    t.equal(lanes.nextDue(50), 60)
    t.equal(lanes.nextDue(89), 90)
    t.equal(lanes.nextDue(90), null)
  })
  await t.test('serve accounts in turn, whatever the number of their lanes', async (t) => {
    const lanes = createLanes({ total: 64, perWebhook: 1 })
    for (let index = 0; index < 6; index += 1) {
      const lane = lanes.get(`big${index}`, 'big')
      lanes.enqueue(lane, [claimedOf(lane.webhook_id, 0)])
    }
    const small = lanes.get('small', 'small')
    lanes.enqueue(small, [claimedOf('small', 0)])
    const turns = [lanes.next(0), lanes.next(0), lanes.next(0)].map((one) => one?.lane.account_id)
    t.same(turns, ['big', 'small', 'big'])
  })
  await t.test('keep one lane per webhook while the store is asked about it', async (t) => {
    const lanes = createLanes({ total: 9, perWebhook: 1 })
    const lane: Lane = lanes.get('a', 'x')
    lanes.enqueue(lane, [claimedOf('a', 0)])
    lanes.next(0)
    lanes.note(lane, 0, false)
    lanes.forget(lane)
    lanes.free(lane)
    t.equal(lanes.get('a', 'x'), lane)
    lanes.learn(lane, undefined)
    t.equal(lanes.find('a'), undefined, 'and forget it when it holds nothing')
  })
})

await t.test('slots', async (t) => {
  const holder = (room: number): Holder => ({
    busy: 0,
    room,
    trusted: Infinity,
    pace: createPace(),
  })
  const taking = (slots: Slots) => (one: Holder) => {
    const free = slots.hasRoom(one, 0)
    if (free) slots.take(one, 0)
    return free
  }
  await t.test('are never more than their limits', async (t) => {
    const slots = createSlots(3)
    const [a, b] = [holder(2), holder(2)]
    t.same([a, a, a, b, b].map(taking(slots)), [true, true, false, true, false])
    slots.free(a)
    t.ok(taking(slots)(b))
    t.equal(slots.busy, 3)
  })
  await t.test('are kept back for who has nothing under way and answers in time', async (t) => {
    const slots = createSlots(64)
    const take = taking(slots)
    const [big, small, silent] = [holder(64), holder(64), holder(64)]
    let taken = 0
    while (take(big)) taken += 1
    t.equal(taken, 48)
    t.same([take(small), take(small)], [true, false])
    learnFrom(silent, false)
    t.notOk(take(silent), 'who gave no answer has no part in them')
    for (let freed = 0; freed < 10; freed += 1) slots.free(big)
    t.same([take(silent), take(silent)], [true, false], 'one at a time')
    learnFrom(silent, true)
    t.same([take(silent), take(silent)], [true, false], 'twice with each answer')
  })
})

await t.test('places in the queue are held for births', async (t) => {
  await t.test('up to what a webhook may hold, and free again when met', async (t) => {
    const lanes = createLanes({ total: 8, perWebhook: 2 })
    const lane = lanes.get('a', 'x')
    let held = 0
    while (lanes.expect(lane)) held += 1
    t.equal(held, 12)
    lanes.met(lane)
    t.ok(lanes.expect(lane))
    for (; held > 0; held -= 1) lanes.met(lane)
    t.equal(lanes.find('a'), undefined, 'and its lane is forgotten with the last')
  })
  await t.test('when the queue is full, for those alone who have nothing in it', async (t) => {
    const lanes = createLanes({ total: 256, perWebhook: 64 })
    let held = 0
    for (let index = 0; index < 6; index += 1) {
      while (lanes.expect(lanes.get(`big${index}`, 'big'))) held += 1
    }
    t.equal(held, 1502, 'and one each for those who had nothing')
    const small = lanes.get('small', 'small')
    t.same([lanes.expect(small), lanes.expect(small)], [true, false])
  })
  await t.test('and none of one that did not answer in time', async (t) => {
    const lanes = createLanes({ total: 8, perWebhook: 4 })
    const lane = lanes.get('a', 'x')
    lanes.heard(lane, false)
    t.same([lanes.expect(lane), lanes.expect(lane)], [true, false])
  })
})

await t.test('a wake-up is never lost, whenever it comes during a claim', async (t) => {
  for (let delay = 0; delay < 60; delay += 1) {
    const { sent, due, woken } = await tinyDispatcher()
    const wake = (webhookId: string): void => {
      due.push(claimedOf(webhookId, 1))
      woken.emit({ webhook_id: webhookId, account_id: 'acc', due: 0 })
    }
    wake('a')
    await microtasks(delay)
    wake('b')
    await microtasks(200)
    t.same(sent, ['a-000001', 'b-000001'], `after ${delay} microtasks`)
  }
})

await t.test('what becomes due between a look and the next sleep is not slept over', async (t) => {
  await t.test('because its timer rang a little early', async (t) => {
    const clock = handClock()
    const { sent, due, woken } = await tinyDispatcher(clock)
    due.push(claimedOf('a', 1))
    woken.emit({ webhook_id: 'a', account_id: 'acc', due: 100 })
    clock.time = 100
    clock.reads.push(99)
    clock.ring()
    await microtasks(50)
    t.same(sent, [], 'at 99 it was not due')
    clock.ring()
    await microtasks(50)
    t.same(sent, ['a-000001'])
  })
  await t.test('because another wake-up came before its timer rang', async (t) => {
    const clock = handClock()
    const { sent, due, woken } = await tinyDispatcher(clock)
    due.push(claimedOf('a', 1))
    woken.emit({ webhook_id: 'a', account_id: 'acc', due: 100 })
    clock.time = 101
    woken.emit({ webhook_id: 'b', account_id: 'acc', due: 200 })
    clock.ring()
    await microtasks(50)
    t.same(sent, ['a-000001'])
  })
})

/** A clock whose timers ring by hand; `reads` are answered first. */
function handClock() {
  const timers = new Set<{ readonly at: number; readonly run: () => void }>()
  const clock = {
    time: 0,
    reads: [] as number[],
    now: () => clock.reads.shift() ?? clock.time,
    steady: () => clock.time,
    after(delay: number, run: () => void) {
      const timer = { at: clock.time + delay, run }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    taken: () => Promise.resolve(),
    ring() {
      for (const timer of [...timers].filter(({ at }) => at <= clock.time)) {
        timers.delete(timer)
        timer.run()
      }
    },
  }
  return clock
}

async function microtasks(count: number): Promise<void> {
  for (let done = 0; done < count; done += 1) await Promise.resolve()
}

/** A dispatcher over an array, so that everything happens in microtasks. */
async function tinyDispatcher(clock: Clock = createClock(0)) {
  const sent: string[] = []
  const due: ClaimedDelivery[] = []
  const woken = createSignal<Woken>()
  const random = countingRandom()
  const ring = createKeyring([{ id: 'k1', key: new Uint8Array(32) }], random)
  const target = { webhook: plainWebhook(() => 'x', ring, random), secrets: [] }
  const dispatcher = createDispatcher({
    store: {
      recover: async () => 0,
      disclaim: async () => undefined,
      lanes: async () => [],
      claim: async (ask) =>
        ask().lanes.flatMap(({ webhook_id }) => {
          const at = due.findIndex(({ delivery }) => delivery.webhook_id === webhook_id)
          return at < 0 ? [] : due.splice(at, 1)
        }),
      release: async () => undefined,
    },
    attempt({ id }) {
      sent.push(id)
      return new Promise(() => undefined)
    },
    targets: { find: async () => ({ ...target, headers: {} }) },
    recorder: { add: () => undefined, stuck: false, finish: async () => undefined },
    recovered: createSignal<void>(),
    woken,
    clock,
    limits: { total: 8, perWebhook: 8 },
    timeout: 1,
    lease: 10,
    newClaim: () => 'claim',
  })
  await dispatcher.start()
  await microtasks(50)
  return { sent, due, woken }
}
