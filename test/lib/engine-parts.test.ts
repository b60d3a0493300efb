import fc from 'fast-check'
import t from 'tap'
import { createAccountCache } from '../../lib/engine/account-cache.ts'
import { createDispatcher } from '../../lib/engine/dispatcher.ts'
import { createKeyring, parseMasterKeys } from '../../lib/engine/keyring.ts'
import type { Lane } from '../../lib/engine/lanes.ts'
import { createLanes } from '../../lib/engine/lanes.ts'
import type { ClaimedDelivery, LaneHead, Clock } from '../../lib/engine/ports.ts'
import { createSignal } from '../../lib/engine/signal.ts'
import type { Woken } from '../../lib/engine/birth.ts'
import { toBase64 } from '../../lib/internal/bytes.ts'
import { createClock } from '../support/clock.ts'
import { countingRandom, plainWebhook } from '../support/engine.ts'

const KEY = (fill: number): Uint8Array => new Uint8Array(32).fill(fill)
const anyText = fc.string({ unit: 'grapheme' })

await t.test('the keyring', async (t) => {
  const random = countingRandom()
  const ring = createKeyring([{ id: 'k1', key: KEY(1) }], random)
  const unreadable = { code: 'secret_unreadable' }

  await t.test('opens what it sealed', async () => {
    fc.assert(
      fc.property(anyText, anyText, (text, at) => ring.open(ring.seal(text, at), at) === text),
    )
  })
  await t.test('opens a secret in its place alone', async (t) => {
    const sealed = ring.seal('whsec_x', 'webhook_secret|1')
    for (const place of ['', 'webhook_secret|2', 'webhook_secret|1 ']) {
      t.throws(() => ring.open(sealed, place), unreadable, place)
    }
  })
  await t.test('refuses what differs by one bit, is cut or goes on', async (t) => {
    const sealed = ring.seal('whsec_x', 'here')
    for (let at = 0; at < sealed.length; at += 1) {
      for (let bit = 0; bit < 7; bit += 1) {
        const flipped = String.fromCharCode(sealed.charCodeAt(at) ^ (1 << bit))
        const forged = sealed.slice(0, at) + flipped + sealed.slice(at + 1)
        t.throws(() => ring.open(forged, 'here'), unreadable, `${at}:${bit}`)
      }
      t.throws(() => ring.open(sealed.slice(0, at), 'here'), unreadable, `cut at ${at}`)
    }
    t.throws(() => ring.open(`${sealed}.x`, 'here'), unreadable)
  })
  await t.test('opens with an older master key, and seals with the first', async (t) => {
    const old = ring.seal('whsec_x', 'here')
    const rotated = createKeyring(
      [
        { id: 'k2', key: KEY(2) },
        { id: 'k1', key: KEY(1) },
      ],
      random,
    )
    t.equal(rotated.open(old, 'here'), 'whsec_x')
    t.throws(() => ring.open(rotated.seal('whsec_y', 'here'), 'here'), unreadable)
    const alike = createKeyring([{ id: 'k1', key: KEY(3) }], random)
    t.throws(() => alike.open(old, 'here'), unreadable)
    t.throws(() => createKeyring([], random), TypeError)
  })
  await t.test('never seals twice to the same text', async (t) => {
    t.not(ring.seal('a', 'here'), ring.seal('a', 'here'))
  })
  await t.test('reads its master keys, and refuses others without showing them', async (t) => {
    const good = `k1:${toBase64(KEY(1))}`
    t.same(parseMasterKeys(`${good}, k_2:${toBase64(KEY(2))}`), [
      { id: 'k1', key: KEY(1) },
      { id: 'k_2', key: KEY(2) },
    ])
    const value = 'S3cretS3cretS3cret'
    const wrong = [
      '',
      value,
      `k1:${value}`,
      `k1:${toBase64(KEY(1).subarray(1))}`,
      `k1:${toBase64(KEY(1))}x`,
      `:${toBase64(KEY(1))}`,
      `${'k'.repeat(33)}:${toBase64(KEY(1))}`,
      `k.1:${toBase64(KEY(1))}`,
      `k1:${'A'.repeat(42)}B=`,
      `${good},`,
      `${good},${good}`,
    ]
    for (const text of wrong) {
      const values = text.split(/[,:]/).filter((part) => part.length > 10)
      let said = 'nothing'
      try {
        parseMasterKeys(text)
      } catch (error) {
        if (error instanceof TypeError) said = error.message
      }
      t.match(said, /^master key/, text)
      t.notOk(values.some((part) => said.includes(part)))
    }
  })
})

await t.test('the account cache', async (t) => {
  function slowCache(max?: number) {
    const reads: ((value: string) => void)[] = []
    const load = (): Promise<string> => new Promise((resolve) => reads.push(resolve))
    return { reads, cache: createAccountCache(load, () => true, max) }
  }
  await t.test('reads once for all who wait', async (t) => {
    const { reads, cache } = slowCache()
    const both = [cache.get('a'), cache.get('a')]
    t.equal(cache.peek('a'), undefined)
    reads[0]?.('one')
    t.same(await Promise.all(both), ['one', 'one'])
    t.equal(await cache.get('a'), 'one')
    t.equal(reads.length, 1)
  })
  await t.test('neither keeps nor answers what was read before a drop', async (t) => {
    const { reads, cache } = slowCache()
    const both = [cache.get('a'), cache.get('a')]
    cache.drop('a')
    const late = cache.get('a')
    reads[0]?.('old')
    await Promise.resolve()
    t.equal(cache.peek('a'), undefined)
    for (let turns = 0; turns < 5; turns += 1) await Promise.resolve()
    t.equal(reads.length, 2)
    reads[1]?.('new')
    t.same(await Promise.all([...both, late]), ['new', 'new', 'new'])
    t.equal(cache.peek('a'), 'new')
  })
  await t.test('forgets the oldest account when it is full, and a read that failed', async (t) => {
    const { reads, cache } = slowCache(2)
    for (const [at, id] of ['a', 'b', 'c'].entries()) {
      const value = cache.get(id)
      reads[at]?.(id)
      await value
    }
    t.same(['a', 'b', 'c'].map(cache.peek), [undefined, 'b', 'c'])
    let fails = true
    const shaky = createAccountCache(async () => {
      if (fails) throw new Error('no')
      return 'yes'
    })
    await t.rejects(shaky.get('a'), /no/)
    fails = false
    t.equal(await shaky.get('a'), 'yes')
  })
})

