import t from 'tap'
import { createWebhookQueues } from '../../lib/engine/webhook-queues.ts'
import { createClockJumps } from '../../lib/engine/clock-jumps.ts'
import { HOUR, MINUTE, SECOND } from '../../lib/time.ts'
import { createClock } from '../support/clock.ts'
import { createBench, START } from '../support/engine.ts'
import { answered } from '../support/sender.ts'

await t.test('a jump of the wall clock', async (t) => {
  await t.test('is noticed once, and again when what was done about it failed', async (t) => {
    const clock = createClock(START)
    const jumps = createClockJumps(clock)
    await clock.advance(HOUR)
    jumps.observe(clock.now())
    t.equal(jumps.take(), false, 'time alone is none')
    clock.set(SECOND)
    jumps.observe(clock.now())
    jumps.observe(clock.now())
    t.same([jumps.take(), jumps.take()], [true, false])
    jumps.restore()
    t.equal(jumps.take(), true)
  })
  await t.test('is one forward, not one back; and one that makes up for that is', async (t) => {
    const clock = createClock(START)
    const jumps = createClockJumps(clock)
    clock.set(-HOUR)
    jumps.observe(clock.now())
    t.equal(jumps.take(), false)
    clock.set(HOUR)
    jumps.observe(clock.now())
    t.equal(jumps.take(), true)
  })
})

await t.test('what is under way when the calendar is set forward', async (t) => {
  await t.test('is not claimed again from the table, and its outcome is recorded', async (t) => {
    const bench = await createBench(t, { limits: { total: 2, perWebhook: 2 } })
    const webhook = await bench.addWebhook('a')
    await bench.publish(2)
    bench.sender.hold()
    await bench.engine.dispatcher.start()
    await bench.quiet()
    t.equal(bench.sender.held, 2)
    bench.clock.set(3 * HOUR)
    await bench.publish(1)
    await bench.engine.dispatcher.refresh()
    await bench.clock.advance(6 * SECOND)
    bench.sender.letGo()
    await bench.quiet()
    t.equal(bench.sender.sent.length, 3)
    t.same(await bench.statuses(webhook.id), { succeeded: 3 })
  })
  await t.test('and was created while it was set back is not claimed again either', async (t) => {
    const bench = await createBench(t)
    const webhook = await bench.addWebhook('a')
    await bench.engine.dispatcher.start()
    bench.clock.set(-HOUR)
    bench.sender.hold()
    await bench.publish(1)
    await bench.quiet()
    bench.clock.set(HOUR)
    await bench.publish(1)
    await bench.engine.dispatcher.refresh()
    await bench.clock.advance(6 * SECOND)
    bench.sender.letGo()
    await bench.quiet()
    t.equal(bench.sender.sent.length, 2)
    t.same(await bench.statuses(webhook.id), { succeeded: 2 })
  })
})

await t.test('a retry comes soon after its time, though the calendar was set since', async (t) => {
  const bench = await createBench(t, { schedule: [HOUR] })
  const webhook = await bench.addWebhook('a')
  bench.sender.answer = () => answered(500)
  await bench.engine.dispatcher.start()
  await bench.publish(1)
  await bench.quiet()
  bench.sender.answer = () => answered(200)
  bench.clock.set(2 * HOUR)
  await bench.clock.advance(6 * SECOND)
  t.same(await bench.statuses(webhook.id), { succeeded: 1 })
})

await t.test('a calendar that is set back', async (t) => {
  await t.test('holds up no webhook with a rate', async (t) => {
    const bench = await createBench(t)
    const webhook = await bench.addWebhook('slow', { rate_limit: 5 })
    await bench.engine.dispatcher.start()
    await bench.publish(3)
    await bench.quiet()
    bench.clock.set(-3 * HOUR)
    await bench.publish(3)
    await bench.clock.advance(3 * SECOND)
    t.same(await bench.statuses(webhook.id), { succeeded: 6 })
  })
  await t.test('parks nobody for longer than it parks', async (t) => {
    const queues = createWebhookQueues({ total: 8, perWebhook: 4 })
    const queue = queues.get('a', 'acc')
    queues.addDue(queue, START, false)
    queue.paused_until = START + MINUTE
    t.same(queues.claimable(START, 9), [])
    t.same(queues.claimable(START - HOUR, 9), [], 'what was due is now due later')
    queues.addDue(queue, START - HOUR, false)
    t.same(queues.claimable(START - HOUR, 9), [queue])
  })
})
