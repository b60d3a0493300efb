import t from 'tap'
import { HOUR, MINUTE, SECOND } from '../../lib/time.ts'
import type { Bench } from '../support/engine.ts'
import { ACCOUNT, createBench, START } from '../support/engine.ts'
import { answered } from '../support/sender.ts'

const deliveryId = ({ headers }: { headers: Readonly<Record<string, string>> }): string =>
  headers['X-Service-Delivery-ID'] ?? ''

await t.test('sends', async (t) => {
  await t.test('never exceed their limits, and everything is delivered', async (t) => {
    const bench = await createBench(t, { limits: { total: 5, perWebhook: 2 } })
    const webhooks = [await bench.addWebhook('a'), await bench.addWebhook('b')]
    webhooks.push(await bench.addWebhook('c'), await bench.addWebhook('d'))
    await bench.engine.dispatcher.start()
    bench.sender.hold()
    const slow = bench.publish(40)
    await bench.quiet()
    t.equal(bench.sender.held, 5)
    bench.sender.letGo()
    await Promise.all([slow, bench.publish(40)])
    await bench.quiet()
    t.same(bench.sender.peak, { total: 5, perUrl: 2 })
    t.equal(bench.sender.sent.length, 320)
    for (const { id } of webhooks) t.same(await bench.statuses(id), { succeeded: 80 })
  })
  await t.test('make good a backlog written while no dispatcher ran', async (t) => {
    const bench = await createBench(t, { limits: { total: 8, perWebhook: 3 } })
    const webhook = await bench.addWebhook('a')
    await bench.publish(150)
    t.equal(bench.sender.sent.length, 0)
    await bench.engine.dispatcher.start()
    await bench.quiet()
    t.same(await bench.statuses(webhook.id), { succeeded: 150 })
    t.equal(new Set(bench.sender.sent.map(deliveryId)).size, 150)
    t.equal(bench.sender.peak.perUrl, 3)
  })
  await t.test('make good a backlog of more webhooks than the queue holds', async (t) => {
    const bench = await createBench(t, { limits: { total: 4, perWebhook: 2 } })
    await bench.addWebhook('w0')
    await bench.store.write(async (tx) => {
      for (let at = 1; at < 620; at += 1) {
        await tx.webhooks.insert(bench.plainWebhook(`w${at}`))
      }
    })
    bench.forget()
    await bench.publish(1)
    bench.sender.hold()
    await bench.engine.dispatcher.start()
    await bench.quiet()
    bench.sender.letGo()
    await bench.quiet()
    t.equal(bench.sender.sent.length, 620)
  })
  await t.test('take up the claims of a process that died', async (t) => {
    const bench = await createBench(t)
    const webhook = await bench.addWebhook('a')
    await bench.publish(1)
    await claimAs(bench, webhook.id, 'dead', START + HOUR)
    await bench.engine.dispatcher.start()
    await bench.quiet()
    t.same(await bench.statuses(webhook.id), { succeeded: 1 })
  })
  await t.test('are signed with the bytes that were published', async (t) => {
    const bench = await createBench(t)
    await bench.addWebhook('a', { standard_headers: true })
    await bench.engine.dispatcher.start()
    const event = bench.event()
    await bench.engine.outbox.publish([event])
    await bench.quiet()
    const [request] = bench.sender.sent
    t.same(request?.body, event.body)
    t.equal(request?.headers['webhook-id'], event.id)
    t.match(request?.headers['Service-Signature'], /^t=1700000000,v1=[0-9a-f]{64}$/)
  })
  await t.test('need a lease longer than an attempt', async (t) => {
    await t.rejects(createBench(t, { timeout: SECOND, lease: SECOND }), TypeError)
  })
})

await t.test('retries', async (t) => {
  await t.test('follow the schedule, then the delivery is exhausted', async (t) => {
    const bench = await createBench(t)
    const webhook = await bench.addWebhook('a')
    bench.sender.answer = () => answered(500)
    await bench.engine.dispatcher.start()
    await bench.publish(1)
    await bench.clock.advance(5 * SECOND - 1)
    t.equal(bench.sender.sent.length, 1)
    t.same(await bench.statuses(webhook.id), { pending: 1 })
    await bench.clock.advance(1)
    t.equal(bench.sender.sent.length, 2)
    await bench.clock.advance(24 * HOUR)
    const [inspected] = await bench.deliveries(webhook.id)
    t.match(inspected?.delivery, { status: 'exhausted', attempts: 3, automatic: 3, next_at: null })
    t.same(
      inspected?.attempts.map(({ number, trigger, started_at }) => [number, trigger, started_at]),
      [
        [1, 'event', START],
        [2, 'retry', START + 5 * SECOND],
        [3, 'retry', START + 305 * SECOND],
      ],
    )
    t.equal(bench.clock.timers, 0)
  })
  await t.test('come at once when the schedule says so', async (t) => {
    const bench = await createBench(t, { schedule: [0, 0, 0] })
    const webhook = await bench.addWebhook('a')
    bench.sender.answer = () => answered(bench.sender.sent.length < 4 ? 503 : 200)
    await bench.engine.dispatcher.start()
    await bench.publish(1)
    await bench.quiet()
    t.same(await bench.statuses(webhook.id), { succeeded: 1 })
  })
  await t.test('wait as long as the receiver wishes', async (t) => {
    const bench = await createBench(t)
    await bench.addWebhook('a')
    bench.sender.answer = () => answered(429, '60')
    await bench.engine.dispatcher.start()
    await bench.publish(1)
    await bench.clock.advance(MINUTE - 1)
    t.equal(bench.sender.sent.length, 1)
    await bench.clock.advance(1)
    t.equal(bench.sender.sent.length, 2)
  })
  await t.test('by hand are sent once, and add none of their own', async (t) => {
    const bench = await createBench(t)
    const webhook = await bench.addWebhook('a')
    bench.sender.answer = () => answered(500)
    await bench.engine.dispatcher.start()
    await bench.publish(1)
    await bench.clock.advance(HOUR)
    const [before] = await bench.deliveries(webhook.id)
    const id = before?.delivery.id ?? ''
    const now = bench.clock.now()
    await bench.store.write((tx) => tx.deliveries.requestRetry(id, now))
    bench.engine.notify({ webhook_id: webhook.id, account_id: ACCOUNT, due: now })
    await bench.clock.advance(24 * HOUR)
    const [after] = await bench.deliveries(webhook.id)
    t.match(after?.delivery, { status: 'exhausted', attempts: 4, automatic: 3 })
    t.equal(after?.attempts[3]?.trigger, 'manual')
    t.match(await bench.webhook(webhook.id), { consecutive_failures: 3 })
  })
})

