import { parseAllowList } from '../../lib/egress/allow-list.ts'
import type {
  EgressClient,
  EgressFailure,
  EgressStreamRequest,
} from '../../plugins/egress/contract.ts'
import { EGRESS } from '../../plugins/registry.ts'
import { hostPortOf } from '../http/host-port.ts'
import { WITHOUT_BODY } from '../http/without-body.ts'

/** A retry cannot help: the operator must change the configuration. */
const FINAL: ReadonlySet<string> = new Set(['refused_address', 'tls'])
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])

/** Servers of one service. */
export interface Outbound {
  /**
   * `fetch` for a URL as text, and a body as text or bytes; a redirect is a response like any other.
   * Rejects when there is no status line: `internal` on the error names the server and the cause for logs,
   * and `final: true` says that a retry cannot help.
   */
  readonly fetch: typeof globalThis.fetch
  close(): Promise<void>
}

export interface OutboundLimits {
  readonly ownHosts: readonly string[]
  /** Maximum concurrent requests of one origin. */
  readonly atOnce: number
  /** Maximum bytes of one response on the wire. */
  readonly answer: number
}

/**
 * Opens a client that reaches these servers, each on one port, and nothing else, also where a server is
 * private or speaks plain http.
 */
export async function openOutbound(
  origins: readonly string[],
  limits: OutboundLimits,
): Promise<Outbound> {
  const egress = await openEgress(origins, limits)
  return { fetch: fetchOver(egress), close: () => egress.close() }
}

/** Opens a client that reaches every public host by https, and no private one. */
export async function openPublicOutbound(limits: OutboundLimits): Promise<Outbound> {
  const createEgress = await EGRESS.undici()
  const egress = createEgress({
    policy: { schemes: ['https'], allow: parseAllowList(''), ownHosts: limits.ownHosts },
    maxSocketsPerOrigin: limits.atOnce,
    maxAnswerBytes: limits.answer,
  })
  return { fetch: fetchOver(egress), close: () => egress.close() }
}

export async function openEgress(
  origins: readonly string[],
  limits: OutboundLimits,
): Promise<EgressClient> {
  const createEgress = await EGRESS.undici()
  return createEgress({
    policy: {
      schemes: [],
      allow: parseAllowList(origins.map(hostPortOf).join(',')),
      ownHosts: limits.ownHosts,
    },
    maxSocketsPerOrigin: limits.atOnce,
    maxAnswerBytes: limits.answer,
  })
}

function fetchOver(egress: Pick<EgressClient, 'stream'>): typeof globalThis.fetch {
  return async (url, { method = 'GET', headers, body = '', signal } = {}) => {
    const bytes = bytesOf(body)
    if (typeof url !== 'string' || bytes === undefined || !METHODS.has(method)) {
      throw new TypeError('fetch: takes a URL as text, and a body as text or bytes')
    }
    const answer = await egress.stream({
      url,
      method: method as EgressStreamRequest['method'],
      headers: Object.fromEntries(new Headers(headers)),
      body: bytes,
      signal: signal ?? new AbortController().signal,
    })
    if (!answer.ok) {
      throw Object.assign(new Error(answer.message), {
        final: FINAL.has(answer.code),
        internal: describeFailure(url, answer),
      })
    }
    const { status } = answer
    const isEmpty = WITHOUT_BODY.has(status) || method === 'HEAD'
    return new Response(isEmpty ? null : answer.body, {
      status,
      headers: Object.entries(answer.headers).filter(isPresent),
    })
  }
}

/** Undefined for a body of another kind, such as a stream. */
function bytesOf(body: unknown): Uint8Array | undefined {
  if (typeof body === 'string') return Buffer.from(body)
  if (body === null) return new Uint8Array()
  if (body instanceof ArrayBuffer) return new Uint8Array(body)
  if (!ArrayBuffer.isView(body)) return undefined
  return new Uint8Array(body.buffer, body.byteOffset, body.byteLength)
}

function isPresent(entry: readonly [string, string | undefined]): entry is [string, string] {
  return entry[1] !== undefined
}

/** Host, port and cause: the rest of an address may be confidential. */
export function describeFailure(url: string, { code, message }: EgressFailure): string {
  return `${hostPortOf(url)}: ${code}: ${message}`
}
