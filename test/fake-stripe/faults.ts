/** What goes wrong with the next requests that fit. */
export interface Fault {
  /** Beginning of the path; default all. */
  readonly path?: string
  readonly method?: 'GET' | 'POST'
  /** How many requests; default 1. */
  readonly times?: number
  /**
   * `status` answers an error of that status before anything is carried out, and `kept` a 500 that the
   * idempotency key goes on answering; `reset` and `hang` break the connection off or say nothing before
   * anything is carried out, `lost` after it; `malformed` answers no JSON,
   * `empty` an object without fields, `redirect` a 302, `endless` a body that does not end.
   */
  readonly kind:
    | 'status'
    | 'kept'
    | 'reset'
    | 'hang'
    | 'lost'
    | 'malformed'
    | 'empty'
    | 'redirect'
    | 'endless'
  readonly status?: number
  /** In place of the error's body. */
  readonly body?: object
}

interface Waiting {
  readonly fault: Fault
  left: number
}

export class Faults {
  #waiting: Waiting[] = []
  readonly #met = new Set<() => void>()

  add(fault: Fault): void {
    this.#waiting.push({ fault, left: fault.times ?? 1 })
  }

  clear(): void {
    this.#waiting = []
  }

  /** Resolves when the next fault happens. */
  next(): Promise<void> {
    return new Promise((resolve) => this.#met.add(resolve))
  }

  take(method: string, path: string): Fault | undefined {
    const found = this.#waiting.find(({ fault }) => fits(fault, method, path))
    if (found === undefined) return undefined
    found.left -= 1
    this.#waiting = this.#waiting.filter(({ left }) => left > 0)
    for (const tell of this.#met) tell()
    this.#met.clear()
    return found.fault
  }
}

function fits(fault: Fault, method: string, path: string): boolean {
  return (fault.method ?? method) === method && path.startsWith(fault.path ?? '/')
}
