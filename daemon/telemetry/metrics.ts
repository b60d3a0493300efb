import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import type { PaymentCounts } from '../billing/payments/counts.ts'
import { createPaymentCounts } from '../billing/payments/counts.ts'
import type { OutboxStatus } from '../worker/outbox/status.ts'
import type { EngineEvents } from '../../lib/engine/ports.ts'
import type { VerifierCounts } from '../../lib/engine/verifier.ts'

type Counts<Name extends string> = Record<Name, number>

/** Connections and requests that a listener refused or closed, by reason. */
export type ConnectionCounts = Counts<
  'connections' | 'network_connections' | 'network_requests' | 'evicted' | 'slow'
>

const NO_CONNECTIONS: Readonly<ConnectionCounts> = {
  connections: 0,
  network_connections: 0,
  network_requests: 0,
  evicted: 0,
  slow: 0,
}

export interface Metrics {
  readonly engine: Partial<EngineEvents>
  /** Incremented by the verifier, and read with the metrics. */
  readonly verifications: VerifierCounts
  /** Incremented by the observation of apps, and read with the metrics. */
  readonly dropped: { access_lines: number; problems: number }
  /** Incremented by the listener of apps, and read with the metrics. */
  readonly visitors: ConnectionCounts
  /** Incremented by the listener of the API, and read with the metrics. */
  readonly clients: ConnectionCounts
  /** Incremented by the endpoints of browser reports, and read with the metrics. */
  readonly reports: Counts<'too_many' | 'at_once' | 'too_slow' | 'too_large'>
  /** Incremented by the work on payments, and read with the metrics. */
  readonly payments: PaymentCounts
  /** Registers what becomes of the rows of the backend's outbox, where there is one. */
  watchOutbox(status: OutboxStatus): void
  /** Registers the source of what billing has in progress, in the whole installation. */
  watchBilling(read: () => Promise<BillingInProgress>): void
  /** Counts one change that other processes did not acknowledge in time. */
  unacknowledged(): void
  /** Registers the source of the bytes that requests and responses hold. */
  watchBytes(read: () => BytesInProgress): void
  /** Counts one refusal by its code; codes, and so the labels, are a closed set. */
  refused(code: string): void
  /** The Prometheus text format. */
  print(): Promise<{ readonly type: string; readonly text: string }>
}

/** Bytes that requests and responses of a process hold, by pool. */
export type BytesInProgress = Counts<
  'bodies' | 'responses' | 'anonymous_bodies' | 'anonymous_responses'
>

/** Holds of works in progress; events of the processor that wait, where there is one. */
export interface BillingInProgress {
  readonly holds: number
  readonly events: number | undefined
}

