import type { Attempt, AttemptErrorCode } from '../../lib/delivery/state.ts'
import type { AttemptedDelivery } from '../../lib/engine/ports.ts'
import { toIso } from '../../lib/time.ts'
import type { Registry } from './prometheus.ts'

/** Where a daemon says, on its control socket, what it does at this moment. */
export const STATUS_PATH = '/status'

/** Failed attempts that are remembered. */
const MAX_FAILURES = 10

export interface FailedAttempt {
  readonly at: string
  readonly webhook_id: string
  readonly account_id: string
  readonly delivery_id: string
  readonly error: AttemptErrorCode
  readonly reason: string | null
  readonly status_code: number | null
}

/** The latest failed attempts of this process, newest first. */
export interface RecentFailures {
  readonly list: readonly FailedAttempt[]
  add(attempt: Attempt, of: AttemptedDelivery): void
}

export function createRecentFailures(): RecentFailures {
  const list: FailedAttempt[] = []
  return {
    list,
    add({ error, error_reason, started_at, duration, status_code }, of) {
      if (error === null) return
      const { webhook_id, account_id, delivery_id } = of
      const at = toIso(started_at + duration)
      const reason = error_reason ?? null
      list.unshift({ at, webhook_id, account_id, delivery_id, error, reason, status_code })
      list.length = Math.min(list.length, MAX_FAILURES)
    },
  }
}

/** Numbers of a status, by the metric that each is read from. Null: the store does not answer. */
const NUMBERS = {
  unfinished_deliveries: 'keyhook_deliveries_unfinished',
  webhooks_with_backlog: 'keyhook_webhooks_with_backlog',
  webhooks_due: 'keyhook_webhooks_due',
  oldest_due_seconds: 'keyhook_oldest_due_seconds',
  webhooks_failing: 'keyhook_webhooks_failing',
  claimed_deliveries: 'keyhook_deliveries_claimed',
  events_total: 'keyhook_events_accepted_total',
  attempts_total: 'keyhook_attempts_total',
  attempts_unrecorded: 'keyhook_attempts_unrecorded',
  requests_total: 'keyhook_requests_total',
} as const

export type StatusNumbers = Readonly<Record<keyof typeof NUMBERS, number | null>>

/** What a daemon does, as `keyhook status --json` prints it. */
export interface DaemonStatus extends StatusNumbers {
  readonly at: string
  readonly version: string
  readonly uptime_seconds: number
  readonly sending: 'active' | 'paused'
  readonly last_errors: readonly FailedAttempt[]
}

/** Totals are those of this process since its start; the backlog is that of all daemons of the database. */
export async function readNumbers({ all }: Registry): Promise<StatusNumbers> {
  const entries = Object.entries(NUMBERS).map(async ([name, metric]) => {
    const samples = (await all.get(metric)?.read()) ?? []
    const sum = samples.reduce((total, { value }) => total + value, 0)
    return [name, Number.isNaN(sum) ? null : sum] as const
  })
  return Object.fromEntries(await Promise.all(entries)) as StatusNumbers
}
