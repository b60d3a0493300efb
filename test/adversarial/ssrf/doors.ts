import { networkInterfaces } from 'node:os'
import { readConfig } from '../../../daemon/config/config.ts'
import { startDaemon } from '../../../daemon/daemon.ts'
import { createLog } from '../../../daemon/telemetry/log.ts'
import { answerWith } from '../../support/receiver.ts'
import { receiverAt } from '../../support/egress.ts'
import {
  deliveryOf,
  FAILS,
  hasStatus,
  publish,
  receiverFor,
  register,
  shopWorld,
} from '../../support/webhooks.ts'
import type { Delivery } from '../../support/webhooks.ts'
import type { Checks } from '../run.ts'
import { ofEgress, watchSockets } from './sockets.ts'

interface Refusal {
  readonly error: { readonly code: string; readonly details: { readonly reason?: string } }
}

/** What goes in by the API, and every way by which something is sent. */
export const DOOR_CHECKS: Checks = {
  async D01(t, saw) {
    const internal = await receiverAt(t, answerWith(''), '127.0.0.1')
    const names = { 'hooks.example.com': ['8.8.8.8'] }
    const world = await shopWorld(t, { allow: '', names })
    const webhook = await register(world, { url: `https://hooks.example.com:${internal.port}/in` })
    saw('201')
    names['hooks.example.com'] = ['127.0.0.1']
    const made = watchSockets(t)
    const { error } = await deliveryOf(world, webhook, await publish(world), hasStatus('blocked'))
    t.match(error, { code: 'refused_address' })
    saw('refused_address')
    t.equal(ofEgress(made).length, 0)
    t.equal(internal.connections, 0)
  },

  async D04(t, saw) {
    const internal = await receiverAt(t, answerWith(''), '127.0.0.3')
    for (const location of ['http://169.254.169.254/', `http://127.0.0.3:${internal.port}/`]) {
      const head = `HTTP/1.1 302 Found\r\nlocation: ${location}\r\n`
      const receiver = await receiverFor(t, answerWith(`${head}content-length: 4\r\n\r\ndata`))
      const world = await shopWorld(t)
      const { id } = await register(world, { url: receiver.url })
      const made = watchSockets(t)
      const { body } = await world.request('POST', `/v1/webhooks/${id}/test`)
      t.match(body, {
        error: { code: 'http_status' },
        response: { status_code: 302, body: null },
      })
      saw('http_status')
      t.equal(ofEgress(made).length, 1, 'the one to the receiver')
    }
    t.equal(internal.connections, 0)
  },

  async D13(t, saw) {
    const world = await shopWorld(t, { names: { 'me.example.com': ['127.0.0.1'] } })
    const { port } = new URL(world.baseUrl)
    const made = watchSockets(t)
    for (const url of [`${world.baseUrl}/v1/webhooks`, `https://me.example.com:${port}/`]) {
      const body = { url, events: ['app.deployed'] }
      const refused = await world.request<Refusal>('POST', '/v1/webhooks', { body })
      t.match(refused, { status: 400, body: { error: { details: { reason: 'own_listener' } } } })
      saw(`${refused.status} ${refused.body.error.code}`)
      saw(refused.body.error.details.reason ?? '')
    }
    t.equal(ofEgress(made).length, 0)

    const config = readConfig({
      KEYHOOK_DATA_DIR: t.testdir(),
      KEYHOOK_PORT: '0',
      KEYHOOK_WEBHOOK_ALLOW: '0.0.0.0/0,::/0',
    })
    const daemon = await startDaemon(config, createLog('silent'))
    t.teardown(() => daemon.stop())
    const own = new URL(daemon.url).port
    for (const { address, family } of Object.values(networkInterfaces()).flatMap(
      (all) => all ?? [],
    )) {
      const host = family === 'IPv6' ? `[${address}]` : address
      const verdict = await daemon.platform.plugins.egress.judge(`http://${host}:${own}/`)
      t.match(verdict, { ok: false, reason: 'own_listener' }, host)
    }
  },

  async D14(t, saw) {
    const world = await shopWorld(t, { allow: '', names: { 'in.example.com': ['10.0.0.7'] } })
    const url = 'https://hooks.example.com/in'
    const { id } = await register(world, { url })
    const made = watchSockets(t)
    for (const inside of ['https://127.0.0.1/', 'https://in.example.com/', 'https://localhost/']) {
      const body = { url: inside }
      const refused = await world.request<Refusal>('PATCH', `/v1/webhooks/${id}`, { body })
      saw(`${refused.status} ${refused.body.error.code}`)
    }
    t.match((await world.request('GET', `/v1/webhooks/${id}`)).body, { url })
    t.equal(ofEgress(made).length, 0)
  },

  async D15(t, saw) {
    const receiver = await receiverFor(t, FAILS)
    const world = await shopWorld(t, { schedule: [0] })
    const webhook = await register(world, { url: receiver.url })
    const path = `/v1/webhooks/${webhook.id}`
    const made = watchSockets(t)
    await world.request<Delivery>('POST', `${path}/test`)
    const sent = await deliveryOf(world, webhook, await publish(world), hasStatus('exhausted'))
    const retried = await world.request('POST', `${path}/deliveries/${sent.id}/retry`)
    saw(String(retried.status))
    const isRetried = ({ attempts }: Delivery): boolean => attempts.length === 3
    await deliveryOf(world, webhook, sent.event_id, isRetried)
    t.equal(receiver.requests.length, 4, 'a test, an attempt, its retry, and one by hand')
    t.equal(ofEgress(made).length, receiver.connections)
    const own = Number(new URL(world.baseUrl).port)
    t.same(
      made.filter(({ port }) => port !== own),
      ofEgress(made),
      'beside those by which this test asks the API',
    )
  },
}
