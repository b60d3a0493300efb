import type { PaymentCounts } from '../billing/payments/counts.ts'
import { createPaymentCounts } from '../billing/payments/counts.ts'
import type { OutboxStatus } from '../worker/outbox/status.ts'
import type { EngineEvents } from '../../lib/engine/ports.ts'
import type { VerifierCounts } from '../../lib/engine/verifier.ts'
import type { Millis } from '../../lib/time.ts'
import type { SendingSources } from './delivery-metrics.ts'
import { addAttemptMetrics, addSendingMetrics } from './delivery-metrics.ts'
import { addProcessMetrics } from './process-metrics.ts'
import type { Sample } from './prometheus.ts'
import { CONTENT_TYPE, Counter, Histogram, Registry } from './prometheus.ts'
import type { CountRequest } from './request-metrics.ts'
import { addRequestMetrics } from './request-metrics.ts'
import type { RecentFailures } from './status.ts'
import { createRecentFailures } from './status.ts'

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
  /** All metrics. */
  readonly registry: Registry
  /** The latest failed attempts. */
  readonly failures: RecentFailures
  /** Counts one response. */
  readonly requested: CountRequest
  /** Registers what sending is measured by. */
  watchSending(lease: Millis, sources: SendingSources): void
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
  addProcessMetrics(registry, 'keyhook_')
  /** A counter of values counted elsewhere: on a hot path, looking up a label takes too long. */
  const addCounts = (
    name: string,
    help: string,
    label: string,
    counts: Values | VerifierCounts,
  ): void => registry.add('counter', name, help, () => samplesOf(label, counts), [label])
  const events = new Counter(
    registry,
    'keyhook_events_accepted_total',
    'Events accepted by the outbox.',
  )
  const commits = new Counter(
    registry,
    'keyhook_publish_commits_total',
    'Commits of groups of events.',
  )
  const attempts: Partial<Record<string, number>> = {}
  addCounts('keyhook_attempts_total', 'Delivery attempts by how they ended.', 'result', attempts)
  const duration = new Histogram(
    registry,
    'keyhook_attempt_seconds',
    'Time an attempt took.',
    SECONDS,
  )
  const late = addAttemptMetrics(registry)
  const failures = createRecentFailures()
  const settled = new Counter(
    registry,
    'keyhook_attempts_recorded_total',
    'Attempts whose outcome is committed.',
  )
  let unrecorded = 0
  registry.add(
    'gauge',
    'keyhook_attempts_unrecorded',
    'Outcomes that could not be recorded and wait in memory.',
    () => [{ value: unrecorded }],
  )
  const disabled = new Counter(
    registry,
    'keyhook_webhooks_disabled_total',
    'Webhooks disabled after persistent failure.',
  )
  const silent = new Counter(
    registry,
    'keyhook_changes_unacknowledged_total',
    'Changes of authority that waited for a process that did not answer.',
  )
  const refusals: Partial<Record<string, number>> = {}
  addCounts('keyhook_refusals_total', 'Requests refused, by code.', 'code', refusals)
  const verifications: VerifierCounts = { cache: 0, store: 0 }
  addCounts(
    'keyhook_verifications_total',
    'Verifications of keys, by whether what they went by was in memory or was read.',
    'from',
    verifications,
  )
  const dropped: Metrics['dropped'] = { access_lines: 0, problems: 0 }
  addCounts(
    'keyhook_observations_dropped_total',
    'What was observed of apps and left out for want of room.',
    'what',
    dropped,
  )
  const visitors: ConnectionCounts = { ...NO_CONNECTIONS }
  addCounts(
    'keyhook_visitors_refused_total',
    'Connections and requests of visitors of apps that were refused or cut off.',
    'why',
    visitors,
  )
  const clients: ConnectionCounts = { ...NO_CONNECTIONS }
  addCounts(
    'keyhook_clients_refused_total',
    'Connections and requests to the API that were refused or closed for a limit of connections.',
    'why',
    clients,
  )
  const reports: Metrics['reports'] = { too_many: 0, at_once: 0, too_slow: 0, too_large: 0 }
  addCounts(
    'keyhook_reports_dropped_total',
    'Reports of browsers that were not looked at.',
    'why',
    reports,
  )
  const payments = createPaymentCounts()
  addCounts(
    'keyhook_processor_events_total',
    'Events of the payment processor, by what became of them here.',
    'result',
    payments.events,
  )
  addCounts(
    'keyhook_processor_swept_total',
    'Objects of the payment processor that only a sweep found, and sweeps that failed.',
    'what',
    payments.swept,
  )
  return {
    registry,
    failures,
    requested: addRequestMetrics(registry, SECONDS),
    watchSending(lease, sources) {
      late.setLease(lease)
      addSendingMetrics(registry, sources)
    },
    payments,
    watchOutbox(status) {
      addCounts(
        'keyhook_outbox_rows_total',
        "Rows of the backend's outbox, by what became of them.",
        'result',
        status.counts,
      )
      registry.add(
        'gauge',
        'keyhook_outbox_connected',
        "Whether the backend's outbox can be read: 1 or 0.",
        () => [{ value: status.connected ? 1 : 0 }],
      )
    },
    watchBilling(read) {
      registry.add(
        'gauge',
        'keyhook_billing_in_progress',
        'Open holds, and events of the payment processor that wait, of all processes.',
        // Without an answer of the store there is no value; the other metrics are shown.
        async () => samplesOf('what', await read().catch(() => ({ holds: NaN, events: NaN }))),
        ['what'],
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
      attempted(attempt, of) {
        const result = attempt.error ?? 'succeeded'
        attempts[result] = (attempts[result] ?? 0) + 1
        duration.observe(attempt.duration / 1000)
        late.observe(attempt, of)
        failures.add(attempt, of)
      },
      settled(count) {
        settled.inc(count)
        unrecorded = 0
      },
      settleFailed(waiting) {
        unrecorded = waiting
      },
      disabled() {
        disabled.inc()
      },
    },
    watchBytes(read) {
      registry.add(
        'gauge',
        'keyhook_bytes_in_progress',
        'Bytes that request bodies and responses hold, by pool.',
        () => samplesOf('pool', read()),
        ['pool'],
      )
    },
    unacknowledged() {
      silent.inc()
    },
    refused(code) {
      refusals[code] = (refusals[code] ?? 0) + 1
    },
    print: async () => ({ type: CONTENT_TYPE, text: await registry.print() }),
  }
}

type Values = Readonly<Partial<Record<string, number>>>

function samplesOf(label: string, values: Values | VerifierCounts | BillingInProgress) {
  return Object.entries<number | undefined>({ ...values }).flatMap(([name, value]): Sample[] =>
    value === undefined ? [] : [{ labels: { [label]: name }, value }],
  )
}
