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
/** Lines that one statement adds. */
const LINES_AT_ONCE = 1000
/** How often it is tried to write what is left when the process ends, and how long it is waited between. */
const LAST_TRIES = 3
const LAST_PAUSE: Millis = SECOND / 5

export interface Observing {
  readonly observer: Observer
  /** Writes what was observed by now. False when that is not possible yet: then it is kept. */
  flush(): Promise<boolean>
  /** Writes what is left. What is observed from then on is lost. */
  stop(): Promise<void>
}

/**
 * Keeps what is observed of apps: gathered in memory, and written every so often in one unit of work.
 *
 * What could not be written is written again, under the same number and with the same amounts, so that
 * it counts once; a crash loses what was observed since the last time. Whatever comes beyond what the
 * memory may hold is dropped and counted in `dropped`, but for the counters of usage.
 */
export function keepObserving(
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
  /** What could not be written yet. */
  let waiting: Batch | undefined
  let flushing: Promise<boolean> = Promise.resolve(true)
  let cancel: (() => void) | undefined

  /** While there is nothing to write nothing is due: it keeps no process alive. */
  function schedule(): void {
    if (isStopped) return
    cancel ??= clock.after(every, () => {
      cancel = undefined
      void flush().then((isWritten) => {
        if (!isWritten) schedule()
      })
    })
  }

  /** One after another: of two batches of one process the older one is written first. */
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
      log.warn({ err: cause }, 'what was observed of apps could not be written and is tried again')
      // A text that the database does not take would keep everything after it from being written.
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
          log.error('what was observed last could not be written, and is lost')
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
