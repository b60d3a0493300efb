import type { Dispatcher } from 'undici'
import type { Millis } from '../../lib/time.ts'
import type { EgressErrorCode, EgressRequest, EgressResult } from './contract.ts'
import { classify, failureOf, knownOf, type Known } from './failures.ts'
import type { Demand, RouteVerdict } from './route.ts'

type OpenRoute = Extract<RouteVerdict, { ok: true }>

/** A receiver may send a few 103s before its answer; a flood of them is an attack. */
const MAX_INFORMATIONAL = 5
const MAX_RETRY_AFTER = 128
const NO_BODY = new Uint8Array(0)

/**
 * One attempt from its deadline to its result. It implements undici's callback interface itself:
 * the cheapest way to send, and the only one that sees the status line before the body.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #startedAt: number
  readonly #clock: () => number
  readonly #limit: number
  readonly #timer: NodeJS.Timeout
  readonly #settle: (result: EgressResult) => void
  #isSettled = false
  #isPrivate = false
  /** Set while it waits to be sent. */
  #demand: Demand | undefined
  #abort: (() => void) | undefined
  #informational = 0
  #status = 0
  #retryAfter: string | undefined
  #chunks: Uint8Array[] = []
  #size = 0

  constructor(
    request: EgressRequest,
    startedAt: number,
    clock: () => number,
    settle: (result: EgressResult) => void,
  ) {
    this.#startedAt = startedAt
    this.#clock = clock
    this.#limit = request.maxResponseBytes
    this.#settle = settle
    // Node keeps timers of one length in one list: set and cleared in constant time. The total
    // deadline must be ours, since undici's own are restarted by every byte.
    this.#timer = setTimeout(expire, request.timeout, this)
  }

  dispatch(route: OpenRoute, options: Dispatcher.DispatchOptions): void {
    if (this.#isSettled) return
    this.#isPrivate = route.isPrivate
    this.#demand = route.demand
    route.demand.waiting += 1
    route.pool.dispatch(options, this)
  }

  /** Ends without a status line. */
  fail(code: EgressErrorCode, known?: Known): void {
    this.#end(failureOf(code, this.#duration(), known))
  }

  expire(): void {
    const cause = this.#abort === undefined ? 'connect_timeout' : 'response_timeout'
    if (this.#status === 0) this.fail('timeout', { cause })
    else this.#finish(true)
  }

  /**
   * Called right before the first byte.
   *
   * @throws Error when the deadline passed in the queue: undici then drops the request and keeps
   * the connection, which an abort would destroy.
   */
  onConnect(abort: () => void): void {
    if (this.#isSettled) throw new Error('the deadline has passed')
    this.#abort = abort
    this.#stopWaiting()
  }

  onHeaders(status: number, headers: readonly Buffer[]): boolean {
    if (status >= 200 && status <= 599) {
      this.#status = status
      if (status >= 300) this.#retryAfter = readRetryAfter(headers)
    } else if (status < 100 || status === 101 || status > 599) {
      this.fail('protocol')
    } else {
      this.#informational += 1
      if (this.#informational > MAX_INFORMATIONAL) this.fail('protocol')
    }
    return true
  }

  onData(chunk: Buffer): boolean {
    const capacity = this.#limit - this.#size
    if (chunk.length <= capacity) {
      this.#chunks.push(chunk)
      this.#size += chunk.length
    } else {
      this.#chunks.push(chunk.subarray(0, capacity))
      this.#size += capacity
      this.#finish(true)
    }
    return true
  }

  onComplete(): void {
    this.#finish(false)
  }

  onError(error: Error): void {
    if (this.#status !== 0) this.#finish(true)
    else this.fail(classify(error), knownOf(error))
  }

  #finish(truncated: boolean): void {
    this.#end({
      ok: true,
      status: this.#status,
      retryAfter: this.#retryAfter,
      body: this.#size === 0 ? NO_BODY : join(this.#chunks, this.#size),
      truncated,
      private: this.#isPrivate,
      durationMs: this.#duration(),
    })
  }

  #end(result: EgressResult): void {
    if (this.#isSettled) return
    this.#isSettled = true
    clearTimeout(this.#timer)
    this.#stopWaiting()
    this.#chunks = []
    // A complete answer leaves the connection for the next request.
    if (!result.ok || result.truncated) this.#abort?.()
    this.#settle(result)
  }

  #stopWaiting(): void {
    if (this.#demand) this.#demand.waiting -= 1
    this.#demand = undefined
  }

  #duration(): Millis {
    return Math.round(this.#clock() - this.#startedAt)
  }
}

/** Data that arrived while the process was busy was in time: it is read before the deadline counts. */
function expire(exchange: Exchange): void {
  setImmediate(conclude, exchange)
}

function conclude(exchange: Exchange): void {
  exchange.expire()
}

/** Copies, so that a small body does not keep the socket's large buffer alive. */
function join(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const body = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    body.set(chunk, offset)
    offset += chunk.length
  }
  return body
}

function readRetryAfter(headers: readonly Buffer[]): string | undefined {
  for (let index = 0; index + 1 < headers.length; index += 2) {
    if (headers[index]?.toString('latin1').toLowerCase() === 'retry-after') {
      return headers[index + 1]?.toString('latin1').slice(0, MAX_RETRY_AFTER)
    }
  }
  return undefined
}
