import type { IncomingMessage, ServerResponse } from 'node:http'
import { httpError } from '../operations/errors.ts'

type Socket = IncomingMessage['socket']

const RUNS = Symbol('runs at its end')
const ABANDONED = Symbol('aborts when it is abandoned')

/** Properties of the response itself: in a `WeakMap`, each request costs the garbage collector half of its time. */
interface Noted extends ServerResponse {
  /** One listener for each response: with more than ten, Node warns of a leak. */
  [RUNS]?: (() => void)[]
  /** One signal for each response, because several calls may be made for it. */
  [ABANDONED]?: AbortSignal
}

/** Callbacks of responses that are queued behind another response of their connection. */
const queued = new WeakMap<Socket, Set<() => void>>()

/**
 * Calls `run` once, when a response was sent or can no longer be sent. If that has happened already, it
 * calls `run` before it returns: Node emits no further event for such a response.
 */
export function onResponseEnd(
  { socket }: Pick<IncomingMessage, 'socket'>,
  response: Noted,
  run: () => void,
): void {
  if (response.closed || response.destroyed || socket.destroyed) {
    run()
    return
  }
  const known = response[RUNS]
  if (known !== undefined) {
    known.push(run)
    return
  }
  const all = [run]
  response[RUNS] = all
  let hasRun = false
  function end(): void {
    if (hasRun) return
    hasRun = true
    queued.get(socket)?.delete(end)
    for (const each of all) each()
  }
  // `close` follows `finish`.
  response.once('close', end)
  // A queued response has no socket yet, and gets no event when its connection closes.
  if (response.socket === null) whenClosed(socket, end)
}

/** A signal that aborts with `request_abandoned` once nobody waits for the response. */
export function abandonedBy(
  request: Pick<IncomingMessage, 'socket'>,
  response: Noted,
): AbortSignal {
  const known = response[ABANDONED]
  if (known !== undefined) return known
  const left = new AbortController()
  response[ABANDONED] = left.signal
  onResponseEnd(request, response, () => {
    left.abort(httpError('request_abandoned'))
  })
  return left.signal
}

/** One listener for each connection, however many of its responses are queued. */
function whenClosed(socket: Socket, end: () => void): void {
  const known = queued.get(socket)
  if (known !== undefined) {
    known.add(end)
    return
  }
  const waiting = new Set([end])
  queued.set(socket, waiting)
  socket.once('close', () => {
    for (const each of waiting) each()
  })
}
