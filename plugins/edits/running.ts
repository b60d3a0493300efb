import type { Clock } from '../../lib/engine/ports.ts'
import { orAborted } from '../../lib/internal/until-aborted.ts'
import type { Millis } from '../../lib/time.ts'
import type { EditProgress, EditTools } from './contract.ts'
import { abortError, EditError } from './contract.ts'

/** The running edits of an editor, so that an abort or closing the editor can end them. */
export class Running {
  readonly #closing = new AbortController()
  readonly #edits = new Set<Promise<unknown>>()

  /**
   * Runs work under a signal that aborts with the given one and when this is closed. It ends then,
   * whatever the work still waits for.
   *
   * @throws EditError in place of the outcome of the work once that signal has aborted
   */
  async run<T>(outer: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const signal = AbortSignal.any([outer, this.#closing.signal])
    if (signal.aborted) throw abortError(signal)
    const edit = orAborted(work(signal), signal)
    this.#edits.add(edit)
    try {
      return await edit
    } catch (error) {
      throw signal.aborted ? abortError(signal) : error
    } finally {
      this.#edits.delete(edit)
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new EditError('canceled'))
    await Promise.allSettled(this.#edits)
  }
}

/** Reports progress, and repeats the last report while there is no other. */
export class Heartbeat {
  readonly #tools: Pick<EditTools, 'progress'>
  readonly #clock: Pick<Clock, 'after'>
  readonly #every: Millis
  #cancel: () => void = () => undefined
  #isStopped = false

  constructor(tools: Pick<EditTools, 'progress'>, clock: Pick<Clock, 'after'>, every: Millis) {
    this.#tools = tools
    this.#clock = clock
    this.#every = every
  }

  report(progress: EditProgress): void {
    if (this.#isStopped) return
    this.#cancel()
    this.#cancel = this.#clock.after(this.#every, () => this.report(progress))
    this.#tools.progress(progress)
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel()
  }
}

/** The same tools under another signal, with progress reported elsewhere. */
export function underSignal(
  tools: EditTools,
  signal: AbortSignal,
  progress: (report: EditProgress) => void = (report) => tools.progress(report),
): EditTools {
  return {
    signal,
    progress,
    read: (path) => tools.read(path),
    passages: (query, most) => tools.passages(query, most),
    check: (operations) => tools.check(operations),
  }
}
