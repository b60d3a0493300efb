import t from 'tap'
import type { WorkAvailable } from '../../lib/engine/enqueue.ts'
import { createDispatcher } from '../../lib/engine/dispatcher.ts'
import { createKeyring } from '../../lib/engine/keyring.ts'
import type { WebhookQueue } from '../../lib/engine/webhook-queues.ts'
import { createWebhookQueues } from '../../lib/engine/webhook-queues.ts'
import { createPace } from '../../lib/engine/pace.ts'
import type { ClaimedDelivery, Clock, QueueHead } from '../../lib/engine/ports.ts'
import { createSignal } from '../../lib/engine/signal.ts'
import type { SlotHolder, Slots } from '../../lib/engine/slots.ts'
import { createSlots, recordResponse } from '../../lib/engine/slots.ts'
import { createClock } from '../support/clock.ts'
import { claimedOf, countingRandom, plainWebhook } from '../support/engine.ts'

const head = (webhookId: string, due: number): QueueHead => ({
  webhook_id: webhookId,
  account_id: 'acc',
  first_due: due,
  retry_due: null,
})

await t.test('queues', async (t) => {
  await t.test('serve each webhook in turn: one delivery is not behind 5,000', async (t) => {
    const queues = createWebhookQueues({ total: 1, perWebhook: 1 })
    const [big, small] = [queues.get('big', 'a'), queues.get('small', 'b')]
    queues.enqueue(
      big,
      Array.from({ length: 5000 }, (_, at) => claimedOf('big', at)),
    )
    queues.enqueue(small, [claimedOf('small', 0)])
    const order: string[] = []
    for (let next = queues.next(0); next !== undefined; next = queues.next(0)) {
      order.push(next.queue.webhook_id)
      queues.free(next.queue)
    }
    t.same(order.slice(0, 3), ['big', 'small', 'big'])
    t.equal(order.length, 5001)
    t.equal(queues.capacity, 1500)
  })
  await t.test(
    'claim nothing more while large bodies wait, and again once they are fewer',
    async (t) => {
      const queues = createWebhookQueues({ total: 64, perWebhook: 64 })
      const queue = queues.get('a', 'acc')
      const body = new Uint8Array(16_777_216)
      queues.enqueue(
        queue,
        [0, 1, 2, 3].map((at) => ({ ...claimedOf('a', at), body })),
      )
      t.equal(queues.capacity, 0)
      queues.next(0)
      t.equal(queues.capacity, 1497)
      queues.drain()
      t.equal(queues.capacity, 1500)
    },
  )
  await t.test('claim in turn, those with first attempts before those with retries', async (t) => {
    const queues = createWebhookQueues({ total: 8, perWebhook: 2 })
    for (const id of ['r', 'a', 'b', 'later', 'parked']) queues.get(id, 'acc')
    queues.recordHead(queues.get('r', 'acc'), { ...head('r', 0), first_due: null, retry_due: 1 })
    for (const id of ['a', 'b', 'parked']) queues.recordHead(queues.get(id, 'acc'), head(id, 5))
    queues.recordHead(queues.get('later', 'acc'), head('later', 90))
    queues.get('parked', 'acc').paused_until = 60
    const ids = (most: number): string[] => queues.claimable(50, most).map((l) => l.webhook_id)
    t.same(ids(9), ['a', 'b', 'r'])
    t.same(ids(1), ['a'])
    t.same(ids(2), ['b', 'a'])
    t.equal(queues.nextDue(50), 60)
    t.equal(queues.nextDue(89), 90)
    t.equal(queues.nextDue(90), null)
  })
  await t.test('serve accounts in turn, whatever the number of their queues', async (t) => {
    const queues = createWebhookQueues({ total: 64, perWebhook: 1 })
    for (let index = 0; index < 6; index += 1) {
      const queue = queues.get(`big${index}`, 'big')
      queues.enqueue(queue, [claimedOf(queue.webhook_id, 0)])
    }
    const small = queues.get('small', 'small')
    queues.enqueue(small, [claimedOf('small', 0)])
    const turns = [queues.next(0), queues.next(0), queues.next(0)].map(
      (one) => one?.queue.account_id,
    )
    t.same(turns, ['big', 'small', 'big'])
  })
  await t.test('keep one queue per webhook while its head is read', async (t) => {
    const queues = createWebhookQueues({ total: 9, perWebhook: 1 })
    const queue: WebhookQueue = queues.get('a', 'x')
    queues.enqueue(queue, [claimedOf('a', 0)])
    queues.next(0)
    queues.addDue(queue, 0, false)
    queues.startLoading(queue)
    queues.free(queue)
    t.equal(queues.get('a', 'x'), queue)
    queues.recordHead(queue, undefined)
    t.equal(queues.find('a'), undefined, 'and drop it when it has nothing')
  })
})