const claimed = (webhookId: string, at: number): ClaimedDelivery => ({
  delivery: {
    id: `${webhookId}-${String(at).padStart(6, '0')}`,
    account_id: 'acc',
    webhook_id: webhookId,
    event_id: 'evt_1',
    event_type: 'order.paid',
    app_id: null,
    status: 'delivering',
    attempts: 0,
    automatic: 0,
    trigger: 'event',
    next_at: 1_000_000,
    created_at: 0,
    done_at: null,
    claim: 'c',
  },
  body: new Uint8Array(),
})
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
      Array.from({ length: 5000 }, (_, at) => claimed('big', at)),
    )
    lanes.enqueue(small, [claimed('small', 0)])
    const order: string[] = []
    for (let next = lanes.next(0); next !== undefined; next = lanes.next(0)) {
      order.push(next.lane.webhook_id)
      lanes.free(next.lane)
    }
    t.same(order.slice(0, 3), ['big', 'small', 'big'])
    t.equal(order.length, 5001)
    t.equal(lanes.queued, 0)
  })
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
  await t.test('never give more slots than their limits', async (t) => {
    const lanes = createLanes({ total: 3, perWebhook: 2 })
    const [a, b] = [lanes.get('a', 'x'), lanes.get('b', 'x')]
    t.same(
      [a, a, a, b, b].map((lane) => lanes.take(lane, 0)),
      [true, true, false, true, false],
    )
    lanes.enqueue(b, [claimed('b', 0)])
    t.equal(lanes.next(0), undefined)
    lanes.free(a)
    t.equal(lanes.next(0)?.lane, b)
    t.equal(lanes.busy, 3)
  })
  await t.test('keep slots back for who has nothing under way and answers in time', async (t) => {
    const lanes = createLanes({ total: 64, perWebhook: 64 })
    const big = lanes.get('big', 'acc')
    let taken = 0
    while (lanes.take(big, 0)) taken += 1
    t.equal(taken, 48)
    const small = lanes.get('small', 'acc')
    t.same([lanes.take(small, 0), lanes.take(small, 0)], [true, false])
    const silent = lanes.get('silent', 'acc')
    lanes.heard(silent, false)
    t.notOk(lanes.take(silent, 0), 'who gave no answer has no part in them')
    for (let freed = 0; freed < 10; freed += 1) lanes.free(big)
    t.same([lanes.take(silent, 0), lanes.take(silent, 0)], [true, false], 'one at a time')
    lanes.heard(silent, true)
    t.same([lanes.take(silent, 0), lanes.take(silent, 0)], [true, false], 'twice with each answer')
  })
  await t.test('serve accounts in turn, whatever the number of their lanes', async (t) => {
    const lanes = createLanes({ total: 64, perWebhook: 1 })
    for (let index = 0; index < 6; index += 1) {
      const lane = lanes.get(`big${index}`, 'big')
      lanes.enqueue(lane, [claimed(lane.webhook_id, 0)])
    }
    const small = lanes.get('small', 'small')
    lanes.enqueue(small, [claimed('small', 0)])
    const turns = [lanes.next(0), lanes.next(0), lanes.next(0)].map((one) => one?.lane.account_id)
    t.same(turns, ['big', 'small', 'big'])
  })
  await t.test('keep one lane per webhook while the store is asked about it', async (t) => {
    const lanes = createLanes({ total: 9, perWebhook: 1 })
    const lane: Lane = lanes.get('a', 'x')
    lanes.take(lane, 0)
    lanes.note(lane, 0, false)
    lanes.forget(lane)
    lanes.free(lane)
    t.equal(lanes.get('a', 'x'), lane)
    lanes.learn(lane, undefined)
    t.equal(lanes.find('a'), undefined, 'and forget it when it holds nothing')
  })
})

await t.test('a wake-up is never lost, whenever it comes during a claim', async (t) => {
  for (let delay = 0; delay < 60; delay += 1) {
    const { sent, due, woken } = await tinyDispatcher()
    const wake = (webhookId: string): void => {
      due.push(claimed(webhookId, 1))
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
    due.push(claimed('a', 1))
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
    due.push(claimed('a', 1))
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
  const ring = createKeyring([{ id: 'k1', key: KEY(1) }], random)
  const target = { webhook: plainWebhook(() => 'x', ring, random), secrets: [] }
  const dispatcher = createDispatcher({
    store: {
      recover: async () => 0,
      lanes: async () => [],
      claim: async ({ lanes }) =>
        lanes.flatMap(({ webhook_id }) => {
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
    recorder: { add: () => undefined, stuck: false, idle: async () => undefined },
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
