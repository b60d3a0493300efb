import { Readable } from 'node:stream'
import type { Changes } from '../../lib/engine/changes.ts'
import type { Clock } from '../../lib/engine/ports.ts'
import { KeyhookError } from '../../lib/errors.ts'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import { httpError } from '../operations/errors.ts'
import { createFairPool } from '../limits/fair-pool.ts'

/** Interval after which an idle stream sends a comment, and its caller is admitted again. */
const BEAT: Millis = 5 * SECOND
/** Maximum open streams of one caller, and of all accounts of the process together. */
const PER_CALLER = 20
const IN_ALL = 2000

/** Who reads a stream. */
export interface StreamReader {
  /** Name that it is counted under, such as a key. */
  readonly caller: string
  /** The caller's account, whose share of the process's streams it uses. */
  readonly holder: string
}

export interface StreamSource {
  /** Sent at once, before the first piece. Default: nothing. */
  readonly opening?: string
  /** Printed events. */
  readonly pieces: AsyncIterable<string>
  /** Returns the last piece of a stream that a refusal ends. */
  refused(refusal: KeyhookError): string
  /** Called with each piece before it is passed on; an error ends the stream. */
  prints?(bytes: number): void
  /** Rejects when the caller may no longer read it. */
  admit(): Promise<unknown>
  /**
   * Called once or more as soon as nobody reads the pieces any more: a waiting generator does not return
   * before it continues.
   */
  leave?(): void
}

/** A stream that may be opened. */
export interface ReservedStream {
  /**
   * Opens it; called at most once. Its caller is admitted again before each piece, and at once after any
   * change that could end its authority. A caller that is not admitted reads the reason and nothing else.
   */
  open(source: StreamSource): Readable
  /** Gives it up; without effect on an open one. */
  release(): void
}

/** The open server-sent event streams of one process. */
export interface Streams {
  /**
   * Reserves a stream before its work begins. When the process has its maximum, the account with most
   * streams loses its newest, which ends with a refusal; its client resumes later.
   *
   * @throws KeyhookError `too_many_streams`
   */
  reserve(reader: StreamReader): ReservedStream
  /** Opens a stream at once. */
  open(source: StreamSource & StreamReader): Readable
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
  function begin({ caller, holder }: StreamReader): { pulse: Pulse; end: () => void } {
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
    { opening, pieces, refused, admit, prints, leave }: StreamSource,
    pulse: Pulse,
  ): AsyncGenerator<string> {
    const source = pieces[Symbol.asyncIterator]()
    let refusal: KeyhookError | undefined
    const pull = (): Promise<IteratorResult<string>> => {
      const next = source.next()
      // It is awaited later; until then nobody else handles its rejection.
      next.catch(() => undefined)
      return next
    }
    try {
      if (opening !== undefined) yield opening
      for (let next = pull(); !leaving.aborted;) {
        const came = await Promise.race([next, pulse.beat()])
        if (pulse.isEvicted()) throw httpError('too_many_streams')
        await admit()
        if (came === undefined) yield ':\n\n'
        else if (came.done === true) return
        else {
          prints?.(Buffer.byteLength(came.value))
          yield came.value
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
    if (refusal !== undefined) yield refused(refusal)
  }

  function readable(
    source: StreamSource,
    { pulse, end }: { pulse: Pulse; end: () => void },
  ): Readable {
    const pieces = print(source, pulse)
    const iterator: AsyncIterator<string> = {
      next: () => pieces.next(),
      // Called when the stream is destroyed. The generator itself may wait for a piece until the next
      // beat.
      return(value) {
        end()
        source.leave?.()
        return pieces.return(value)
      },
    }
    // At most one piece is prepared before it is read.
    const options = { objectMode: false, highWaterMark: 1 }
    return Readable.from({ [Symbol.asyncIterator]: () => iterator }, options)
  }

  function reserve(reader: StreamReader): ReservedStream {
    const begun = begin(reader)
    let isOpen = false
    return {
      open(source) {
        isOpen = true
        return readable(source, begun)
      },
      release() {
        if (!isOpen) begun.end()
      },
    }
  }

  return { reserve, open: (source) => reserve(source).open(source) }
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