const SECONDS = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry, prefix: 'keyhook_' })
  const events = new Counter({
    name: 'keyhook_events_accepted_total',
    help: 'Events accepted by the outbox.',
    registers,
  })
  const commits = new Counter({
    name: 'keyhook_publish_commits_total',
    help: 'Commits of groups of events.',
    registers,
  })
  const attempts: Partial<Record<string, number>> = {}
  registry.registerMetric(
    counted('keyhook_attempts_total', 'Delivery attempts by how they ended.', 'result', attempts),
  )
  const duration = new Histogram({
    name: 'keyhook_attempt_seconds',
    help: 'Time an attempt took.',
    buckets: SECONDS,
    registers,
  })
  const settled = new Counter({
    name: 'keyhook_attempts_recorded_total',
    help: 'Attempts whose outcome is committed.',
    registers,
  })
  const unrecorded = new Gauge({
    name: 'keyhook_attempts_unrecorded',
    help: 'Outcomes that could not be recorded and wait in memory.',
    registers,
  })
  const disabled = new Counter({
    name: 'keyhook_webhooks_disabled_total',
    help: 'Webhooks disabled after persistent failure.',
    registers,
  })
  const silent = new Counter({
    name: 'keyhook_changes_unacknowledged_total',
    help: 'Changes of authority that waited for a process that did not answer.',
    registers,
  })
  const refusals = new Counter({
    name: 'keyhook_refusals_total',
    help: 'Requests refused, by code.',
    labelNames: ['code'] as const,
    registers,
  })
  const verifications: VerifierCounts = { cache: 0, store: 0 }
  registry.registerMetric(
    counted(
      'keyhook_verifications_total',
      'Verifications of keys, by whether what they went by was in memory or was read.',
      'from',
      verifications,
    ),
  )
  const dropped: Metrics['dropped'] = { access_lines: 0, problems: 0 }
  registry.registerMetric(
    counted(
      'keyhook_observations_dropped_total',
      'What was observed of apps and left out for want of room.',
      'what',
      dropped,
    ),
  )
  const visitors: ConnectionCounts = { ...NO_CONNECTIONS }
  registry.registerMetric(
    counted(
      'keyhook_visitors_refused_total',
      'Connections and requests of visitors of apps that were refused or cut off.',
      'why',
      visitors,
    ),
  )
  const clients: ConnectionCounts = { ...NO_CONNECTIONS }
  registry.registerMetric(
    counted(
      'keyhook_clients_refused_total',
      'Connections and requests to the API that were refused or closed for a limit of connections.',
      'why',
      clients,
    ),
  )
  const reports: Metrics['reports'] = { too_many: 0, at_once: 0, too_slow: 0, too_large: 0 }
  registry.registerMetric(
    counted(
      'keyhook_reports_dropped_total',
      'Reports of browsers that were not looked at.',
      'why',
      reports,
    ),
  )
  const payments = createPaymentCounts()
  registry.registerMetric(
    counted(
      'keyhook_processor_events_total',
      'Events of the payment processor, by what became of them here.',
      'result',
      payments.events,
    ),
  )
  registry.registerMetric(
    counted(
      'keyhook_processor_swept_total',
      'Objects of the payment processor that only a sweep found, and sweeps that failed.',
      'what',
      payments.swept,
    ),
  )
  return {
    payments,
    watchOutbox(status) {
      registry.registerMetric(
        counted(
          'keyhook_outbox_rows_total',
          "Rows of the backend's outbox, by what became of them.",
          'result',
          status.counts,
        ),
      )
      registry.registerMetric(
        new Gauge({
          name: 'keyhook_outbox_connected',
          help: "Whether the backend's outbox can be read: 1 or 0.",
          registers: [],
          collect() {
            this.set(status.connected ? 1 : 0)
          },
        }),
      )
    },
    watchBilling(read) {
      registry.registerMetric(
        new Gauge({
          name: 'keyhook_billing_in_progress',
          help: 'Open holds, and events of the payment processor that wait, of all processes.',
          labelNames: ['what'],
          registers: [],
          async collect() {
            // Without an answer of the store there is no value; the other metrics are shown.
            const { holds, events } = await read().catch(() => ({ holds: NaN, events: NaN }))
            this.set({ what: 'holds' }, holds)
            if (events !== undefined) this.set({ what: 'events' }, events)
          },
        }),
      )
    },
    verifications,
    dropped,
    visitors,
    clients,
    reports,
    engine: {
      committed(count) {
        if (count === 0) return
        events.inc(count)
        commits.inc()
      },
      attempted(attempt) {
        const result = attempt.error ?? 'succeeded'
        attempts[result] = (attempts[result] ?? 0) + 1
        duration.observe(attempt.duration / 1000)
      },
      settled(count) {
        settled.inc(count)
        unrecorded.set(0)
      },
      settleFailed(waiting) {
        unrecorded.set(waiting)
      },
      disabled() {
        disabled.inc()
      },
    },
    watchBytes(read) {
      registry.registerMetric(
        new Gauge({
          name: 'keyhook_bytes_in_progress',
          help: 'Bytes that request bodies and responses hold, by pool.',
          labelNames: ['pool'],
          registers: [],
          collect() {
            for (const [pool, bytes] of Object.entries(read())) this.set({ pool }, bytes)
          },
        }),
      )
    },
    unacknowledged() {
      silent.inc()
    },
    refused(code) {
      refusals.inc({ code })
    },
    print: async () => ({ type: registry.contentType, text: await registry.metrics() }),
  }
}

/** A counter of values counted elsewhere: on a hot path, looking up a label takes too long. */
function counted(
  name: string,
  help: string,
  label: string,
  counts: Readonly<Partial<Record<string, number>>> | VerifierCounts,
): Counter {
  return new Counter({
    name,
    help,
    labelNames: [label],
    registers: [],
    collect() {
      this.reset()
      for (const [value, count] of Object.entries<number | undefined>({ ...counts }))
        this.inc({ [label]: value }, count)
    },
  })
}
