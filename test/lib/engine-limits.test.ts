import t from 'tap'
import { createPace } from '../../lib/engine/pace.ts'
import { encryptHeaders } from '../../lib/engine/targets.ts'
import { SECOND } from '../../lib/time.ts'
import type { Bench } from '../support/engine.ts'
import { START, createBench } from '../support/engine.ts'

/** When each request to a webhook was sent, in milliseconds since the start. */
function recordTimes(bench: Bench): number[] {
  const times: number[] = []
  const { answer } = bench.sender
  bench.sender.answer = (request) => {
    times.push(bench.clock.now() - START)
    return answer(request)
  }
  return times
}

/** The most requests within any span. */
function densest(times: readonly number[], span: number): number {
  return Math.max(
    ...times.map((from) => times.filter((at) => at >= from && at < from + span).length),
  )
}

await t.test('a pace', async (t) => {
  await t.test('without a limit never waits', async (t) => {
    const pace = createPace()
    for (let n = 0; n < 1000; n++) pace.take(5)
    t.equal(pace.readyAt(5), 0)
    t.equal(pace.within(SECOND), Infinity)
  })
  await t.test('spreads sends evenly and lets nothing be saved up', async (t) => {
    const pace = createPace()
    pace.set(2)
    pace.take(10_000)
    t.equal(pace.readyAt(10_000), 10_500)
    pace.take(90_000)
    t.equal(pace.readyAt(90_000), 90_500, 'a rest of 80 s opens no burst')
    t.equal(pace.within(5 * SECOND), 10)
  })
  await t.test('lets a tenth of a second begin at once where the rate is fast', async (t) => {
    const pace = createPace()
    pace.set(100)
    let begun = 0
    while (pace.readyAt(1000) <= 1000) {
      pace.take(1000)
      begun += 1
    }
    t.equal(begun, 10)
    t.equal(pace.readyAt(1000), 1010)
  })
  await t.test('is lifted at once', async (t) => {
    const pace = createPace()
    pace.set(1)
    pace.take(0)
    pace.set(null)
    t.equal(pace.readyAt(0), 0)
  })
  await t.test(
    'that was kept by a calendar which was set back since waits for nothing',
    async (t) => {
      const pace = createPace()
      pace.set(2)
      pace.take(90_000)
      t.equal(pace.readyAt(90_000), 90_500)
      t.equal(pace.readyAt(10_000), 0)
      pace.take(10_000)
      t.equal(pace.readyAt(10_000), 10_500, 'and goes on from there')
    },
  )
})

await t.test('a webhook with a rate limit', async (t) => {
  await t.test('gets a backlog at its rate, and all of it', async (t) => {
    const bench = await createBench(t)
    const webhook = await bench.addWebhook('slow', { rate_limit: 5 })
    const times = recordTimes(bench)
    await bench.publish(30)
    await bench.engine.dispatcher.start()
    await bench.quiet()
    for (let second = 0; second < 8; second++) await bench.clock.advance(SECOND)
    t.same(await bench.statuses(webhook.id), { succeeded: 30 })
    t.ok(densest(times, SECOND) <= 5, `${densest(times, SECOND)} within a second`)
    t.ok((times.at(-1) ?? 0) <= 6 * SECOND, 'no slower than its rate')
  })
  await t.test('gets new deliveries at its rate too', async (t) => {
    const bench = await createBench(t)
    const webhook = await bench.addWebhook('slow', { rate_limit: 2 })
    const other = await bench.addWebhook('fast')
    const times = recordTimes(bench)
    await bench.engine.dispatcher.start()
    await bench.publish(6)
    await bench.quiet()
    t.same(await bench.statuses(other.id), { succeeded: 6 }, 'no other webhook waits for it')
    times.length = 0
    for (let second = 0; second < 4; second++) await bench.clock.advance(SECOND)
    t.same(await bench.statuses(webhook.id), { succeeded: 6 })
    t.ok(densest(times, SECOND) <= 2)
  })
})

await t.test(
  'a rate holds from one event to the next, though nothing waits in between',
  async (t) => {
    const bench = await createBench(t)
    const webhook = await bench.addWebhook('slow', { rate_limit: 1 })
    const times = recordTimes(bench)
    await bench.engine.dispatcher.start()
    for (let n = 0; n < 3; n++) {
      await bench.publish(1)
      await bench.quiet()
    }
    t.equal(times.length, 1)
    for (let second = 0; second < 3; second++) await bench.clock.advance(SECOND)
    t.same(await bench.statuses(webhook.id), { succeeded: 3 })
    t.ok(densest(times, SECOND) === 1)
  },
)

await t.test('a dispatcher that is started twice takes nothing back from itself', async (t) => {
  const bench = await createBench(t)
  const webhook = await bench.addWebhook('slow')
  await bench.engine.dispatcher.start()
  bench.sender.hold()
  await bench.publish(3)
  await bench.engine.dispatcher.start()
  await bench.quiet()
  bench.sender.letGo()
  await bench.quiet()
  t.equal(bench.sender.sent.length, 3)
  t.same(await bench.statuses(webhook.id), { succeeded: 3 })
})

await t.test('a webhook with a concurrency of its own never has more under way', async (t) => {
  const bench = await createBench(t)
  const webhook = await bench.addWebhook('narrow', { concurrency: 2 })
  await bench.engine.dispatcher.start()
  bench.sender.hold()
  await bench.publish(10)
  await bench.quiet()
  t.equal(bench.sender.underWay, 2)
  bench.sender.letGo()
  await bench.quiet()
  t.same(await bench.statuses(webhook.id), { succeeded: 10 })
})

await t.test('headers of its own are sent with every delivery', async (t) => {
  const bench = await createBench(t)
  const plain = bench.plainWebhook('tagged')
  const given = { 'X-Receiver': 'billing', Authorization: 'Bearer r_1' }
  const headers = encryptHeaders(plain.id, given, bench.keyring)
  t.notMatch(JSON.stringify(headers), 'r_1')
  await bench.addWebhook('tagged', { ...plain, headers })
  await bench.engine.dispatcher.start()
  await bench.publish(1)
  await bench.quiet()
  t.match(bench.sender.sent[0]?.headers, { ...given, 'Content-Type': 'application/json' })

  const moved = await bench.addWebhook('moved', { headers })
  await bench.publish(1)
  await bench.quiet()
  t.same(
    await bench.statuses(moved.id),
    { pending: 1 },
    'headers of another webhook cannot be decrypted',
  )
})
