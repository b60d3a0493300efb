import t from 'tap'
import { HOUR, MINUTE, SECOND } from '../../lib/time.ts'
import { secretAad } from '../../lib/engine/targets.ts'
import type { WebhookRecord } from '../../lib/webhook/record.ts'
import type { Bench } from '../support/engine.ts'
import { ACCOUNT, createBench } from '../support/engine.ts'
import { answered } from '../support/sender.ts'

const COUNT_ALONE = { disabling: { failures: 4, span: 0 } }
const OBSERVING = { events: ['webhook.disabled', 'webhook.failing'] }

/** What was sent to a webhook, as the types of the events. */
const sentTo = ({ sender }: Bench, { url }: WebhookRecord): (string | undefined)[] =>
  sender.sent
    .filter((request) => request.url === url)
    .map(({ headers }) => headers['X-Service-Event'])

await t.test('a webhook that fails persistently', async (t) => {
  await t.test('is reported at half, once, and disabled at the threshold', async (t) => {
    const disabled: string[] = []
    const bench = await createBench(t, {
      ...COUNT_ALONE,
      schedule: [5 * SECOND, 5 * SECOND, HOUR],
      events: { disabled: (id) => disabled.push(id) },
    })
    const failing = await bench.addWebhook('failing')
    const observer = await bench.addWebhook('observer', OBSERVING)
    bench.sender.answer = ({ url }) => answered(url === failing.url ? 500 : 200)
    await bench.engine.dispatcher.start()
    await bench.publish(1)
    await bench.quiet()
    t.same(sentTo(bench, observer), [])
    await bench.clock.advance(5 * SECOND)
    t.same(sentTo(bench, observer), ['webhook.failing'])
    await bench.clock.advance(5 * SECOND)
    t.same(sentTo(bench, observer), ['webhook.failing'], 'once in a run of failures')
    t.match(await bench.webhook(failing.id), { status: 'active', consecutive_failures: 3 })

    await bench.publish(1)
    await bench.quiet()
    t.same(sentTo(bench, observer), ['webhook.failing', 'webhook.disabled'])
    t.match(await bench.webhook(failing.id), {
      status: 'disabled',
      disabled_reason: 'failures',
      consecutive_failures: 4,
    })
    t.same(disabled, [failing.id])
    await bench.publish(1)
    await bench.clock.advance(2 * HOUR)
    t.same(await bench.statuses(failing.id), { exhausted: 2, skipped: 1 })
    t.equal(sentTo(bench, failing).length, 4)
    const data = JSON.parse(new TextDecoder().decode(bench.sender.sent.at(-1)?.body)) as unknown
    t.match(data, {
      type: 'webhook.disabled',
      data: { webhook_id: failing.id, reason: 'failures', consecutive_failures: 4 },
    })
  })
  await t.test('is disabled once by many failures at the same time', async (t) => {
    const bench = await createBench(t, COUNT_ALONE)
    const failing = await bench.addWebhook('failing')
    const observer = await bench.addWebhook('observer', OBSERVING)
    bench.sender.answer = ({ url }) => answered(url === failing.url ? 500 : 200)
    await bench.engine.dispatcher.start()
    await bench.publish(40)
    await bench.clock.advance(HOUR)
    t.same(sentTo(bench, observer), ['webhook.disabled'])
    t.same(await bench.statuses(failing.id), { exhausted: 40 })
  })
  await t.test('is spared when its owner cleared the counters meanwhile', async (t) => {
    const bench = await createBench(t, COUNT_ALONE)
    const failing = await bench.addWebhook('failing', { consecutive_failures: 3 })
    bench.sender.answer = () => answered(500)
    await bench.engine.dispatcher.start()
    let enabled = false
    bench.watched.before.write = async () => {
      if (enabled) return
      enabled = true
      await bench.store.write((tx) => tx.webhooks.enable(failing.id, bench.clock.now()))
    }
    await bench.publish(1)
    await bench.quiet()
    t.ok(enabled)
    t.match(await bench.webhook(failing.id), { status: 'active', consecutive_failures: 0 })
  })
  await t.test('is judged again at its next failure when it could not be acted on', async (t) => {
    const causes: unknown[] = []
    const bench = await createBench(t, {
      ...COUNT_ALONE,
      events: { healthFailed: (_, cause) => causes.push(cause) },
    })
    const failing = await bench.addWebhook('failing', { consecutive_failures: 3 })
    bench.sender.answer = () => answered(500)
    await bench.engine.dispatcher.start()
    bench.watched.before.write = () => {
      throw new Error('disk full')
    }
    await bench.publish(1)
    await bench.quiet()
    t.match(causes, [/disk full/])
    t.match(await bench.webhook(failing.id), { status: 'active' })
    delete bench.watched.before.write
    await bench.clock.advance(5 * SECOND)
    t.match(await bench.webhook(failing.id), { status: 'disabled' })
  })
})

