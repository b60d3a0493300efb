import { hostPortOf } from '../http/host-port.ts'
import type { Outbound, OutboundLimits } from './outbound.ts'
import { describeFailure, openEgress, openOutbound } from './outbound.ts'

/** The server of a model; its `fetch` sends POST requests. */
export type ModelServer = Outbound

/**
 * Opens a client that reaches one server on one port and nothing else, also where the server is private or
 * speaks plain http.
 */
export async function openModelServer(
  baseUrl: string,
  limits: OutboundLimits,
): Promise<ModelServer> {
  return openOutbound([baseUrl], limits)
}

/** Milliseconds that a check waits for a status line. */
const CHECK_WITHIN = 5000

/**
 * Whether a model's server responds. It requests the list of models without a key; any status is a response.
 *
 * @throws Error naming the server and the cause
 */
export async function checkModelServer(baseUrl: string): Promise<{ readonly detail: string }> {
  const limits = { ownHosts: [], atOnce: 1, answer: 65_536 }
  const egress = await openEgress([baseUrl], limits)
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(), CHECK_WITHIN)
  try {
    const answer = await egress.stream({
      url: `${baseUrl.replace(/\/+$/, '')}/models`,
      method: 'GET',
      headers: {},
      body: new Uint8Array(),
      signal: stop.signal,
    })
    if (answer.ok) return { detail: `${hostPortOf(baseUrl)} answers (${answer.status})` }
    if (stop.signal.aborted) {
      throw new Error(`${hostPortOf(baseUrl)} did not answer within ${CHECK_WITHIN / 1000} s`)
    }
    throw new Error(describeFailure(baseUrl, answer))
  } finally {
    clearTimeout(timer)
    stop.abort()
    await egress.close()
  }
}
