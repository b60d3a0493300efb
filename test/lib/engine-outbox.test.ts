import t from 'tap'
import { kernelError } from '../../lib/errors.ts'
import type { NewEvent } from '../../lib/engine/ports.ts'
import { MINUTE } from '../../lib/time.ts'
import { ACCOUNT, createBench } from '../support/engine.ts'

await t.test('concurrent publishes are committed in groups, each answered after it', async (t) => {
  const bench = await createBench(t)
  const webhook = await bench.addWebhook('a')
  const committed = new Set<string>()
  let group: readonly NewEvent[] = []
  const publish = bench.watched.store.publish
  const engine = bench.rebuild({
    publish: (build) =>
      publish(() => {
        const built = build()
        group = built.map(({ event }) => event)
        return built
      }).then((outcomes) => {
        for (const { id } of group) committed.add(id)
        return outcomes
      }),
  })
  let early = 0
  const callers = Array.from({ length: 64 }, async () => {
    for (let count = 0; count < 10; count += 1) {
      const event = bench.event()
      const outcomes = await engine.outbox.publish([event])
      if (outcomes[0] !== 'stored' || !committed.has(event.id)) early += 1
    }
  })
  await Promise.all(callers)
  t.equal(early, 0)
  t.equal(committed.size, 640)
  t.ok(bench.watched.calls.publish <= 0.2 * 640, `${bench.watched.calls.publish} commits`)
  t.same(await bench.statuses(webhook.id), { pending: 640 })
})

await t.test(
  'a call is answered per event, and nothing is sent for what was kept before',
  async (t) => {
    const bench = await createBench(t)
    const webhook = await bench.addWebhook('a')
    await bench.engine.dispatcher.start()
    const first: NewEvent = { ...bench.event(), id: 'evt_mine', supplied: true }
    const other: NewEvent = { ...first, type: 'order.lost' }
    t.same(await bench.engine.outbox.publish([first, first, bench.event()]), [
      'stored',
      'duplicate',
      'stored',
    ])
    t.same(await bench.engine.outbox.publish([first, other]), ['duplicate', 'conflict'])
    t.same(await bench.engine.outbox.publish([]), [])
    await bench.quiet()
    t.equal(bench.sender.sent.length, 2)
    t.same(await bench.statuses(webhook.id), { succeeded: 2 })
  },
)

await t.test('slots reserved for duplicates are given back', async (t) => {
  const bench = await createBench(t, { limits: { total: 2, perWebhook: 2 } })
  await bench.addWebhook('a')
  await bench.engine.dispatcher.start()
  const twin: NewEvent = { ...bench.event(), supplied: true }
  for (let count = 0; count < 6; count += 1) await bench.engine.outbox.publish([twin])
  await bench.quiet()
  bench.sender.hold()
  await bench.engine.outbox.publish([bench.event(), bench.event()])
  await bench.quiet()
  t.equal(bench.sender.held, 2)
  t.equal(bench.watched.calls.claim, 0)
})

await t.test('one failing event does not fail the others of its group', async (t) => {
  const bench = await createBench(t)
  const webhook = await bench.addWebhook('a')
  const events = Array.from({ length: 20 }, () => bench.event())
  const poison = events[7]?.id
  const publish = bench.watched.store.publish
  const engine = bench.rebuild({
    publish: (build) =>
      publish(() => {
        const group = build()
        if (group.some(({ event }) => event.id === poison)) throw new Error('poison')
        return group
      }),
  })
  await engine.dispatcher.start()
  const answers = await Promise.allSettled(events.map((event) => engine.outbox.publish([event])))
  await bench.quiet()
  for (const [index, answer] of answers.entries()) {
    if (index !== 7) t.same(answer, { status: 'fulfilled', value: ['stored'] })
    else t.match(answer, { status: 'rejected', reason: { code: 'unavailable', status: 503 } })
  }
  t.same(await bench.statuses(webhook.id), { succeeded: 19 })
})

await t.test(
  'a fault of the store refuses the group, and the next one is tried anew',
  async (t) => {
    const bench = await createBench(t, { limits: { total: 4, perWebhook: 4 } })
    const webhook = await bench.addWebhook('a')
    await bench.engine.dispatcher.start()
    bench.watched.before.publish = () => {
      throw kernelError('unavailable', { internal: 'disk full' })
    }
    const publishAll = (): Promise<PromiseSettledResult<unknown>[]> =>
      Promise.allSettled(
        Array.from({ length: 9 }, () => bench.engine.outbox.publish([bench.event()])),
      )
    for (const answer of await publishAll()) {
      t.match(answer, { status: 'rejected', reason: { code: 'unavailable' } })
    }
    bench.watched.before.publish = () => {
      throw new Error('connection refused')
    }
    for (const answer of await publishAll()) {
      t.match(answer, { status: 'rejected', reason: { code: 'unavailable' } })
    }
    delete bench.watched.before.publish
    t.ok((await publishAll()).every(({ status }) => status === 'fulfilled'))
    await bench.quiet()
    t.same(await bench.statuses(webhook.id), { succeeded: 9 })
    t.ok(bench.sender.peak.total <= 4)
  },
)

await t.test('webhooks that cannot be read refuse their own account alone', async (t) => {
  const bench = await createBench(t)
  bench.watched.before.webhooksOf = () => {
    throw new Error('no such table')
  }
  await t.rejects(bench.engine.outbox.publish([bench.event()]), { code: 'unavailable' })
  delete bench.watched.before.webhooksOf
  t.same(await bench.engine.outbox.publish([bench.event()]), ['stored'])
})

