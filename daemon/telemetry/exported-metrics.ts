import type { Meter, ObservableResult } from '@opentelemetry/api'
import type { Labels, Registry } from './prometheus.ts'

/** Exports all metrics of a registry, from now on. Call it once they are all registered. */
export type ExportMetrics = (registry: Registry) => void

/** Creates an export: counters and gauges are read when they are sent, observations are passed on. */
export function exportMetricsTo(meter: Meter): ExportMetrics {
  return (registry) => {
    for (const [name, { type, help, read, bounds }] of registry.all) {
      const description = { description: help }
      if (type === 'histogram') {
        const advice = { explicitBucketBoundaries: [...(bounds ?? [])] }
        const histogram = meter.createHistogram(name, { ...description, unit: 's', advice })
        registry.forward(name, (value: number, labels: Labels) => {
          histogram.record(value, labels)
        })
        continue
      }
      const observable =
        type === 'counter'
          ? meter.createObservableCounter(name, description)
          : meter.createObservableGauge(name, description)
      observable.addCallback(async (result: ObservableResult) => {
        for (const { value, labels = {} } of await read())
          if (!Number.isNaN(value)) result.observe(value, labels)
      })
    }
  }
}
