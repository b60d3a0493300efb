import type { Instant, Millis } from '../../../lib/time.ts'
import { DAY, MINUTE } from '../../../lib/time.ts'
import type {
  CheckRecord,
  ObservationReads,
  ObservedKind,
} from '../../../plugins/platform/contract/observations.ts'

export const HEALTH_STATUSES = ['healthy', 'degraded', 'down', 'unknown', 'offline'] as const

export type HealthStatus = (typeof HEALTH_STATUSES)[number]

/** One check of an app's health. */
export interface HealthCheck {
  readonly name: 'page' | 'requests'
  readonly status: 'pass' | 'fail' | 'unknown'
  readonly latency_ms: Millis | null
  readonly message: string | null
}

export interface Health {
  readonly status: HealthStatus
  readonly checks: readonly HealthCheck[]
  /** Share of passed checks; null without checks. */
  readonly uptime: number | null
  /** Share of failed requests; null without requests. */
  readonly error_rate: number | null
  readonly checked_at: Instant | null
}

/** Maximum age of the latest check: an app is checked once per minute. */
const FRESH: Millis = 3 * MINUTE
const RATED: Millis = 5 * MINUTE
/** Maximum latest requests of an error rate. */
const MOST_RATED = 5000
/** Minimum failed requests of an error rate. */
const LEAST_FAILED = 3
const TOO_MANY = 0.05

/** Examines an app that is online. */
export async function examine(
  observations: Pick<ObservationReads, 'checks' | 'uptime' | 'rate'>,
  appId: string,
  kind: ObservedKind,
  now: Instant,
): Promise<Health> {
  const rate = await observations.rate(appId, kind, now - RATED, MOST_RATED)
  const requests = judgeRequests(rate)
  const error_rate = rate.requests === 0 ? null : rate.errors / rate.requests
  // Only its owner visits a preview: it is not checked.
  if (kind === 'preview') {
    const status = overall('unknown', requests.status)
    return { status, checks: [requests], uptime: null, error_rate, checked_at: null }
  }
  const latest = await observations.checks(appId, 2)
  const { checks, passed } = await observations.uptime(appId, now - DAY)
  const page = judgePage(latest, now)
  const isDown = page.status === 'fail' && latest[1]?.status === 'fail'
  return {
    status: isDown ? 'down' : overall(page.status, requests.status),
    checks: [page, requests],
    uptime: checks === 0 ? null : passed / checks,
    error_rate,
    checked_at: latest[0]?.at ?? null,
  }
}

function judgePage([last]: readonly CheckRecord[], now: Instant): HealthCheck {
  if (last === undefined || last.at < now - FRESH) {
    const message = 'It was not asked for its page of late.'
    return { name: 'page', status: 'unknown', latency_ms: null, message }
  }
  const { status, latency_ms, message } = last
  return { name: 'page', status, latency_ms, message }
}

function judgeRequests({
  requests,
  errors,
}: Awaited<ReturnType<ObservationReads['rate']>>): HealthCheck {
  const fails = errors >= LEAST_FAILED && errors >= TOO_MANY * requests
  return {
    name: 'requests',
    status: requests === 0 ? 'unknown' : fails ? 'fail' : 'pass',
    latency_ms: null,
    message:
      requests === 0
        ? 'No requests yet in the last five minutes.'
        : `${errors} of ${requests} requests of the last five minutes failed.`,
  }
}

function overall(...statuses: readonly HealthCheck['status'][]): HealthStatus {
  if (statuses.includes('fail')) return 'degraded'
  return statuses.includes('pass') ? 'healthy' : 'unknown'
}
