/**
 * The trace of one event over several daemons, as an OTLP collector receives it.
 */
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { printTraceparent } from '../../lib/webhook/traceparent.ts'
import type { CollectedSpan } from '../support/collector.ts'
import { startCollector } from '../support/collector.ts'
import { askControl } from '../support/control.ts'
import type { DaemonProcess, Env } from '../support/daemon.ts'
import { ROOT } from '../arch/source.ts'
import { startDaemonProcess, until } from '../support/daemon.ts'
import { startPostgres } from '../support/postgres.ts'
import { answerWith, startReceiver } from '../support/receiver.ts'

const CANARIES = {
  body: 'body-canary-0123456789',
  query: 'query-canary-0123456789',
  header: 'header-canary-0123456789',
  state: 'state-canary-0123456789',
}
const SENDER = 'dispatch'

const postgres = await startPostgres()
t.teardown(() => postgres.stop())
const collector = await startCollector()
t.teardown(() => collector.close())
const database = await postgres.createDatabase()
const env: Env = {
  KEYHOOK_DATABASE_URL: database,
  KEYHOOK_MASTER_KEY: `k1:${randomBytes(32).toString('base64')}`,
  KEYHOOK_OWNER_EMAIL: 'owner@example.com',
  KEYHOOK_OWNER_PASSWORD: 'a password of the test 0123',
  KEYHOOK_WEBHOOK_ALLOW: '127.0.0.1',
  KEYHOOK_WEBHOOK_RETRY_SCHEDULE: '2,2,2',
  KEYHOOK_APPS: 'off',
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  OTEL_BSP_SCHEDULE_DELAY: '50',
  OTEL_METRIC_EXPORT_INTERVAL: '500',
  OTEL_METRIC_EXPORT_TIMEOUT: '400',
}

async function start(command: readonly string[], service: string): Promise<DaemonProcess> {
  const folder = t.testdir()
  const daemon = await startDaemonProcess(
    { ...env, KEYHOOK_DATA_DIR: `${folder}/${service}`, OTEL_SERVICE_NAME: service },
    ROOT,
    { command },
  )
  t.teardown(() => daemon.end('SIGTERM'))
  return daemon
}

const folder = t.testdir()
const api = await startDaemonProcess(
  { ...env, KEYHOOK_DATA_DIR: folder, OTEL_SERVICE_NAME: 'api' },
  ROOT,
  { command: ['serve', '--no-dispatch'] },
)
t.teardown(() => api.end('SIGTERM'))
const ask = askControl(folder)
const { key } = await ask('POST', '/v1/keys', { name: 'publisher', scopes: ['events:write'] })
await ask('PUT', '/v1/event-types/trace.me')

