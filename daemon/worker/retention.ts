import cron from 'node-cron'
import type { Instant, Millis } from '../../lib/time.ts'
import { DAY } from '../../lib/time.ts'
import type { PlatformPurgeKind, PlatformStore } from '../../plugins/platform/contract.ts'
import { ALL_PURGE_KINDS } from '../../plugins/platform/contract.ts'
import type { PurgeKind } from '../../plugins/store/contract.ts'
import { PASSAGES_AT_ONCE } from '../../plugins/platform/contract/files.ts'

type Kind = PurgeKind | PlatformPurgeKind

/** Retention of finished records; null: forever. */
export interface Retention {
  /** Events with their deliveries and attempts. */
  readonly events: Millis | null
  readonly audit: Millis | null
  /** Lines of requests to apps. */
  readonly access: Millis
}

/** Rows per commit, so that publishing waits for a short one at most. */
const CHUNK = 500

/** Retention of ended records: a revoked key still answers `key_revoked` meanwhile. */
const ENDED_FOR: Millis = 30 * DAY

/** Retention of checks; health shows the last day. */
const CHECKED_FOR: Millis = 7 * DAY
const UNSEEN_FOR: Millis = 30 * DAY
/** Retention of observers: one that is silent for so long no longer retries a batch. */
const SILENT_FOR: Millis = 30 * DAY

/** Retention of what a payment processor told, and of checkouts that nobody completed. Payments stay. */
const PAYMENTS_TOLD_FOR: Millis = 90 * DAY

/**
 * Deletes expired rows, chunk by chunk, and returns their number by kind.
 *
 * @param isStopping checked between chunks
 */
export async function purgeExpired(
  store: Pick<PlatformStore, 'purge'>,
  retention: Retention,
  now: Instant,
  isStopping: () => boolean = () => false,
): Promise<Partial<Record<Kind, number>>> {
  const purged: Partial<Record<Kind, number>> = {}
  const spans = spansOf(retention)
  for (const kind of ALL_PURGE_KINDS) {
    const span = spans[kind]
    if (span === null) continue
    const limit = kind === 'removed_files' ? PASSAGES_AT_ONCE : CHUNK
    let total = 0
    for (let full = true; full && !isStopping();) {
      const deleted = await store.purge(kind, now - span, limit)
      total += deleted
      full = deleted === limit
    }
    if (total > 0) purged[kind] = total
  }
  return purged
}

/** Retention of each kind; null: forever. */
function spansOf({ events, audit, access }: Retention): Readonly<Record<Kind, Millis | null>> {
  return {
    attempts: events,
    deliveries: events,
    events,
    audit,
    idempotency: 0,
    sessions: 0,
    key_secrets: ENDED_FOR,
    keys: ENDED_FOR,
    webhook_secrets: ENDED_FOR,
    access_lines: access,
    checks: CHECKED_FOR,
    problems: UNSEEN_FOR,
    observers: SILENT_FOR,
    deployments: ENDED_FOR,
    left_aliases: 0,
    processor_events: PAYMENTS_TOLD_FOR,
    checkouts: PAYMENTS_TOLD_FOR,
    removed_files: 0,
    agent_tasks: ENDED_FOR,
    portal_sessions: 0,
  }
}

/** Cron expressions in local time, at different minutes so that no two begin at once. */
const TIMES = { retention: '17 * * * *', collection: '41 3 * * *' } as const

/** Runs work at its times, never twice at once. The result stops it and waits for the current chunk. */
export function scheduleWork(
  name: keyof typeof TIMES,
  work: (isStopping: () => boolean) => Promise<void>,
): () => Promise<void> {
  let stopping = false
  let running: Promise<void> = Promise.resolve()
  const task = cron.schedule(
    TIMES[name],
    () => {
      running = work(() => stopping)
      return running
    },
    { noOverlap: true, name },
  )
  return async () => {
    stopping = true
    await task.destroy()
    await running
  }
}
