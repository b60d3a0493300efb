import { ProcessorError } from '../contract.ts'

const NEVER = new AbortController().signal

/** What every call passes first: it can be made to hang there, and is refused once it is closed. */
export class Turnstile {
  readonly #closing = new AbortController()
  #hangs: (() => void) | undefined

  /** Lets the next call hang until its signal aborts or this is closed; resolves once it hangs. */
  hang(): Promise<void> {
    return new Promise((resolve) => {
      this.#hangs = resolve
    })
  }

  /** @throws ProcessorError `unavailable` once closed; the reason of the signal */
  async enter(signal: AbortSignal = NEVER): Promise<void> {
    const both = AbortSignal.any([signal, this.#closing.signal])
    both.throwIfAborted()
    const hangs = this.#hangs
    if (hangs === undefined) return
    this.#hangs = undefined
    await new Promise((_, reject) => {
      both.addEventListener('abort', () => reject(both.reason as Error), { once: true })
      hangs()
    })
  }

  async close(): Promise<void> {
    this.#closing.abort(new ProcessorError('unavailable', { internal: 'it is closed' }))
  }
}
