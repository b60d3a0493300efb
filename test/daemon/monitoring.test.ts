/** Alerts of Prometheus and the dashboard of Grafana; promtool is run where it is installed (test/soak/tools.sh). */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseYaml } from '@redocly/openapi-core'
import t from 'tap'
import { createMetrics } from '../../daemon/telemetry/metrics.ts'
import type { Declared } from '../../daemon/telemetry/prometheus.ts'
import { ROOT } from '../arch/source.ts'

const pathOf = (name: string): string => join(ROOT, 'packaging', name)
const RULES = pathOf('prometheus/keyhook.rules.yaml')

/** What Prometheus adds to every series, and what a bucket has. */
const ADDED = ['instance', 'job', 'le']

function declared(): ReadonlyMap<string, Declared> {
  const metrics = createMetrics()
  metrics.watchSending(0, {
    now: () => 0,
    backlog: async () => undefined,
    claimed: () => ({ sending: 0, queued: 0 }),
    connections: () => undefined,
  })
  metrics.watchOutbox({ counts: {}, connected: true } as never)
  metrics.watchBytes(() => ({}) as never)
  return metrics.registry.all
}

const METRICS = declared()

/** A metric by the name of one of its series. */
function find(series: string): Declared | undefined {
  const found = METRICS.get(series)
  if (found !== undefined) return found
  const histogram = METRICS.get(series.replace(/_(bucket|sum|count)$/, ''))
  return histogram?.type === 'histogram' ? histogram : undefined
}

/** What is wrong with an expression; a histogram is read by its series alone. */
function faultsOf(expression: string): readonly string[] {
  const faults: string[] = []
  const labels = new Set(ADDED)
  const series = expression.matchAll(/(\w+\()?\b(keyhook_\w+)(?:\{([^}]*)\})?/g)
  for (const [, call = '', name = '', matchers = ''] of series) {
    const metric = find(name)
    if (metric === undefined) {
      faults.push(`${name} is no metric`)
      continue
    }
    const grows = metric.type !== 'gauge'
    if (grows !== ['rate(', 'increase('].includes(call) && call !== 'label_values(') {
      faults.push(`${name} is a ${metric.type}, and read by ${call || 'its value'}`)
    }
    if (metric.type === 'histogram' && METRICS.has(name)) faults.push(`${name} has no such series`)
    for (const label of metric.labels) labels.add(label)
    for (const [, label = ''] of matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)) {
      if (![...ADDED, ...metric.labels].includes(label)) faults.push(`${name} has no ${label}`)
    }
  }
  for (const [, names = ''] of expression.matchAll(/\bby \(([^)]*)\)/g)) {
    const unknown = names.split(',').filter((label) => !labels.has(label.trim()))
    faults.push(...unknown.map((label) => `nothing has the label ${label}`))
  }
  return faults
}

await t.test('an alert is of metrics, types and labels that exist', (t) => {
  interface Rules {
    readonly groups: readonly {
      readonly rules: readonly { readonly alert: string; readonly expr: string }[]
    }[]
  }
  const { groups } = parseYaml(readFileSync(RULES, 'utf8')) as Rules
  const rules = groups.flatMap((group) => group.rules)
  t.ok(rules.length > 10)
  for (const { alert, expr } of rules) t.same(faultsOf(expr), [], alert)
  t.end()
})

await t.test('a panel is of metrics, types and labels that exist', (t) => {
  interface Dashboard {
    readonly panels: readonly {
      readonly id: number
      readonly title: string
      readonly targets?: readonly { readonly expr: string }[]
    }[]
    readonly templating: { readonly list: readonly { readonly query: string }[] }
  }
  const text = readFileSync(pathOf('grafana/keyhook.json'), 'utf8')
  const { panels, templating } = JSON.parse(text) as Dashboard
  for (const { title, targets = [] } of panels) {
    for (const { expr } of targets) t.same(faultsOf(expr), [], `${title}: ${expr}`)
  }
  for (const { query } of templating.list) t.same(faultsOf(query), [])
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
  t.end()
})

await t.test('a wrong expression is found', (t) => {
  for (const [wrong, fault] of Object.entries({
    'rate(keyhook_no_such_total[5m])': /no metric/,
    'keyhook_attempts_total > 1': /is a counter/,
    'rate(keyhook_attempts_unrecorded[5m])': /is a gauge/,
    'rate(keyhook_attempts_total{status="x"}[5m])': /has no status/,
    'sum by (route) (rate(keyhook_attempts_total[5m]))': /label route/,
    'rate(keyhook_attempt_seconds[5m])': /no such series/,
  })) {
    t.match(faultsOf(wrong).join(), fault)
  }
  t.end()
})

await t.test('every alert has a case in which it fires, and one in which it does not', (t) => {
  interface Case {
    readonly alertname: string
    readonly exp_alerts: readonly object[]
  }
  const rules = readFileSync(RULES, 'utf8').matchAll(/- alert: (\w+)/g)
  const { tests } = parseYaml(
    readFileSync(pathOf('prometheus/keyhook.rules.test.yaml'), 'utf8'),
  ) as { readonly tests: readonly { readonly alert_rule_test: readonly Case[] }[] }
  const cases = tests.flatMap((one) => one.alert_rule_test)
  for (const [, name = ''] of rules) {
    const own = cases.filter(({ alertname }) => alertname === name)
    t.ok(
      own.some(({ exp_alerts }) => exp_alerts.length > 0),
      `${name} fires`,
    )
    t.ok(
      own.some(({ exp_alerts }) => exp_alerts.length === 0),
      `${name} is silent`,
    )
  }
  t.end()
})

const hasPromtool = spawnSync('promtool', ['--version']).status === 0
if (process.env['CI'] === 'true') t.ok(hasPromtool, 'a machine of CI has promtool')
if (hasPromtool) {
  await t.test('Prometheus reads the alerts, and they fire when they are to', (t) => {
    for (const args of [
      ['check', 'rules', RULES],
      ['test', 'rules', pathOf('prometheus/keyhook.rules.test.yaml')],
    ]) {
      const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' })
      t.equal(status, 0, stdout + stderr)
    }
    t.end()
  })
}
