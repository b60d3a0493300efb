import { parseAllowList } from '../../lib/egress/allow-list.ts'
import type { EgressClient, EgressFailure } from '../../plugins/egress/contract.ts'
import { EGRESS } from '../../plugins/registry.ts'
import { hostPortOf } from '../http/host-port.ts'

/** A retry cannot help: the operator must change the configuration. */
const FINAL: ReadonlySet<string> = new Set(['refused_address', 'tls'])
/** `Response` refuses a body for these. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/** The server of a model. */
export interface ModelServer {
  /**
   * Rejects when there is no status line: `internal` on the error names the server and the cause for
   * logs, and `final: true` says that a retry cannot help.
   */
  readonly fetch: typeof globalThis.fetch
  close(): Promise<void>
}

interface Limits {
  readonly ownHosts: readonly string[]
  /** Maximum concurrent requests. */
  readonly atOnce: number
  /** Maximum bytes of one response on the wire. */
  readonly answer: number
}

/**
 * Opens a client that reaches one server on one port and nothing else, also where the server is private or
 * speaks plain http.
 */
export async function openModelServer(baseUrl: string, limits: Limits): Promise<ModelServer> {
  const egress = await openEgress(baseUrl, limits)
  return { fetch: fetchOver(egress, baseUrl), close: () => egress.close() }
}

/** `fetch` for POST requests whose body is text; a redirect is a response like any other. */
function fetchOver(egress: Pick<EgressClient, 'stream'>, baseUrl: string): typeof globalThis.fetch {
  return async (url, { headers, body, signal } = {}) => {
    if (typeof url !== 'string' || typeof body !== 'string') throw new TypeError('not supported')
    const answer = await egress.stream({
      url,
      method: 'POST',
      headers: Object.fromEntries(new Headers(headers)),
      body: Buffer.from(body),
      signal: signal ?? new AbortController().signal,
    })
    if (!answer.ok) {
      throw Object.assign(new Error(answer.message), {
        final: FINAL.has(answer.code),
        internal: describeFailure(baseUrl, answer),
      })
    }
    const { status } = answer
    return new Response(WITHOUT_BODY.has(status) ? null : answer.body, {
      status,
      headers: Object.entries(answer.headers).filter(isPresent),
    })
  }
}

function isPresent(entry: readonly [string, string | undefined]): entry is [string, string] {
  return entry[1] !== undefined
}

async function openEgress(baseUrl: string, limits: Limits): Promise<EgressClient> {
  const createEgress = await EGRESS.undici()
  return createEgress({
    policy: { schemes: [], allow: parseAllowList(hostPortOf(baseUrl)), ownHosts: limits.ownHosts },
    maxSocketsPerOrigin: limits.atOnce,
    maxAnswerBytes: limits.answer,
  })
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
  const egress = await openEgress(baseUrl, limits)
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

/** Host, port and cause: the rest of an address may be confidential. */
function describeFailure(baseUrl: string, { code, message }: EgressFailure): string {
  return `${hostPortOf(baseUrl)}: ${code}: ${message}`
}
