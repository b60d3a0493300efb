import * as client from 'prom-client'
import t from 'tap'
import { addProcessMetrics } from '../../daemon/telemetry/process-metrics.ts'
import { CONTENT_TYPE, Counter, Histogram, Registry } from '../../daemon/telemetry/prometheus.ts'

/** Lines without blank ones, which the format ignores. */
const lines = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '')

await t.test('metrics are printed as the client library of Prometheus prints them', async (t) => {
  const theirs = new client.Registry()
  const ours = new Registry()
  const registers = [theirs]

  const events = { name: 'events_total', help: 'Events.', registers }
  for (const counter of [
    new client.Counter(events),
    new Counter(ours, 'events_total', 'Events.'),
  ]) {
    counter.inc()
    counter.inc(41)
  }

  const texts = ['plain', 'a "quoted" word', 'back\\slash', 'two\nlines', 'é']
  const values = [0, 1, 1.5, 1e21, 1e-7, -2, Infinity, -Infinity]
  const gauge = new client.Gauge({ name: 'g', help: 'G.', labelNames: ['text', 'n'], registers })
  const samples = texts.flatMap((text) =>
    values.map((value, n) => ({ labels: { text, n }, value })),
  )
  for (const { labels, value } of samples) gauge.set(labels, value)
  ours.add('gauge', 'g', 'G.', () => samples)

  const bounds = [0.1, 1, 10]
  const took = { name: 'took_seconds', help: 'Took.', buckets: bounds, registers }
  for (const histogram of [
    new client.Histogram(took),
    new Histogram(ours, 'took_seconds', 'Took.', bounds),
  ]) {
    for (const value of [0, 0.1, 0.10001, 1, 5, 10, 11, 1000]) histogram.observe(value)
  }

  t.same(lines(await ours.print()), lines(await theirs.metrics()))
  t.equal(CONTENT_TYPE, theirs.contentType)
})

await t.test('a value that is not known is NaN', async (t) => {
  const registry = new Registry()
  registry.add('gauge', 'g', 'G.', () => [{ value: NaN }])
  t.match(await registry.print(), /^g NaN$/m)
})

await t.test('a name is taken once', (t) => {
  const registry = new Registry()
  const made = new Counter(registry, 'a_total', 'A.')
  made.inc()
  t.throws(() => new Counter(registry, 'a_total', 'B.'), /a_total is there already/)
  t.end()
})

await t.test(
  'the process is measured under the names of the library, with their types',
  async (t) => {
    const theirs = new client.Registry()
    client.collectDefaultMetrics({ register: theirs })
    const typesOf = (text: string) =>
      new Map(
        lines(text).flatMap((line) =>
          line.startsWith('# TYPE') ? [line.split(' ').slice(2)] : [],
        ) as [string, string][],
      )
    const ours = new Registry()
    addProcessMetrics(ours, '')
    const known = typesOf(await theirs.metrics())
    const printed = await ours.print()
    for (const [name, type] of typesOf(printed)) {
      t.equal(type, known.get(name) ?? 'absent', name)
    }
    const value = (name: string): number =>
      Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(printed)?.[1])
    t.ok(Math.abs(value('process_start_time_seconds') - Date.now() / 1000 + process.uptime()) < 3)
    const resident = value('process_resident_memory_bytes')
    t.ok(resident > 20e6 && resident < 2e9, String(resident))
    t.ok(value('nodejs_heap_size_used_bytes') < resident)
    if (process.platform === 'linux') t.ok(value('process_open_fds') < value('process_max_fds'))
  },
)

await t.test('a blocked event loop is late', async (t) => {
  const registry = new Registry()
  addProcessMetrics(registry, '')
  const pause = () => new Promise((resolve) => setTimeout(resolve, 50))
  await pause()
  for (const until = performance.now() + 300; performance.now() < until;);
  await pause()
  const most = /lag_seconds\{quantile="1"\} (\S+)/.exec(await registry.print())?.[1]
  t.ok(Number(most) > 0.25, String(most))
})
