import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:http'
import type { Clock } from '../../lib/engine/ports.ts'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'

/** Marks a request as a probe. */
export const PROBE_HEADER = 'keyhook-probe'

const TIMEOUT: Millis = 10 * SECOND

export interface ProbeOptions {
  /** Address of the apps' listener. */
  readonly address: { readonly host: string; readonly port: number }
  /** Token by which the listener recognizes its probes. */
  readonly token: string
  readonly clock: Pick<Clock, 'steady'>
}

/**
 * Requests the page of an app like a visitor, with a header that marks it as a probe. Rejects without a
 * response within ten seconds.
 */
export function createProbe({
  address,
  token,
  clock,
}: ProbeOptions): (host: string) => Promise<{ readonly status: number; readonly latency: Millis }> {
  const { host: bound, port } = address
  return async (host) => {
    const begun = clock.steady()
    const probe = request({
      host: REACHED[bound] ?? bound,
      port,
      path: '/',
      headers: { host, accept: 'text/html', [PROBE_HEADER]: token },
      agent: false,
      signal: AbortSignal.timeout(TIMEOUT),
    })
    // Errors after the response do not matter.
    probe.on('error', () => undefined)
    probe.end()
    const [answer] = (await once(probe, 'response')) as [IncomingMessage]
    const latency = clock.steady() - begun
    answer.on('error', () => undefined)
    answer.destroy()
    return { status: answer.statusCode ?? 0, latency }
  }
}

/** Local address of a listener on all addresses. */
const REACHED: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }
