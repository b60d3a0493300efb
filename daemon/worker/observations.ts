import { KeyhookError } from '../../lib/errors.ts'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import type { ToldErrors } from '../../plugins/platform/contract/error-groups.ts'
import type { AccessLine } from '../../plugins/platform/contract/observations.ts'
import type { Observer } from '../hosting/site.ts'
import type { Platform } from '../platform.ts'
import type { Log } from '../telemetry/log.ts'
import { createEdits } from './observations/edits.ts'
import type { Batch, Dropped } from './observations/gather.ts'
import { createGathering } from './observations/gather.ts'

const FLUSH_EVERY: Millis = 5 * SECOND
/** Lines per statement. */
const LINES_AT_ONCE = 1000
/** Attempts to write the rest when the process ends, and the pause between them. */
const LAST_TRIES = 3
const LAST_PAUSE: Millis = SECOND / 5

export interface Observing {
  readonly observer: Observer
  /** Writes what was observed. False when that failed: it is kept for the next attempt. */
  flush(): Promise<boolean>
  /** Writes the rest. Later observations are lost. */
  stop(): Promise<void>
}

/**
 * Records observations of apps: collected in memory, and written at an interval in one unit of work.
 *
 * A failed batch is written again with the same number and amounts, so that it counts once; a crash loses what
 * was observed since the last write. Observations beyond the memory limits are dropped and counted in `dropped`,
 * except the counters of usage.
 */
export function startObserving(
  platform: Pick<Platform, 'store' | 'clock' | 'random' | 'newId'>,
  log: Log,
  dropped: Dropped,
  every: Millis = FLUSH_EVERY,
): Observing {
  const { store, clock, random, newId } = platform
  const source = newId()
  const gathering = createGathering(random, dropped)
  const edits = createEdits(store.deployments)
  let isStopped = false
  /** The batch that could not be written yet. */
  let waiting: Batch | undefined
  let flushing: Promise<boolean> = Promise.resolve(true)
  let cancel: (() => void) | undefined

  /** Only while something is to be written, so that it does not keep the process alive. */
  function schedule(): void {
    if (isStopped) return
    cancel ??= clock.after(every, () => {
      cancel = undefined
      void flush().then((isWritten) => {
        if (!isWritten) schedule()
      })
    })
  }

  /** One after another: batches of a process are written in order. */
  function flush(): Promise<boolean> {
    flushing = flushing.then(writeOut)
    return flushing
  }

  async function writeOut(): Promise<boolean> {
    if (waiting !== undefined && !(await tryToWrite(waiting))) return false
    const batch = gathering.take()
    return batch === undefined || tryToWrite(batch)
  }

  /** Never rejects. */
  async function tryToWrite(batch: Batch): Promise<boolean> {
    try {
      await write(batch)
      waiting = undefined
      return true
    } catch (cause) {
      const isMachine = cause instanceof KeyhookError && cause.code === 'unavailable'
      log.warn({ err: cause }, 'observations of apps could not be written; retrying')
      // A text that the database refuses would block everything after it.
      waiting = isMachine ? batch : withoutTexts(batch)
      return false
    }
  }

  function withoutTexts(batch: Batch): Batch {
    dropped.access_lines += batch.lines.length
    dropped.problems += batch.groups.length
    return { ...batch, lines: [], groups: [] }
  }

  async function write({ number, as_of, lines, usage, groups }: Batch): Promise<void> {
    const reports: ToldErrors[] = []
    for (const group of groups) reports.push(await edits.complete(group))
    const left = await store.write(async ({ observations }) => {
      if (!(await observations.beginBatch(source, number, clock.now()))) return 0
      for (const chunk of chunksOf(lines)) await observations.addLines(chunk)
      if (usage.length > 0) await observations.addUsage(usage, as_of)
      return reports.length - (await observations.recordErrors(reports))
    })
    dropped.problems += left
  }

  return {
    observer: {
      served(request) {
        gathering.served(request)
        schedule()
      },
      reported(...args) {
        gathering.reported(...args)
        schedule()
      },
    },
    flush,
    async stop() {
      isStopped = true
      cancel?.()
      for (let tries = 1; !(await flush()); tries += 1) {
        if (tries === LAST_TRIES) {
          log.error('the last observations could not be written and are lost')
          return
        }
        await new Promise<void>((resolve) => {
          clock.after(LAST_PAUSE, resolve)
        })
      }
    },
  }
}

function* chunksOf(lines: readonly AccessLine[]): Generator<readonly AccessLine[]> {
  for (let at = 0; at < lines.length; at += LINES_AT_ONCE) {
    yield lines.slice(at, at + LINES_AT_ONCE)
  }
}