await t.test('a webhook that answers 410 is disabled at once', async (t) => {
  const bench = await createBench(t)
  const gone = await bench.addWebhook('gone')
  const observer = await bench.addWebhook('observer', OBSERVING)
  await bench.publish(1)
  bench.sender.answer = ({ url }) => answered(url === gone.url ? 410 : 200)
  await bench.engine.dispatcher.start()
  await bench.quiet()
  t.match(await bench.webhook(gone.id), { status: 'disabled', disabled_reason: 'gone' })
  t.same(await bench.statuses(gone.id), { exhausted: 1 })
  t.same(sentTo(bench, observer), ['webhook.disabled'])
})

await t.test('a success clears what was counted', async (t) => {
  const bench = await createBench(t)
  const webhook = await bench.addWebhook('a', { consecutive_failures: 19, first_failure_at: 1 })
  await bench.engine.dispatcher.start()
  await bench.publish(1)
  await bench.quiet()
  t.match(await bench.webhook(webhook.id), { consecutive_failures: 0, first_failure_at: null })
})

await t.test('a webhook that cannot be signed for is not sent to, and does not spin', async (t) => {
  const strange = { id: 's1', display: 'whsec_…', created_at: 0, not_after: null }
  const secrets = {
    'encrypted under a lost master key': (): string => 'v1.lost.AAAA',
    'that is no secret': (bench: Bench): string => bench.keyring.encrypt('x', secretAad('s1')),
  }
  for (const [name, encrypt] of Object.entries(secrets)) {
    await t.test(name, async (t) => {
      const bench = await createBench(t)
      const encrypted = {
        secrets: [{ ...strange, encrypted: encrypt(bench) }],
        standard_headers: true,
      }
      const webhook = await bench.addWebhook('a', encrypted)
      const well = await bench.addWebhook('well')
      await bench.engine.dispatcher.start()
      await bench.publish(12)
      await bench.clock.advance(10 * MINUTE)
      t.equal(sentTo(bench, webhook).length, 0)
      t.equal(sentTo(bench, well).length, 12)
      t.same(await bench.statuses(webhook.id), { pending: 12 })
      t.ok(bench.watched.calls.claim < 60, `${bench.watched.calls.claim} claims`)
    })
  }
  await t.test('since it has none', async (t) => {
    const bench = await createBench(t)
    const webhook = await bench.addWebhook('a', { secrets: [] })
    await bench.engine.dispatcher.start()
    await bench.publish(1)
    await bench.clock.advance(10 * MINUTE)
    t.same(await bench.statuses(webhook.id), { pending: 1 })
  })
})

