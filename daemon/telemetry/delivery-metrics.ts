import type { AttemptedDelivery } from '../../lib/engine/ports.ts'
import type { Attempt } from '../../lib/delivery/state.ts'
import type { Instant, Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import type { ConnectionUse } from '../../plugins/store/contract.ts'
import type { Registry, Sample } from './prometheus.ts'
import { Histogram } from './prometheus.ts'

/** Seconds until a receiver had an event: a backlog is measured in minutes and hours. */
const WAITS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200]
/** Maximum failing webhooks that are remembered. */
const MAX_FAILING = 10_000

/** Work that waits in the store, of all accounts and processes. */
export interface BacklogStatus {
  /** Unfinished deliveries, at most `MOST_COUNTED`. */
  readonly deliveries: number
  /** Webhooks with an unfinished delivery, and those of them with one that is due. */
  readonly webhooks: number
  readonly due_webhooks: number
  readonly oldest_due: Instant | null
}

/** What the metrics of sending are read from. */
export interface SendingSources {
  now(): Instant
  /** Undefined when the store does not answer. */
  backlog(): Promise<BacklogStatus | undefined>
  claimed(): { readonly sending: number; readonly queued: number }
  connections(): ConnectionUse | undefined
}

/** Registers the backlog, the claims of this process and its connections. */
export function addSendingMetrics(registry: Registry, sources: SendingSources): void {
  const gauge = (
    name: string,
    help: string,
    read: () => readonly Sample[] | Promise<readonly Sample[]>,
    labels: readonly string[] = [],
  ): void => {
    registry.add('gauge', name, help, read, labels)
  }
  const ofBacklog = (read: (backlog: BacklogStatus) => readonly Sample[]) => async () => {
    const backlog = await sources.backlog()
    return backlog === undefined ? [{ value: NaN }] : read(backlog)
  }
  const ofConnections = (read: (use: ConnectionUse) => readonly Sample[]) => () => {
    const use = sources.connections()
    return use === undefined ? [] : read(use)
  }
  gauge(
    'keyhook_deliveries_unfinished',
    'Deliveries that wait, are being sent or will be tried again, of all processes; counted up to 10000.',
    ofBacklog(({ deliveries }) => [{ value: deliveries }]),
  )
  gauge(
    'keyhook_webhooks_with_backlog',
    'Webhooks with an unfinished delivery, of all processes.',
    ofBacklog(({ webhooks }) => [{ value: webhooks }]),
  )
  gauge(
    'keyhook_webhooks_due',
    'Webhooks with a delivery that is due and not claimed, of all processes.',
    ofBacklog(({ due_webhooks }) => [{ value: due_webhooks }]),
  )
  gauge(
    'keyhook_oldest_due_seconds',
    'Age of the oldest delivery that is due and not claimed, of all processes; 0 without one.',
    ofBacklog(({ oldest_due }) => [{ value: ageOf(oldest_due, sources.now()) }]),
  )
  gauge(
    'keyhook_deliveries_claimed',
    'Deliveries that this process has claimed, by whether they wait for a slot.',
    () => statesOf(sources.claimed()),
    ['state'],
  )
  gauge(
    'keyhook_database_connections',
    'Connections of the pool; of SQLite, its one writer.',
    ofConnections(({ busy, idle }) => statesOf({ busy, idle })),
    ['state'],
  )
  gauge(
    'keyhook_database_connections_max',
    'Maximum connections of the pool.',
    ofConnections(({ most }) => [{ value: most }]),
  )
  gauge(
    'keyhook_database_waiting',
    'Calls that wait for a connection of the pool.',
    ofConnections(({ waiting }) => [{ value: waiting }]),
  )
}

function ageOf(instant: Instant | null, now: Instant): number {
  return instant === null ? 0 : Math.max(0, now - instant) / SECOND
}

function statesOf(values: Readonly<Record<string, number>>): readonly Sample[] {
  return Object.entries(values).map(([state, value]) => ({ labels: { state }, value }))
}

/** Observes attempts. */
export type ObserveAttempt = (attempt: Attempt, of: AttemptedDelivery) => void

/** Registers how late attempts are, and how many webhooks fail. */
export function addAttemptMetrics(registry: Registry): {
  readonly observe: ObserveAttempt
  /** Sets how long a lease is. */
  setLease(lease: Millis): void
} {
  const latency = new Histogram(
    registry,
    'keyhook_delivery_seconds',
    "Time from an event's acceptance to the end of its first attempt.",
    WAITS,
  )
  const ages = new Histogram(
    registry,
    'keyhook_lease_age_seconds',
    'Age of the lease of a delivery when its attempt ended.',
    WAITS,
  )
  const failing = new Set<string>()
  registry.add(
    'gauge',
    'keyhook_webhooks_failing',
    'Webhooks whose last attempt by this process failed; counted up to 10000.',
    () => [{ value: failing.size }],
  )
  let lease: Millis = 0
  return {
    setLease(given) {
      lease = given
    },
    observe(attempt, { webhook_id, created_at, lease_until }) {
      const ended = attempt.started_at + attempt.duration
      if (attempt.trigger === 'event') latency.observe(ageOf(created_at, ended))
      if (lease_until !== null) ages.observe(ageOf(lease_until - lease, ended))
      if (attempt.error === null) failing.delete(webhook_id)
      else if (failing.size < MAX_FAILING) failing.add(webhook_id)
    },
  }
}
