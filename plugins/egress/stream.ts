import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { EgressErrorCode, EgressStreamed } from './contract.ts'
import { classify, failureOf, knownOf, type Known } from './failures.ts'
import type { Demand, RouteVerdict } from './route.ts'

type OpenRoute = Extract<RouteVerdict, { ok: true }>

/** A receiver may send a few 103s before its answer; a flood of them is an attack. */
const MAX_INFORMATIONAL = 5

export interface StreamExchange {
  dispatch(route: OpenRoute, options: Dispatcher.DispatchOptions): void
  /** Ends without a status line. */
  fail(code: EgressErrorCode, known?: Known): void
}

export interface StreamOptions {
  readonly signal: AbortSignal
  /** Milliseconds since the call began. */
  duration(): number
  /** Called once with the status line, or why there is none. */
  settle(result: EgressStreamed): void
  /** Called once, at the end of the exchange. */
  left(): void
}

/** One call whose response is passed on as it arrives, with backpressure. */
export function createStreamExchange(options: StreamOptions): StreamExchange {
  const { signal, duration, settle, left } = options
  let demand: Demand | undefined
  let controller: Dispatcher.DispatchController | undefined
  let body: Readable | undefined
  let informational = 0
  let isOver = false

  function stopWaiting(): void {
    if (demand !== undefined) demand.waiting -= 1
    demand = undefined
  }

  function end(error?: Error): void {
    if (isOver) return
    isOver = true
    signal.removeEventListener('abort', onAbort)
    stopWaiting()
    if (error !== undefined) {
      body?.destroy(error)
      controller?.abort(error)
    }
    left()
  }

  function fail(code: EgressErrorCode, known?: Known): void {
    if (isOver) return
    const failure = failureOf(code, duration(), known)
    if (body === undefined) settle(failure)
    end(new Error(failure.message))
  }

  function onAbort(): void {
    fail('aborted')
  }

  function open(status: number, headers: Readonly<Record<string, unknown>>): void {
    body = new Readable({
      read: () => controller?.resume(),
      destroy(error, done) {
        // A reader that stops early ends the exchange.
        end(error ?? new Error('nobody reads on'))
        done(error)
      },
    })
    // Readers get the error; without a reader it is no defect.
    body.on('error', () => undefined)
    settle({ ok: true, status, headers: namesOf(headers), body, durationMs: duration() })
  }

  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  return {
    fail,
    dispatch(route, wire) {
      if (isOver) return
      demand = route.demand
      demand.waiting += 1
      route.pool.dispatch(wire, {
        onRequestStart(started) {
          // Thrown, undici drops the request and keeps the connection, which an abort would destroy.
          if (isOver) throw new Error('nobody waits for it any more')
          controller = started
          stopWaiting()
        },
        onResponseStart(_, status, headers) {
          if (status >= 200 && status <= 599) open(status, headers)
          else if (status < 100 || status === 101 || status > 599) fail('protocol')
          else if (++informational > MAX_INFORMATIONAL) fail('protocol')
        },
        onResponseData(arriving, chunk) {
          if (body?.push(chunk) === false) arriving.pause()
        },
        onResponseEnd() {
          body?.push(null)
          end()
        },
        onResponseError(_, error) {
          fail(classify(error), knownOf(error))
        },
      })
    },
  }
}

function namesOf(headers: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
  )
}
