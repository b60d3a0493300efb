import cron from 'node-cron'
import type { Instant, Millis } from '../../lib/time.ts'
import { DAY } from '../../lib/time.ts'
import type { PlatformPurgeKind, PlatformStore } from '../../plugins/platform/contract.ts'
import { ALL_PURGE_KINDS } from '../../plugins/platform/contract.ts'
import type { PurgeKind } from '../../plugins/store/contract.ts'
import { PASSAGES_AT_ONCE } from '../../plugins/platform/contract/files.ts'

type Kind = PurgeKind | PlatformPurgeKind

/** How long what is finished is kept; null is for ever. */
export interface Retention {
  /** Events with their deliveries and attempts. */
  readonly events: Millis | null
  readonly audit: Millis | null
  /** Lines of requests to apps. */
  readonly access: Millis
}

/** Rows that one commit deletes, so that publishing waits for a short one at most. */
const CHUNK = 500

/** What ended is of no use to anybody soon after; a revoked value still answers who holds it for a while. */
const ENDED_FOR: Millis = 30 * DAY

/** Of health nobody asks for more than a day. */
const CHECKED_FOR: Millis = 7 * DAY
const UNSEEN_FOR: Millis = 30 * DAY
/** Whoever has not written for so long tries no more to write what it could not. */
const SILENT_FOR: Millis = 30 * DAY

/**
 * Deletes what is older than it is kept, chunk by chunk, and answers how many rows of each kind.
 *
 * @param isStopping asked between chunks
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

/** How long each kind is kept; null is for ever. */
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
    removed_files: 0,
  }
}

/** When, by the clock of this machine: at other minutes each, so that no two begin at once. */
const TIMES = { retention: '17 * * * *', collection: '41 3 * * *' } as const

/** Runs it at its times, never twice at once; the answer stops it and waits for the chunk under way. */
export function keepTimed(
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