await t.test('a send does not start when its lease might end before it', async (t) => {
  const bench = await createBench(t, { limits: { total: 1, perWebhook: 1 } })
  const webhook = await bench.addWebhook('a')
  await bench.engine.dispatcher.start()
  bench.sender.hold()
  await bench.publish(2)
  await bench.clock.advance(21 * SECOND)
  t.same(await bench.statuses(webhook.id), { delivering: 2 })
  bench.sender.letGo()
  await bench.quiet()
  t.equal(bench.watched.calls.release, 1)
  t.equal(bench.watched.calls.claim, 1)
  t.same(await bench.statuses(webhook.id), { succeeded: 2 })
})

await t.test('a late outcome of a claim that was replaced changes nothing', async (t) => {
  const bench = await createBench(t)
  const webhook = await bench.addWebhook('a')
  await bench.engine.dispatcher.start()
  bench.sender.hold()
  await bench.publish(1)
  await bench.quiet()
  const lease = START + 2 * HOUR
  await claimAs(bench, webhook.id, 'other', lease)
  bench.sender.letGo()
  await bench.quiet()
  const [inspected] = await bench.deliveries(webhook.id)
  t.match(inspected?.delivery, { status: 'delivering', claim: 'other', next_at: lease })
  t.match(inspected?.delivery, { attempts: 0 })
  t.same(inspected?.attempts, [])
})

await t.test('stopping', async (t) => {
  await t.test('finishes what is under way and hands the rest back', async (t) => {
    const bench = await createBench(t, { limits: { total: 4, perWebhook: 4 } })
    const webhook = await bench.addWebhook('a')
    await bench.engine.dispatcher.start()
    bench.sender.hold()
    await bench.publish(30)
    await bench.quiet()
    t.same(await bench.statuses(webhook.id), { delivering: 24, pending: 6 })
    let stopped = 0
    const { dispatcher } = bench.engine
    const both = [dispatcher.stop(), dispatcher.stop()].map((stop) => stop.then(() => stopped++))
    await bench.quiet()
    t.equal(stopped, 0)
    t.same(await bench.statuses(webhook.id), { delivering: 4, pending: 26 })
    bench.sender.letGo()
    await Promise.all(both)
    t.same(await bench.statuses(webhook.id), { succeeded: 4, pending: 26 })
    t.equal(bench.sender.sent.length, 4)
    t.equal(bench.watched.calls.release, 1)
    t.equal(bench.clock.timers, 0)

    await bench.publish(1)
    await bench.clock.advance(HOUR)
    t.equal(bench.sender.sent.length, 4, 'and nothing is sent afterwards')
    await dispatcher.start()
    await bench.quiet()
    t.same(await bench.statuses(webhook.id), { succeeded: 31 })
  })
  await t.test('waits for a store that records nothing as long as a claim lasts', async (t) => {
    const bench = await createBench(t)
    const webhook = await bench.addWebhook('a')
    const { dispatcher, lease } = bench.engine
    await dispatcher.start()
    bench.watched.before.settle = () => Promise.reject(new Error('gone'))
    await bench.publish(1)
    await bench.quiet()
    let isStopped = false
    const stopped = dispatcher.stop().then(() => (isStopped = true))
    await bench.quiet()
    await bench.clock.advance(lease - SECOND)
    t.notOk(isStopped)
    await bench.clock.advance(SECOND)
    t.ok(await stopped)
    await bench.clock.advance(SECOND)
    t.equal(bench.clock.timers, 0, 'and keeps nothing going')
    bench.watched.before.settle = () => undefined
    await dispatcher.start()
    await bench.quiet()
    t.same(await bench.statuses(webhook.id), { succeeded: 1 }, 'and nothing is lost by that')
    t.equal(bench.sender.sent.length, 2)
  })
  await t.test('leaves nothing delivering at any moment of a claim or a commit', async (t) => {
    for (const turns of [0, 1, 2, 3, 5, 8]) {
      const bench = await createBench(t, { limits: { total: 4, perWebhook: 3 } })
      const webhook = await bench.addWebhook('a')
      await bench.publish(10)
      await bench.engine.dispatcher.start()
      const more = bench.publish(10)
      for (let done = 0; done < turns; done += 1) await new Promise(setImmediate)
      await bench.engine.dispatcher.stop()
      await more
      await bench.quiet()
      const { delivering } = await bench.statuses(webhook.id)
      t.equal(delivering, undefined, `after ${turns} turns`)
    }
  })
})

/** Another process claims what is due, and everything whose lease has ended within the hour. */
async function claimAs(
  bench: Bench,
  webhookId: string,
  token: string,
  lease_until: number,
): Promise<void> {
  const queues = [{ webhook_id: webhookId, limit: 1 }]
  const claim = { queues, now: START + HOUR, lease_until, renews: false, token }
  await bench.store.claim(() => claim)
}