await t.test('slots', async (t) => {
  const holder = (concurrency: number): SlotHolder => ({
    busy: 0,
    concurrency,
    adaptive_limit: Infinity,
    pace: createPace(),
  })
  const taking = (slots: Slots) => (one: SlotHolder) => {
    const free = slots.hasFreeSlot(one, 0)
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
  await t.test('are reserved for responsive webhooks without a send in progress', async (t) => {
    const slots = createSlots(64)
    const take = taking(slots)
    const [big, small, silent] = [holder(64), holder(64), holder(64)]
    let taken = 0
    while (take(big)) taken += 1
    t.equal(taken, 48)
    t.same([take(small), take(small)], [true, false])
    recordResponse(silent, false)
    t.notOk(take(silent), 'a webhook that timed out gets none of them')
    for (let freed = 0; freed < 10; freed += 1) slots.free(big)
    t.same([take(silent), take(silent)], [true, false], 'one at a time')
    recordResponse(silent, true)
    t.same([take(silent), take(silent)], [true, false], 'twice with each answer')
  })
})

await t.test('capacity is reserved for deliveries being published', async (t) => {
  await t.test('up to the prefetch limit of a webhook, until it is released', async (t) => {
    const queues = createWebhookQueues({ total: 8, perWebhook: 2 })
    const queue = queues.get('a', 'x')
    let held = 0
    while (queues.reserve(queue)) held += 1
    t.equal(held, 12)
    queues.releaseReservation(queue)
    t.ok(queues.reserve(queue))
    for (; held > 0; held -= 1) queues.releaseReservation(queue)
    t.equal(queues.find('a'), undefined, 'and its queue is dropped with the last')
  })
  await t.test(
    'when the process is full, only for webhooks that have nothing queued',
    async (t) => {
      const queues = createWebhookQueues({ total: 256, perWebhook: 64 })
      let held = 0
      for (let index = 0; index < 6; index += 1) {
        while (queues.reserve(queues.get(`big${index}`, 'big'))) held += 1
      }
      t.equal(held, 1502, 'and one for each that had nothing')
      const small = queues.get('small', 'small')
      t.same([queues.reserve(small), queues.reserve(small)], [true, false])
    },
  )
  await t.test('and only one for a webhook that timed out', async (t) => {
    const queues = createWebhookQueues({ total: 8, perWebhook: 4 })
    const queue = queues.get('a', 'x')
    queues.recordResponse(queue, false)
    t.same([queues.reserve(queue), queues.reserve(queue)], [true, false])
  })
})

await t.test('a notification is never lost, whenever it comes during a claim', async (t) => {
  for (let delay = 0; delay < 60; delay += 1) {
    const { sent, due, workAvailable } = await tinyDispatcher()
    const notify = (webhookId: string): void => {
      due.push(claimedOf(webhookId, 1))
      workAvailable.emit({ webhook_id: webhookId, account_id: 'acc', due: 0 })
    }
    notify('a')
    await microtasks(delay)
    notify('b')
    await microtasks(200)
    t.same(sent, ['a-000001', 'b-000001'], `after ${delay} microtasks`)
  }
})

await t.test('what becomes due between a look and the next sleep is not slept over', async (t) => {
  await t.test('because its timer rang a little early', async (t) => {
    const clock = handClock()
    const { sent, due, workAvailable } = await tinyDispatcher(clock)
    due.push(claimedOf('a', 1))
    workAvailable.emit({ webhook_id: 'a', account_id: 'acc', due: 100 })
    clock.time = 100
    clock.reads.push(99)
    clock.ring()
    await microtasks(50)
    t.same(sent, [], 'at 99 it was not due')
    clock.ring()
    await microtasks(50)
    t.same(sent, ['a-000001'])
  })
  await t.test('because another notification came before its timer rang', async (t) => {
    const clock = handClock()
    const { sent, due, workAvailable } = await tinyDispatcher(clock)
    due.push(claimedOf('a', 1))
    workAvailable.emit({ webhook_id: 'a', account_id: 'acc', due: 100 })
    clock.time = 101
    workAvailable.emit({ webhook_id: 'b', account_id: 'acc', due: 200 })
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
  const workAvailable = createSignal<WorkAvailable>()
  const random = countingRandom()
  const ring = createKeyring([{ id: 'k1', key: new Uint8Array(32) }], random)
  const target = { webhook: plainWebhook(() => 'x', ring, random), secrets: [] }
  const dispatcher = createDispatcher({
    store: {
      recover: async () => 0,
      disclaim: async () => undefined,
      queueHeads: async () => [],
      claim: async (ask) =>
        ask().queues.flatMap(({ webhook_id }) => {
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
    recorder: {
      add: () => undefined,
      backpressure: false,
      isIdle: true,
      finish: async () => undefined,
    },
    recovered: createSignal<void>(),
    workAvailable,
    clock,
    limits: { total: 8, perWebhook: 8 },
    timeout: 1,
    lease: 10,
    newClaim: () => 'claim',
  })
  await dispatcher.start()
  await microtasks(50)
  return { sent, due, workAvailable }
}