await t.test('between claim and send', async (t) => {
  const changes: Record<'skipped' | 'canceled', (bench: Bench, id: string) => Promise<unknown>> = {
    skipped: (bench, id) =>
      bench.store.write((tx) => tx.disableWebhook(id, 'manual', bench.clock.now())),
    canceled: (bench, id) => bench.store.write((tx) => tx.webhooks.delete(id, bench.clock.now())),
  }
  for (const [status, change] of Object.entries(changes)) {
    await t.test(`what is ${status} by its webhook's change is not sent`, async (t) => {
      const bench = await createBench(t, { limits: { total: 1, perWebhook: 1 } })
      const webhook = await bench.addWebhook('a')
      await bench.engine.dispatcher.start()
      bench.sender.hold()
      await bench.publish(3)
      await bench.quiet()
      await change(bench, webhook.id)
      bench.sender.letGo()
      await bench.clock.advance(MINUTE)
      t.equal(bench.sender.sent.length, 1)
      const counts = await bench.statuses(webhook.id)
      t.same(counts, status === 'skipped' ? { succeeded: 1, skipped: 2 } : { canceled: 3 })
    })
    await t.test(`nor what is ${status} while its webhook is being read`, async (t) => {
      const bench = await createBench(t)
      const webhook = await bench.addWebhook('a')
      await bench.publish(1)
      bench.forget()
      bench.watched.after.webhooksOf = async () => {
        delete bench.watched.after.webhooksOf
        await change(bench, webhook.id)
      }
      await bench.engine.dispatcher.start()
      await bench.clock.advance(MINUTE)
      t.equal(bench.sender.sent.length, 0)
      t.same(await bench.statuses(webhook.id), { [status]: 1 })
    })
  }
})

const bearClaimed = (bench: Bench, webhook_id: string, event_id: string) => ({
  id: bench.newId(),
  account_id: ACCOUNT,
  webhook_id,
  event_id,
  app_id: null,
  status: 'delivering' as const,
  attempts: 0,
  automatic: 0,
  trigger: 'test' as const,
  end_reason: null,
  created_at: bench.clock.now(),
  done_at: null,
  claim: bench.newId(),
})

await t.test('a delivery that is sent now', async (t) => {
  const setUp = async (t: Parameters<typeof createBench>[0], changes = {}) => {
    const bench = await createBench(t, { limits: { total: 1, perWebhook: 1 } })
    const webhook = await bench.addWebhook('a', changes)
    await bench.engine.dispatcher.start()
    const event = bench.event()
    const target = await bench.engine.targets.find(ACCOUNT, webhook.id)
    if (target === undefined) throw new Error('the webhook is there')
    const delivery = {
      ...bearClaimed(bench, webhook.id, event.id),
      event_type: event.type,
      next_at: bench.clock.now() + bench.engine.lease,
    }
    await bench.store.publish(() => [{ event, deliveries: [delivery] }])
    const sendNow = (): Promise<void> =>
      bench.engine.dispatcher.sendNow(delivery, event.body, target)
    return { bench, webhook, sendNow }
  }
  await t.test('goes beside every limit, and is recorded when the call returns', async (t) => {
    const { bench, webhook, sendNow } = await setUp(t)
    bench.sender.hold()
    await bench.publish(2)
    await bench.quiet()
    const sent = sendNow()
    await bench.quiet()
    t.equal(bench.sender.held, 2)
    bench.sender.letGo()
    await sent
    const [first] = await bench.deliveries(webhook.id)
    t.match(first?.attempts, [{ number: 1, trigger: 'test', status_code: 200 }])
    await bench.quiet()
    t.same(await bench.statuses(webhook.id), { succeeded: 3 })
  })
  await t.test('is handed back when its secret cannot be opened', async (t) => {
    const lost = { id: 's', display: '', created_at: 0, not_after: null, encrypted: 'v1.lost.AAAA' }
    const { bench, webhook, sendNow } = await setUp(t, { secrets: [lost] })
    await sendNow()
    await bench.quiet()
    t.same(await bench.statuses(webhook.id), { pending: 1 })
    t.equal(bench.sender.sent.length, 0)
  })
})