let status = '500 Internal Server Error'
const receiver = await startReceiver((socket) => {
  socket.write(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`)
})
const plain = await startReceiver(answerWith('HTTP/1.1 204 No Content\r\n\r\n'))
t.teardown(() => Promise.all([receiver.close(), plain.close()]))
const events = ['trace.me']
const failing = await ask('POST', '/v1/webhooks', {
  url: `http://127.0.0.1:${receiver.port}/?${CANARIES.query}`,
  events,
  trace_headers: true,
  headers: { 'X-Own': CANARIES.header, TraceParent: 'of my own' },
})
const taking = await ask('POST', '/v1/webhooks', {
  url: `http://127.0.0.1:${plain.port}/`,
  events,
})

/** Whether an attempt of its last delivery is on record: the span of one ends before. */
async function isRecorded(webhook: { readonly id?: unknown }): Promise<boolean> {
  const { data } = await ask('GET', `/v1/webhooks/${String(webhook.id)}/deliveries?limit=1`)
  return (data as readonly { attempt_count: number }[]).some((one) => one.attempt_count > 0)
}

async function publish(headers: Readonly<Record<string, string>>): Promise<string> {
  const response = await fetch(`${api.url}/v1/events`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${String(key)}`,
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify({ type: 'trace.me', data: { canary: CANARIES.body } }),
  })
  t.equal(response.status, 202)
  return ((await response.json()) as { id: string }).id
}

const newTrace = (): string => randomBytes(16).toString('hex')
const newSpan = (): string => randomBytes(8).toString('hex')
const spansOf = (traceId: string): readonly CollectedSpan[] =>
  collector.spans.filter((span) => span.traceId === traceId)
const headersOf = (head: string): readonly string[] =>
  [...head.matchAll(/^traceparent: (.*)$/gim)].map(([, value = '']) => value)

await t.test('one trace leads from the request to the last attempt', async (t) => {
  const traceId = newTrace()
  const caller = newSpan()
  const id = await publish({
    traceparent: printTraceparent({ traceId, spanId: caller, flags: 1 }),
    tracestate: `vendor=${CANARIES.state}`,
    baggage: `user=${CANARIES.state}`,
  })
  // It waits in the database until somebody sends.
  const first = await start([SENDER], 'sender-1')
  await until('the first attempts are collected', () => spansOf(traceId).length >= 4)
  for (const webhook of [failing, taking]) {
    await until('its outcome is recorded', () => isRecorded(webhook))
  }
  await first.end('SIGKILL')
  status = '204 No Content'
  await start([SENDER], 'sender-2')
  await until('the second attempt is collected', () => spansOf(traceId).length >= 5)

  const spans = spansOf(traceId)
  const named = (name: string): readonly CollectedSpan[] =>
    spans.filter((span) => span.name === name)
  const [request] = named('POST /v1/events')
  const [commit] = named('publish')
  if (request === undefined || commit === undefined) throw new Error(JSON.stringify(spans))
  t.equal(spans.length, 5)
  t.match(request, { service: 'api', kind: 2, parentSpanId: caller })
  t.match(request.attributes, {
    'http.request.method': 'POST',
    'http.route': '/v1/events',
    'http.response.status_code': 202,
  })
  t.match(commit, { service: 'api', kind: 4, parentSpanId: request.spanId })
  t.equal(commit.attributes['messaging.message.id'], id)

  const attempts = named('deliver')
  t.ok(attempts.every((one) => one.parentSpanId === commit.spanId && one.kind === 3))
  const outcomes = attempts.map(({ service, attributes }) => [
    service,
    attributes['keyhook.attempt.number'],
    attributes['http.response.status_code'],
  ])
  t.same(
    outcomes.sort((a, b) => (a.join() < b.join() ? -1 : 1)),
    [
      ['sender-1', 1, 204],
      ['sender-1', 1, 500],
      ['sender-2', 2, 204],
    ],
  )
  t.ok(attempts.every((one) => one.attributes['messaging.message.id'] === id))

  const own = attempts
    .filter(({ attributes }) =>
      attempts.some(
        (other) =>
          other.attributes['http.response.status_code'] === 500 &&
          other.attributes['keyhook.delivery_id'] === attributes['keyhook.delivery_id'],
      ),
    )
    .map(({ spanId }) => [`00-${traceId}-${spanId}-01`])
  t.same(
    receiver.requests.map(({ head }) => headersOf(head)),
    own,
    'its receiver gets the span of each attempt, instead of a header of its own',
  )
  t.same(
    plain.requests.map(({ head }) => headersOf(head)),
    [[]],
    'the other one gets none',
  )
  t.notMatch(receiver.requests.map(({ head }) => head).join(), CANARIES.state)
})

await t.test('a publication lies within its request', async (t) => {
  const traces = Array.from({ length: 100 }, newTrace)
  for (const traceId of traces) {
    await publish({ traceparent: printTraceparent({ traceId, spanId: newSpan(), flags: 1 }) })
  }
  // With those of both attempts: what the next test counts at its receiver is its own.
  await until('their spans are collected', () =>
    traces.every((traceId) => spansOf(traceId).length >= 4),
  )
  const outside = traces.map(spansOf).filter((spans) => {
    const [request, commit] = ['POST /v1/events', 'publish'].map((name) =>
      spans.find((span) => span.name === name),
    )
    if (request === undefined || commit === undefined) return true
    return commit.start < request.start || commit.end > request.end
  })
  t.same(outside, [])
})

await t.test('a caller decides on nothing but a context', async (t) => {
  const traceId = newTrace()
  const rest = `${newSpan()}-01`
  const wrong = [
    `00-${traceId}-${rest}-more`,
    `01-${traceId}-${rest}`,
    `00-${traceId.toUpperCase().replace(/\d/g, 'A')}-${rest}`,
    `00-${'0'.repeat(32)}-${rest}`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    ` x`,
    'y'.repeat(4000),
  ]
  for (const traceparent of wrong) {
    const before = receiver.requests.length
    await publish({ traceparent })
    await until('it is sent', () => receiver.requests.length > before)
    const [sent = ''] = headersOf(receiver.requests.at(-1)?.head ?? '')
    t.match(sent, /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
    t.notMatch(sent, traceId, 'a trace of its own')
  }
  await until('its spans are collected', () =>
    collector.spans.some(({ name, start }) => name === 'deliver' && start > 0n),
  )
  t.equal(spansOf(traceId).length, 0)
})

await t.test('a trace that its caller does not sample is passed on and not recorded', async (t) => {
  const traceId = newTrace()
  const before = receiver.requests.length
  await publish({ traceparent: printTraceparent({ traceId, spanId: newSpan(), flags: 0 }) })
  await until('it is sent', () => receiver.requests.length > before)
  const [sent = ''] = headersOf(receiver.requests.at(-1)?.head ?? '')
  t.match(sent, new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`))
  const sampled = newTrace()
  await publish({
    traceparent: printTraceparent({ traceId: sampled, spanId: newSpan(), flags: 1 }),
  })
  await until('a later trace is collected', () => spansOf(sampled).length >= 4)
  t.equal(spansOf(traceId).length, 0)
})

await t.test('metrics are sent too, and nothing holds what is not an id', async (t) => {
  const expected = [
    'keyhook_events_accepted_total',
    'keyhook_oldest_due_seconds',
    'keyhook_deliveries_unfinished',
    'keyhook_database_connections',
  ]
  const observed = ['keyhook_delivery_seconds', 'keyhook_request_seconds']
  await until('metrics are collected', () =>
    [...expected, ...observed].every((name) => collector.metrics.has(name)),
  )
  const text = collector.texts.join('\n')
  t.ok(text.length > 1000)
  const secrets = { ...CANARIES, key: String(key), password: env['KEYHOOK_OWNER_PASSWORD'] ?? '' }
  for (const [name, canary] of Object.entries(secrets)) t.notOk(text.includes(canary), name)
  for (const place of [database, '127.0.0.1', 'trace.me', 'owner@example.com', 'dist/daemon/main'])
    t.notOk(text.includes(place), place)
})

await t.test('without the settings nothing of it is loaded', async (t) => {
  const loads = async (given: Env): Promise<boolean> => {
    const daemon = await startDaemonProcess({
      KEYHOOK_DATA_DIR: t.testdir(),
      NODE_DEBUG: 'module',
      ...given,
    })
    t.equal(await daemon.end('SIGTERM'), 0)
    return daemon.output().includes('node_modules/@opentelemetry/api')
  }
  const endpoint = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  }
  t.equal(await loads({}), false)
  t.equal(await loads({ ...endpoint, OTEL_SDK_DISABLED: 'true' }), false)
  t.equal(await loads(endpoint), true, 'and with them it is')
})
