import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:http'
import type { Clock } from '../../lib/engine/ports.ts'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'

/** Says that no visitor asks. */
export const PROBE_HEADER = 'keyhook-probe'

const TIMEOUT: Millis = 10 * SECOND

export interface ProbeOptions {
  /** Where apps are served. */
  readonly address: { readonly host: string; readonly port: number }
  /** What the listener knows its probes by. */
  readonly token: string
  readonly clock: Pick<Clock, 'steady'>
}

/**
 * Asks the listener for the page of an app as a visitor would, but for what says that it is a probe.
 * Rejects when nothing is answered within ten seconds.
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
    // What goes wrong once it was answered is nobody's concern.
    probe.on('error', () => undefined)
    probe.end()
    const [answer] = (await once(probe, 'response')) as [IncomingMessage]
    const latency = clock.steady() - begun
    answer.on('error', () => undefined)
    answer.destroy()
    return { status: answer.statusCode ?? 0, latency }
  }
}

/** Where a listener of all addresses is reached from here. */
const REACHED: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }
