import { readFileSync, readdirSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Registry, Sample } from './prometheus.ts'

const MICROS = 1_000_000
const NANOS = 1_000_000_000
/** Interval of the measurement in milliseconds, which Node counts as delay. */
const RESOLUTION = 10
const QUANTILES = [0.5, 0.99, 1] as const

interface Metric {
  readonly type: 'counter' | 'gauge'
  readonly help: string
  readonly read: () => readonly Sample[]
  readonly labels: readonly string[]
}

const gauge = (help: string, read: () => readonly Sample[], ...labels: string[]): Metric => ({
  type: 'gauge',
  help,
  read,
  labels,
})
const counter = (help: string, read: () => readonly Sample[]): Metric => ({
  type: 'counter',
  help,
  read,
  labels: [],
})

/** Once: a clock that is set later must not look like a restart. */
const STARTED = Math.round(Date.now() / 1000 - process.uptime())

/** Metrics of the process, under the names that exporters of Node agree on. */
const METRICS: Readonly<Record<string, Metric>> = {
  process_cpu_user_seconds_total: counter('User CPU time in seconds.', () => [
    { value: process.cpuUsage().user / MICROS },
  ]),
  process_cpu_system_seconds_total: counter('System CPU time in seconds.', () => [
    { value: process.cpuUsage().system / MICROS },
  ]),
  process_start_time_seconds: gauge('Start of the process, in seconds since 1970.', () => [
    { value: STARTED },
  ]),
  process_resident_memory_bytes: gauge('Resident memory in bytes.', () => [
    { value: process.memoryUsage.rss() },
  ]),
  process_open_fds: gauge('Open file descriptors.', () => countFiles()),
  process_max_fds: gauge('Maximum number of open file descriptors.', () => readMaxFiles()),
  nodejs_heap_size_total_bytes: gauge('Size of the heap in bytes.', () => [
    { value: process.memoryUsage().heapTotal },
  ]),
  nodejs_heap_size_used_bytes: gauge('Used bytes of the heap.', () => [
    { value: process.memoryUsage().heapUsed },
  ]),
  nodejs_external_memory_bytes: gauge('Memory outside of the heap in bytes.', () => [
    { value: process.memoryUsage().external },
  ]),
  nodejs_active_resources: gauge(
    'Resources that keep the event loop alive, by type.',
    () => countResources(),
    'type',
  ),
  nodejs_version_info: gauge(
    'Version of Node.',
    () => [{ labels: { version: process.version }, value: 1 }],
    'version',
  ),
}

/** Adds metrics of this process, each name after the prefix. */
export function addProcessMetrics(registry: Registry, prefix: string): void {
  for (const [name, { type, help, read, labels }] of Object.entries(METRICS)) {
    registry.add(type, `${prefix}${name}`, help, read, labels)
  }
  addDelay(registry, prefix)
}

/** What the event loop was late by, since the last reading. */
function addDelay(registry: Registry, prefix: string): void {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION })
  delay.enable()
  const name = `${prefix}nodejs_eventloop_lag_seconds`
  const read = (): readonly Sample[] => {
    const samples = QUANTILES.map((quantile) => ({
      labels: { quantile },
      value: Math.max(0, delay.percentile(quantile * 100) / NANOS - RESOLUTION / 1000),
    }))
    delay.reset()
    return samples
  }
  const help = 'Delay of the event loop since the last reading.'
  registry.add('gauge', name, help, read, ['quantile'])
}

/** Nothing where there is no /proc. */
function countFiles(): readonly Sample[] {
  try {
    // One of them reads the folder.
    return [{ value: readdirSync('/proc/self/fd').length - 1 }]
  } catch {
    return []
  }
}

function readMaxFiles(): readonly Sample[] {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8')
    const [, most] = /^Max open files\s+(\d+)/m.exec(limits) ?? []
    return most === undefined ? [] : [{ value: Number(most) }]
  } catch {
    return []
  }
}

function countResources(): readonly Sample[] {
  const counts = new Map<string, number>()
  for (const type of process.getActiveResourcesInfo()) counts.set(type, (counts.get(type) ?? 0) + 1)
  return [...counts].map(([type, value]) => ({ labels: { type }, value }))
}
