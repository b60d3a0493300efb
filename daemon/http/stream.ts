import { Readable } from 'node:stream'
import type { Changes } from '../../lib/engine/changes.ts'
import type { Clock } from '../../lib/engine/ports.ts'
import { KeyhookError } from '../../lib/errors.ts'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import { httpError } from '../operations/errors.ts'
import type { StreamEvent } from '../operations/operation.ts'
import { createFairPool } from '../limits/fair-pool.ts'

/** Interval after which an idle stream sends a comment, and its caller is admitted again. */
const BEAT: Millis = 5 * SECOND
/** Delay before a client reconnects. */
const COME_BACK: Millis = SECOND
/** Maximum open streams of one caller, and of all accounts of the process together. */
const PER_CALLER = 20
const IN_ALL = 2000

export interface StreamSource {
  readonly events: AsyncIterable<StreamEvent>
  /** Name that it is counted under, such as a key. */
  readonly caller: string
  /** The caller's account, whose share of the process's streams it uses. */
  readonly holder: string
  /** Called with each piece before it is passed on; an error ends the stream. */
  prints?(bytes: number): void
  /** Rejects when the caller may no longer read it. */
  admit(): Promise<unknown>
  /**
   * Called once or more as soon as nobody reads the events any more: a waiting generator does not return
   * before it continues.
   */
  leave?(): void
}

/** The open server-sent event streams of one process. */
export interface Streams {
  /**
   * Opens a stream. When the process has its maximum, the account with most streams loses its newest, which
   * ends with an error event; its client resumes later.
   *
   * Its caller is admitted again before each piece, and at once after any change that could end its
   * authority. A caller that is not admitted reads the reason and nothing else.
   *
   * @throws KeyhookError `too_many_streams`
   */
  open(source: StreamSource): Readable
}

/**
 * @param leaving aborts when the process stops: streams end, and their clients reconnect elsewhere
 */
export function createStreams(options: {
  readonly changes: Changes
  readonly clock: Pick<Clock, 'after'>
  readonly leaving: AbortSignal
}): Streams {
  const { changes, clock, leaving } = options
  const pulses = new Set<Pulse>()
  const perCaller = createFairPool({ limit: Infinity, each: PER_CALLER })
  const shared = createFairPool({ limit: IN_ALL })
  const raiseAll = (): void => {
    for (const pulse of pulses) pulse.raise()
  }
  changes.listen((change) => {
    if (change === 'all' || change.kind === 'key' || change.kind === 'account') raiseAll()
  })
  leaving.addEventListener('abort', raiseAll)

  /** Returns the pulse of a stream, and what releases its leases. */
  function begin({ caller, holder }: StreamSource): { pulse: Pulse; end: () => void } {
    const pulse = createPulse(clock)
    const own = perCaller.take(caller, 1, () => undefined)
    const share = own && shared.take(holder, 1, pulse.evict)
    if (share === undefined) {
      own?.release()
      throw httpError('too_many_streams')
    }
    pulses.add(pulse)
    return {
      pulse,
      end() {
        pulses.delete(pulse)
        pulse.raise()
        own?.release()
        share.release()
      },
    }
  }

  async function* print(
    { events, admit, prints, leave }: StreamSource,
    pulse: Pulse,
  ): AsyncGenerator<string> {
    const source = events[Symbol.asyncIterator]()
    let refusal: KeyhookError | undefined
    const pull = (): Promise<IteratorResult<StreamEvent>> => {
      const next = source.next()
      // It is awaited later; until then nobody else handles its rejection.
      next.catch(() => undefined)
      return next
    }
    try {
      yield `retry: ${COME_BACK}\n\n`
      for (let next = pull(); !leaving.aborted;) {
        const came = await Promise.race([next, pulse.beat()])
        if (pulse.isEvicted()) throw httpError('too_many_streams')
        await admit()
        if (came === undefined) yield ':\n\n'
        else if (came.done === true) return
        else {
          const piece = printEvent(came.value)
          prints?.(Buffer.byteLength(piece))
          yield piece
          next = pull()
        }
      }
    } catch (cause) {
      if (!(cause instanceof KeyhookError)) throw cause
      refusal = cause
    } finally {
      leave?.()
      void source.return?.().catch(() => undefined)
    }
    if (refusal !== undefined) {
      const { code, message } = refusal
      yield printEvent({ event: 'error', data: { code, message } })
    }
  }

  return {
    open(source) {
      const { pulse, end } = begin(source)
      const pieces = print(source, pulse)
      const iterator: AsyncIterator<string> = {
        next: () => pieces.next(),
        // Called when the stream is destroyed. The generator itself may wait for an event until the
        // next beat.
        return(value) {
          end()
          source.leave?.()
          return pieces.return(value)
        },
      }
      // At most one piece is prepared before it is read.
      const options = { objectMode: false, highWaterMark: 1 }
      return Readable.from({ [Symbol.asyncIterator]: () => iterator }, options)
    },
  }
}

/** Signal that resumes a waiting stream. */
interface Pulse {
  raise(): void
  /** Raises it permanently: the stream lost its lease. */
  evict(): void
  isEvicted(): boolean
  /** Resolves after a beat, or once it was raised since the last one. */
  beat(): Promise<undefined>
}

function createPulse(clock: Pick<Clock, 'after'>): Pulse {
  let raised = false
  let evicted = false
  let resume = (): void => undefined
  let cancelTimer = (): void => undefined
  function raise(): void {
    raised = true
    resume()
  }
  return {
    raise,
    evict() {
      evicted = true
      raise()
    },
    isEvicted: () => evicted,
    beat() {
      cancelTimer()
      return new Promise((resolve) => {
        resume = () => {
          raised = false
          cancelTimer()
          resolve(undefined)
        }
        cancelTimer = clock.after(BEAT, resume)
        if (raised) resume()
      })
    },
  }
}

/** WHATWG HTML, 9.2.6. JSON contains no line break. */
function printEvent({ id, event, data }: StreamEvent): string {
  const idLine = id === undefined ? '' : `id: ${id}\n`
  return `${idLine}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}
