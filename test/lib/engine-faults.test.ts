import t from 'tap'
import { kernelError } from '../../lib/errors.ts'
import { MINUTE, SECOND } from '../../lib/time.ts'
import type { Bench } from '../support/engine.ts'
import { ACCOUNT, createBench, START } from '../support/engine.ts'
import { answered } from '../support/sender.ts'

await t.test('outcomes that cannot be recorded', async (t) => {
  const unavailable = kernelError('unavailable', { internal: 'disk full' })
  const failing = (): never => {
    throw unavailable
  }
  await t.test('wait, stop new sends, and are recorded once when it works again', async (t) => {
    const waiting: number[] = []
    const bench = await createBench(t, {
      limits: { total: 8, perWebhook: 4 },
      events: { settleFailed: (count) => waiting.push(count) },
    })
    const webhook = await bench.addWebhook('a')
    await bench.engine.dispatcher.start()
    bench.sender.hold()
    await bench.publish(20)
    await bench.quiet()
    bench.watched.before.settle = failing
    bench.sender.letGo()
    await bench.clock.advance(3 * SECOND)
    const stuckAt = bench.sender.sent.length
    await bench.publish(5)
    await bench.clock.advance(5 * SECOND)
    t.ok(waiting.length >= 8 && waiting.at(-1) === stuckAt)
    t.equal(bench.sender.sent.length, stuckAt)
    delete bench.watched.before.settle
    await bench.clock.advance(SECOND)
    t.same(await bench.statuses(webhook.id), { succeeded: 25 }, 'without waiting for a lease')
    t.equal(bench.sender.sent.length, 25)
    const attempts = (await bench.deliveries(webhook.id)).flatMap((each) => each.attempts)
    t.equal(attempts.length, 25)
  })
  await t.test('send nothing that is queued or created before', async (t) => {
    const bench = await createBench(t, { limits: { total: 8, perWebhook: 4 } })
    const webhook = await bench.addWebhook('a')
    await bench.addWebhook('b', { events: ['order.lost'] })
    await bench.engine.dispatcher.start()
    bench.sender.hold()
    await bench.engine.outbox.publish([bench.event('order.lost')])
    await bench.publish(5)
    await bench.quiet()
    bench.watched.before.settle = failing
    bench.sender.letGoOne()
    await bench.quiet()
    bench.sender.letGo()
    await bench.clock.advance(5 * SECOND)
    t.equal(bench.sender.sent.length, 5)
    delete bench.watched.before.settle
    await bench.clock.advance(SECOND)
    t.same(await bench.statuses(webhook.id), { succeeded: 5 }, 'without waiting for a lease')

    bench.watched.before.settle = failing
    await bench.publish(1)
    await bench.quiet()
    await bench.publish(1)
    await bench.quiet()
    t.equal(bench.sender.sent.length, 7)
    delete bench.watched.before.settle
    await bench.clock.advance(SECOND)
    t.same(await bench.statuses(webhook.id), { succeeded: 7 })
  })
  await t.test('are not sent again though their leases ended meanwhile', async (t) => {
    const bench = await createBench(t, { limits: { total: 900, perWebhook: 700 } })
    const webhook = await bench.addWebhook('a')
    await bench.engine.dispatcher.start()
    bench.sender.hold()
    await bench.publish(620)
    await bench.quiet()
    t.equal(bench.sender.held, 620)
    bench.watched.before.settle = failing
    bench.sender.letGo()
    bench.engine.notify({ webhook_id: webhook.id, account_id: ACCOUNT, due: START + 40 * SECOND })
    await bench.clock.advance(MINUTE)
    delete bench.watched.before.settle
    await bench.clock.advance(MINUTE)
    t.equal(bench.sender.sent.length, 620)
    t.same(await bench.statuses(webhook.id), { succeeded: 620 })
  })
  await t.test('are no reason to send what was claimed before and is due again', async (t) => {
    const bench = await createBench(t, { limits: { total: 8, perWebhook: 4 } })
    const webhook = await bench.addWebhook('a')
    await bench.engine.dispatcher.start()
    bench.sender.hold()
    await bench.publish(20)
    await bench.quiet()
    bench.watched.before.settle = failing
    bench.sender.letGoOne()
    await bench.quiet()
    bench.sender.letGo()
    await bench.quiet()
    const sent = bench.sender.sent.length
    t.ok(sent < 20)
    // As after a crash of the database's server, which undoes claims that it had not synced.
    const queued = (await bench.deliveries(webhook.id)).slice(sent)
    const claims = queued.flatMap(({ delivery: { id, claim } }) =>
      claim === null ? [] : [{ delivery_id: id, claim }],
    )
    t.ok(claims.length > 0)
    await bench.store.release(claims, bench.clock.now())
    delete bench.watched.before.settle
    await bench.clock.advance(2 * SECOND)
    t.same(await bench.statuses(webhook.id), { succeeded: 20 })
    t.equal(bench.sender.sent.length, 20, 'each once')
  })
  await t.test('whose retry fell due meanwhile are tried again at once', async (t) => {
    const bench = await createBench(t)
    const webhook = await bench.addWebhook('a')
    bench.sender.answer = () => answered(bench.sender.sent.length === 1 ? 500 : 200)
    await bench.engine.dispatcher.start()
    bench.watched.before.settle = failing
    await bench.publish(1)
    await bench.clock.advance(20 * SECOND)
    t.equal(bench.sender.sent.length, 1)
    delete bench.watched.before.settle
    await bench.clock.advance(SECOND)
    t.same(await bench.statuses(webhook.id), { succeeded: 1 })
  })
})

