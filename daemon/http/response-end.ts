import type { IncomingMessage, ServerResponse } from 'node:http'
import { httpError } from '../operations/errors.ts'

type Socket = IncomingMessage['socket']

/** One listener for each response: with more than ten, Node warns of a leak. */
const runs = new WeakMap<ServerResponse, (() => void)[]>()

/** Callbacks of responses that are queued behind another response of their connection. */
const queued = new WeakMap<Socket, Set<() => void>>()

/**
 * Calls `run` once, when a response was sent or can no longer be sent. If that has happened already, it
 * calls `run` before it returns: Node emits no further event for such a response.
 */
export function onResponseEnd(
  { socket }: Pick<IncomingMessage, 'socket'>,
  response: ServerResponse,
  run: () => void,
): void {
  if (response.closed || response.destroyed || socket.destroyed) {
    run()
    return
  }
  const known = runs.get(response)
  if (known !== undefined) {
    known.push(run)
    return
  }
  const all = [run]
  runs.set(response, all)
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

/** One signal for each response, because several calls may be made for it. */
const signals = new WeakMap<ServerResponse, AbortSignal>()

/** A signal that aborts with `request_abandoned` once nobody waits for the response. */
export function abandonedBy(
  request: Pick<IncomingMessage, 'socket'>,
  response: ServerResponse,
): AbortSignal {
  const known = signals.get(response)
  if (known !== undefined) return known
  const left = new AbortController()
  signals.set(response, left.signal)
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