await t.test('a read of webhooks that never ends delays its own account alone', async (t) => {
  const bench = await createBench(t)
  const { webhooksOf } = bench.watched.store
  const read = new Set<string>()
  const { outbox } = bench.rebuild({
    webhooksOf: (account) => {
      read.add(account)
      return account === 'acc_stuck' ? new Promise(() => undefined) : webhooksOf(account)
    },
  })
  let isAnswered = false
  void outbox.publish([bench.event('order.paid', 'acc_stuck')]).finally(() => (isAnswered = true))
  const others = ['acc_2', 'acc_3', 'acc_2'].map((account) =>
    outbox.publish([bench.event('order.paid', account)]),
  )
  t.same(await Promise.all(others), [['stored'], ['stored'], ['stored']])
  t.same(await outbox.publish([bench.event('order.paid', 'acc_4')]), ['stored'])
  t.same([...read], ['acc_stuck', 'acc_2', 'acc_3', 'acc_4'])
  t.equal(isAnswered, false)
})

await t.test('many accounts are read a few at a time, each once', async (t) => {
  const bench = await createBench(t)
  const { webhooksOf } = bench.watched.store
  let reading = 0
  let most = 0
  let reads = 0
  const { outbox } = bench.rebuild({
    webhooksOf: async (account) => {
      reads += 1
      most = Math.max(most, (reading += 1))
      const webhooks = await webhooksOf(account)
      reading -= 1
      return webhooks
    },
  })
  const calls = Array.from({ length: 200 }, (_, at) =>
    outbox.publish([bench.event('order.paid', `acc_${at % 50}`)]),
  )
  t.ok((await Promise.all(calls)).every(([outcome]) => outcome === 'stored'))
  t.equal(reads, 50)
  t.ok(most > 1 && most <= 4, `${most} at once`)
})

await t.test('a commit whose answer was lost is delivered once its lease has ended', async (t) => {
  const bench = await createBench(t, { limits: { total: 4, perWebhook: 1 } })
  const webhook = await bench.addWebhook('a')
  await bench.engine.dispatcher.start()
  bench.watched.after.publish = () => {
    throw kernelError('unavailable', { internal: 'connection lost' })
  }
  const events = [bench.event(), bench.event()]
  await t.rejects(bench.engine.outbox.publish(events), { code: 'unavailable' })
  delete bench.watched.after.publish
  await bench.clock.advance(MINUTE)
  t.same(await bench.statuses(webhook.id), { succeeded: 2 })
  t.equal(bench.sender.sent.length, 2)
})

await t.test('a webhook created before a publish receives its event', async (t) => {
  const bench = await createBench(t)
  await bench.addWebhook('a')
  await bench.engine.dispatcher.start()
  let busy = true
  const crowd = Array.from({ length: 8 }, async () => {
    while (busy) await bench.engine.outbox.publish([bench.event()])
  })
  for (let round = 0; round < 10; round += 1) {
    const webhook = await bench.addWebhook(`new${round}`)
    const event = bench.event()
    await bench.engine.outbox.publish([event])
    const created = await bench.deliveries(webhook.id)
    t.ok(
      created.some(({ delivery }) => delivery.event_id === event.id),
      `round ${round}`,
    )
  }
  busy = false
  await Promise.all(crowd)
  await bench.quiet()
})

await t.test('a delivery that is created while a slot is free is not read back', async (t) => {
  const bench = await createBench(t)
  const webhook = await bench.addWebhook('a')
  await bench.engine.dispatcher.start()
  for (let count = 0; count < 5; count += 1) await bench.engine.outbox.publish([bench.event()])
  await bench.quiet()
  t.same(await bench.statuses(webhook.id), { succeeded: 5 })
  t.equal(bench.watched.calls.claim, 0)

  await t.test('nor after a backlog was, while sends are under way', async (t) => {
    bench.sender.hold()
    const many = Array.from({ length: 9 }, () => bench.event())
    await bench.engine.outbox.publish(many)
    await bench.quiet()
    t.equal(bench.sender.held, 8)
    bench.sender.letGo()
    await bench.quiet()
    bench.sender.hold()
    await bench.engine.outbox.publish(many.slice(0, 4).map(() => bench.event()))
    bench.engine.notify({ webhook_id: webhook.id, account_id: ACCOUNT, due: bench.clock.now() })
    await bench.quiet()
    const { claim } = bench.watched.calls
    await bench.engine.outbox.publish([bench.event()])
    await bench.quiet()
    t.equal(bench.watched.calls.claim, claim)
    t.equal(bench.sender.held, 5)
  })
})

await t.test('events of two accounts in one call are a mistake', async (t) => {
  const { engine, event } = await createBench(t)
  const mixed = [event(), event('order.paid', 'acc_2')]
  await t.rejects(engine.outbox.publish(mixed), TypeError)
})

await t.test('a listener that throws is reported and breaks nothing', async (t) => {
  const reported: unknown[] = []
  const broken = new Error('metrics are broken')
  const bang = (): never => {
    throw broken
  }
  const events = { committed: bang, attempted: bang, settled: bang }
  const bench = await createBench(t, {
    events: { ...events, listenerFailed: (cause) => reported.push(cause) },
  })
  const webhook = await bench.addWebhook('a')
  await bench.engine.dispatcher.start()
  t.same(await bench.engine.outbox.publish([bench.event()]), ['stored'])
  t.same(await bench.engine.outbox.publish([bench.event()]), ['stored'])
  await bench.quiet()
  t.same(await bench.statuses(webhook.id), { succeeded: 2 })
  t.ok(reported.length >= 6 && reported.every((cause) => cause === broken))
})