await t.test('a claim that fails is tried again, whatever of it failed', async (t) => {
  for (const verb of ['claim', 'queueHeads'] as const) {
    const bench = await createBench(t)
    const webhook = await bench.addWebhook('a')
    await bench.engine.dispatcher.start()
    bench.watched.before[verb] = () => {
      throw new Error('connection lost')
    }
    await bench.publish(20)
    await bench.clock.advance(2 * SECOND)
    t.ok(bench.watched.calls[verb] < 20, `${verb} is not asked in a busy loop`)
    delete bench.watched.before[verb]
    await bench.clock.advance(SECOND)
    t.same(await bench.statuses(webhook.id), { succeeded: 20 }, verb)
  }
})

await t.test('what a claim took whose answer never came', async (t) => {
  const lost = (): never => {
    throw new Error('connection lost')
  }
  await t.test('is claimed anew, and not when its lease ends', async (t) => {
    const bench = await createBench(t)
    const webhook = await bench.addWebhook('a')
    await bench.engine.dispatcher.start()
    bench.watched.after.claim = lost
    bench.watched.before.disclaim = lost
    await bench.publish(60)
    await bench.clock.advance(3 * SECOND)
    t.ok(((await bench.statuses(webhook.id)).delivering ?? 0) > 0)
    t.equal(bench.watched.calls.claim, 1, 'nothing more is claimed before')
    delete bench.watched.after.claim
    delete bench.watched.before.disclaim
    await bench.clock.advance(2 * SECOND)
    t.same(await bench.statuses(webhook.id), { succeeded: 60 })
    t.equal(bench.sender.sent.length, 60)
  })
  await t.test('is handed back by a process that stops', async (t) => {
    const bench = await createBench(t)
    const webhook = await bench.addWebhook('a')
    await bench.engine.dispatcher.start()
    bench.watched.after.claim = lost
    await bench.publish(60)
    await bench.quiet()
    await bench.engine.dispatcher.stop()
    const { succeeded = 0, pending = 0 } = await bench.statuses(webhook.id)
    t.ok(pending > 0)
    t.equal(succeeded + pending, 60)
  })
})

/** A new delivery cannot be sent, since its webhook cannot be read, nor released. */
function loseReleases({ watched, forget }: Bench): void {
  const lost = (): never => {
    throw new Error('connection lost')
  }
  watched.before.release = lost
  watched.after.publish = () => {
    forget()
    watched.before.webhooksOf = lost
  }
}

await t.test('a release that fails is made good by the lease', async (t) => {
  const bench = await createBench(t)
  const webhook = await bench.addWebhook('a')
  await bench.engine.dispatcher.start()
  loseReleases(bench)
  await bench.publish(1)
  await bench.quiet()
  t.equal(bench.watched.calls.release, 1)
  delete bench.watched.before.webhooksOf
  await bench.clock.advance(MINUTE)
  t.same(await bench.statuses(webhook.id), { succeeded: 1 })
})

await t.test('a release that fails is tried again each second', async (t) => {
  const bench = await createBench(t)
  const webhook = await bench.addWebhook('a')
  await bench.engine.dispatcher.start()
  loseReleases(bench)
  await bench.publish(1)
  await bench.clock.advance(3 * SECOND)
  t.equal(bench.watched.calls.release, 4)
  t.same(await bench.statuses(webhook.id), { delivering: 1 })
  delete bench.watched.before.release
  delete bench.watched.before.webhooksOf
  await bench.clock.advance(2 * SECOND)
  t.same(await bench.statuses(webhook.id), { succeeded: 1 }, 'and not when its lease ends')
})

await t.test('an account whose webhooks cannot be read does not spin', async (t) => {
  const bench = await createBench(t)
  const webhook = await bench.addWebhook('a')
  await bench.publish(3)
  bench.forget()
  bench.watched.before.webhooksOf = () => {
    throw new Error('malformed row')
  }
  await bench.engine.dispatcher.start()
  await bench.clock.advance(10 * SECOND)
  t.ok(bench.watched.calls.claim < 40, `${bench.watched.calls.claim} claims`)
  delete bench.watched.before.webhooksOf
  await bench.clock.advance(SECOND)
  t.same(await bench.statuses(webhook.id), { succeeded: 3 })
})
