import { parseAllowList } from '../lib/egress/allow-list.ts'
import type {
  EgressClient,
  EgressFailure,
  EgressStream,
  EgressStreamRequest,
} from '../plugins/egress/contract.ts'
import { EGRESS } from '../plugins/registry.ts'

/** Trying again cannot help: the operator must set it up otherwise. */
const FINAL: ReadonlySet<string> = new Set(['refused_address', 'tls'])

/** The one server that a model answers on. */
export interface ModelServer {
  /**
   * Rejects when there is no status line: `internal` on the error names the server and the cause for
   * logs, and `final: true` says that trying again will not help.
   */
  ask(request: Omit<EgressStreamRequest, 'method'>): Promise<EgressStream>
  close(): Promise<void>
}

interface Limits {
  readonly ownHosts: readonly string[]
  /** Questions under way at once. */
  readonly atOnce: number
  /** Bytes of the longest answer, all that the protocol adds included. */
  readonly answer: number
}

/**
 * The way to a model's server: it alone can be reached, on its very port, also where it is private or
 * speaks plain http.
 */
export async function openModelServer(baseUrl: string, limits: Limits): Promise<ModelServer> {
  const egress = await openEgress(baseUrl, limits)
  return {
    async ask(request) {
      const answer = await egress.stream({ ...request, method: 'POST' })
      if (answer.ok) return answer
      throw Object.assign(new Error(answer.message), {
        final: FINAL.has(answer.code),
        internal: describeFailure(baseUrl, answer),
      })
    },
    close: () => egress.close(),
  }
}

async function openEgress(baseUrl: string, limits: Limits): Promise<EgressClient> {
  const createEgress = await EGRESS.undici()
  return createEgress({
    policy: { schemes: [], allow: parseAllowList(placeOf(baseUrl)), ownHosts: limits.ownHosts },
    maxSocketsPerOrigin: limits.atOnce,
    maxAnswerBytes: limits.answer,
  })
}

/** Milliseconds that a check waits for a status line. */
const CHECK_WITHIN = 5000

/**
 * Whether a model's server answers. It is asked for its models without a key, and any status is an answer.
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
    if (answer.ok) return { detail: `${placeOf(baseUrl)} answers (${answer.status})` }
    if (stop.signal.aborted) {
      throw new Error(`${placeOf(baseUrl)} did not answer within ${CHECK_WITHIN / 1000} s`)
    }
    throw new Error(describeFailure(baseUrl, answer))
  } finally {
    clearTimeout(timer)
    stop.abort()
    await egress.close()
  }
}

/** Host, port and cause: an address may hold what nobody should read in a log. */
function describeFailure(baseUrl: string, { code, message }: EgressFailure): string {
  return `${placeOf(baseUrl)}: ${code}: ${message}`
}

function placeOf(address: string): string {
  const { hostname, port, protocol } = new URL(address)
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`
}
