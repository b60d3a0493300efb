import type { EditProgress, EditTools } from './contract.ts'
import { abortError, EditError } from './contract.ts'

/** What is under way, so that an abort or closing an editor can end it. */
export class Ending {
  readonly #closing = new AbortController()
  readonly #underWay = new Set<Promise<unknown>>()

  /**
   * Runs work under a signal that aborts with the given one, and when this is closed. It ends then,
   * whatever the work still waits for.
   *
   * @throws EditError in place of whatever the work comes to once that signal has aborted
   */
  async run<T>(outer: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const signal = AbortSignal.any([outer, this.#closing.signal])
    if (signal.aborted) throw abortError(signal)
    const running = untilAborted(signal, work(signal))
    this.#underWay.add(running)
    try {
      return await running
    } finally {
      this.#underWay.delete(running)
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new EditError('canceled'))
    await Promise.allSettled(this.#underWay)
  }
}

function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(abortError(signal))
    signal.addEventListener('abort', abort, { once: true })
    const settle = (tell: () => void): void => {
      signal.removeEventListener('abort', abort)
      tell()
    }
    work.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error)),
    )
  })
}

/** The same tools under another signal, telling progress elsewhere. */
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
