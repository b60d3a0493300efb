import type { Clock } from '../../../lib/engine/ports.ts'
import type { Millis } from '../../../lib/time.ts'
import type { EditProgress, EditTools } from '../contract.ts'

/** Tells progress, and the last of it anew while there is no other. */
export class Pulse {
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

  tell(report: EditProgress): void {
    if (this.#isStopped) return
    this.#cancel()
    this.#cancel = this.#clock.after(this.#every, () => this.tell(report))
    this.#tools.progress(report)
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel()
  }
}
