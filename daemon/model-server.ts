import { parseAllowList } from '../lib/egress/allow-list.ts'
import type { EgressStream, EgressStreamRequest } from '../plugins/egress/contract.ts'
import { EGRESS } from '../plugins/registry.ts'

/** Trying again cannot help: the operator must set it up otherwise. */
const FINAL: ReadonlySet<string> = new Set(['refused_address', 'tls'])

/** The one server that a model answers on. */
export interface ModelServer {
  /** Rejects when there is no status line; with `final: true` on the error when that will not change. */
  ask(request: Omit<EgressStreamRequest, 'method'>): Promise<EgressStream>
  close(): Promise<void>
}

/**
 * The way to a model's server: it alone can be reached, on its very port, also where it is private or
 * speaks plain http.
 */
export async function openModelServer(
  baseUrl: string,
  limits: {
    readonly ownHosts: readonly string[]
    /** Questions under way at once. */
    readonly atOnce: number
    /** Bytes of the longest answer, all that the protocol adds included. */
    readonly answer: number
  },
): Promise<ModelServer> {
  const createEgress = await EGRESS.undici()
  const egress = createEgress({
    policy: { schemes: [], allow: parseAllowList(placeOf(baseUrl)), ownHosts: limits.ownHosts },
    maxSocketsPerOrigin: limits.atOnce,
    maxAnswerBytes: limits.answer,
  })
  return {
    async ask(request) {
      const answer = await egress.stream({ ...request, method: 'POST' })
      if (answer.ok) return answer
      throw Object.assign(new Error(answer.message), { final: FINAL.has(answer.code) })
    },
    close: () => egress.close(),
  }
}

function placeOf(address: string): string {
  const { hostname, port, protocol } = new URL(address)
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`
}
