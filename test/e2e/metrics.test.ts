import t from 'tap'
import { createMetrics } from '../../daemon/telemetry/metrics.ts'
import { askControl } from '../support/control.ts'
import { startDaemonProcess, until } from '../support/daemon.ts'
import { answerWith, startReceiver } from '../support/receiver.ts'

const OPERATOR = 'operator-token-0123456789-0123456789'

type Labels = Readonly<Record<string, string>>

interface Line {
  readonly name: string
  readonly labels: Labels
  readonly value: number
}

function parse(text: string): readonly Line[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
      const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)]
      return {
        name,
        labels: Object.fromEntries(pairs.map(([, key, text]) => [key, text])),
        value: Number(value),
      }
    })
}

const folder = t.testdir()
const daemon = await startDaemonProcess({
  KEYHOOK_DATA_DIR: folder,
  KEYHOOK_OPERATOR_TOKEN: OPERATOR,
  KEYHOOK_OWNER_EMAIL: 'owner@example.com',
  KEYHOOK_OWNER_PASSWORD: 'a password of the test 0123',
})
t.teardown(() => daemon.end('SIGTERM'))
const ask = askControl(folder)

async function scrape(): Promise<readonly Line[]> {
  const response = await fetch(`${daemon.url}/metrics`, {
    headers: { authorization: `Bearer ${OPERATOR}` },
  })
  return parse(await response.text())
}

async function read(name: string, labels: Labels = {}): Promise<number | undefined> {
  const found = (await scrape()).find(
    (line) =>
      line.name === name &&
      Object.entries(labels).every(([key, text]) => line.labels[key] === text),
  )
  return found?.value
}

const works = await startReceiver(answerWith('HTTP/1.1 204 No Content\r\n\r\n'))
const fails = await startReceiver(
  answerWith('HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n'),
)
t.teardown(() => Promise.all([works.close(), fails.close()]))
await ask('PUT', '/v1/event-types/metrics.works')
await ask('PUT', '/v1/event-types/metrics.fails')
await ask('PUT', '/v1/event-types/metrics.waits')

const hook = (port: number, type: string, more: object = {}) =>
  ask('POST', '/v1/webhooks', { url: `http://127.0.0.1:${port}/`, events: [type], ...more })

await t.test('requests are counted by the template of their route', async (t) => {
  const { id } = await hook(works.port, 'metrics.works')
  await ask('GET', `/v1/webhooks/${String(id)}`)
  const route = { method: 'GET', route: '/v1/webhooks/{webhook_id}' }
  t.equal(await read('keyhook_requests_total', { ...route, status: '200' }), 1)
  t.equal(await read('keyhook_request_seconds_count', route), 1)
  t.equal(await read('keyhook_request_seconds_bucket', { ...route, le: '+Inf' }), 1)
  const sum = (await read('keyhook_request_seconds_sum', route)) ?? 0
  t.ok(sum > 0 && sum < 30, `${sum} s`)
})

await t.test('no caller creates labels', async (t) => {
  for (let number = 0; number < 50; number++) {
    await fetch(`${daemon.url}/v1/webhooks/made-up-${number}`)
    await fetch(`${daemon.url}/made-up/${number}?a=${number}`)
  }
  await fetch(`${daemon.url}/made-up`, { method: 'PURGE' })
  const lines = await scrape()
  t.notMatch(JSON.stringify(lines), /made-?up|PURGE/)
  const routes = lines
    .filter(({ name }) => name === 'keyhook_request_seconds_count')
    .map(({ labels }) => `${labels['method']} ${labels['route']}`)
  t.same(routes.sort(), [
    'GET /metrics',
    'GET /v1/webhooks/{webhook_id}',
    'GET other',
    'POST /v1/webhooks',
    'PUT /v1/event-types/{type}',
    'other other',
  ])
})

await t.test('first attempts, leases and failing webhooks', async (t) => {
  await hook(fails.port, 'metrics.fails')
  for (const type of ['metrics.works', 'metrics.works', 'metrics.fails'])
    await ask('POST', '/v1/events', { type, data: {} })
  await until('both receivers have been asked again and again', () => fails.requests.length >= 2)
  await until('they are counted', async () => (await read('keyhook_webhooks_failing')) === 1)
  t.equal(works.requests.length, 2)
  t.equal(await read('keyhook_delivery_seconds_count'), 3, 'retries are not first attempts')
  const ended = (await read('keyhook_lease_age_seconds_count')) ?? 0
  t.ok(ended >= 4, `${ended} leases ended`)
  t.equal(await read('keyhook_lease_age_seconds_bucket', { le: '10' }), ended)
  t.equal(await read('keyhook_database_connections_max'), 1)
})

await t.test('a backlog is counted up to its maximum, and its oldest is known', async (t) => {
  await hook(works.port, 'metrics.waits', { rate_limit: 1 })
  const events = Array.from({ length: 500 }, () => ({ type: 'metrics.waits', data: {} }))
  for (let batch = 0; batch < 24; batch++) await ask('POST', '/v1/events', { events })
  await until(
    'the backlog is read',
    async () => (await read('keyhook_deliveries_unfinished')) === 10_000,
  )
  t.ok(((await read('keyhook_webhooks_due')) ?? 0) >= 1)
  await until(
    'the oldest grows older',
    async () => ((await read('keyhook_oldest_due_seconds')) ?? 0) >= 1,
  )
})

await t.test('each metric has the labels that it declares', async (t) => {
  const metrics = createMetrics()
  metrics.watchSending(0, {
    now: () => 0,
    backlog: async () => undefined,
    claimed: () => ({ sending: 0, queued: 0 }),
    connections: () => undefined,
  })
  metrics.watchBytes(() => ({
    bodies: 0,
    responses: 0,
    anonymous_bodies: 0,
    anonymous_responses: 0,
  }))
  const { all } = metrics.registry
  const lines = await scrape()
  t.ok(lines.length > 100)
  for (const { name, labels } of lines) {
    const found = all.get(name) ?? all.get(name.replace(/_(bucket|sum|count)$/, ''))
    t.same(
      Object.keys(labels)
        .filter((label) => label !== 'le')
        .sort(),
      [...(found?.labels ?? ['not declared'])].sort(),
      name,
    )
  }
})
