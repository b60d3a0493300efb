import type { Socket } from 'node:net'
import type { Dispatcher } from 'undici'
import {
  judgeAnswers,
  judgeUrl,
  type CanonicalTarget,
  type EgressPolicy,
  type UrlVerdict,
} from '../../lib/egress/url.ts'
import { SECOND, type Millis } from '../../lib/time.ts'
import { MAX_ANSWER_BYTES } from './connect.ts'
import type {
  EgressClient,
  EgressFailure,
  EgressRequest,
  EgressResult,
  EgressStreamed,
  EgressStreamRequest,
} from './contract.ts'
import { Exchange } from './exchange.ts'
import { failureOf } from './failures.ts'
import { createHeaderLayout } from './headers.ts'
import { createResolver, tryResolve, type Resolve } from './resolve.ts'
import type { RouteContext, RouteVerdict } from './route.ts'
import { Routes } from './routes.ts'
import { createStreamExchange } from './stream.ts'
import { LruCache } from '../../lib/internal/lru-cache.ts'

export interface EgressClientOptions {
  readonly policy: EgressPolicy
  /** Default: DNS with 2 s per query, the system's resolver for listed names. */
  readonly resolve?: Resolve
  /** Monotonic milliseconds. Default: `performance.now`. */
  readonly clock?: () => number
  /** Maximum connections, and so concurrent requests, per origin. Default 16. */
  readonly maxSocketsPerOrigin?: number
  /** Maximum connections to all origins, idle ones included. Default 8192. */
  readonly maxSockets?: number
  /** For a connection with its TLS handshake, also after its caller left. Default 10 s. */
  readonly connectTimeout?: Millis
  /** Maximum bytes of one response on the wire. Default 16 KiB. */
  readonly maxAnswerBytes?: number
  /** Certificate authorities in PEM instead of the bundled ones. */
  readonly tls?: { readonly ca?: string }
}

const MAX_TARGETS = 10_000

/**
 * Creates the guarded HTTP client. A target is judged three times: its url, every address its name
 * resolves to (a verdict holds at most 5 s), and the remote address of each new connection before
 * its first byte. Connections live at most 60 s; proxies of the environment are ignored.
 *
 * @example
 * const client = createEgressClient({ policy: { schemes: ['https'], allow: parseAllowList('') } })
 * const result = await client.send({
 *   url: 'https://hooks.example.com/in', method: 'POST', headers: {}, body: new Uint8Array(0),
 *   timeout: 10_000, maxResponseBytes: 4096,
 * })
 */
export function createEgressClient(options: EgressClientOptions): EgressClient {
  return new GuardedClient(options)
}

interface Plan {
  readonly ok: true
  readonly target: CanonicalTarget
  readonly wire: Dispatcher.DispatchOptions
}

class GuardedClient implements EgressClient {
  readonly #context: RouteContext
  readonly #clock: () => number
  readonly #layOut = createHeaderLayout()
  readonly #targets = new LruCache<UrlVerdict>({ max: MAX_TARGETS })
  readonly #routes: Routes
  readonly #sockets = new Set<Socket>()
  readonly #closing = new AbortController()
  #inFlight = 0
  #isClosed = false
  #onDrained: (() => void) | undefined

  constructor(options: EgressClientOptions) {
    const { policy } = options
    const systemHosts = policy.allow.hosts.map(({ host }) => host)
    this.#clock = options.clock ?? (() => performance.now())
    this.#context = {
      policy,
      resolve: options.resolve ?? createResolver({ timeout: 2 * SECOND, systemHosts }),
      clock: this.#clock,
      maxSocketsPerOrigin: options.maxSocketsPerOrigin ?? 16,
      connectTimeout: options.connectTimeout ?? 10 * SECOND,
      maxAnswerBytes: options.maxAnswerBytes ?? MAX_ANSWER_BYTES,
      ca: options.tls?.ca,
      sockets: this.#sockets,
    }
    this.#routes = new Routes(this.#context, options.maxSockets ?? 8192)
  }

  async judge(url: string): Promise<UrlVerdict> {
    const { policy, resolve } = this.#context
    const verdict = judgeUrl(url, policy)
    if (!verdict.ok || verdict.url.literal) return verdict
    const answers = await tryResolve(resolve, verdict.url.hostname)
    const judged = judgeAnswers(answers ?? [], verdict.url, policy)
    return judged.ok || judged.reason === 'no_answer' ? verdict : judged
  }

  send(request: EgressRequest): Promise<EgressResult> {
    const startedAt = this.#clock()
    const planned = this.#plan(request)
    if (!planned.ok) return Promise.resolve(planned)
    this.#inFlight += 1
    return new Promise((resolve) => {
      const exchange = new Exchange(request, startedAt, this.#clock, (result) => {
        this.#leave()
        resolve(result)
      })
      this.#begin(planned, exchange, startedAt)
    })
  }

  stream(request: EgressStreamRequest): Promise<EgressStreamed> {
    const startedAt = this.#clock()
    const planned = this.#plan(request)
    if (!planned.ok) return Promise.resolve(planned)
    this.#inFlight += 1
    return new Promise((resolve) => {
      const exchange = createStreamExchange({
        signal: AbortSignal.any([request.signal, this.#closing.signal]),
        duration: () => Math.round(this.#clock() - startedAt),
        settle: resolve,
        left: () => this.#leave(),
      })
      this.#begin(planned, exchange, startedAt)
    })
  }

  /** The target and the request, or why it is not sent. */
  #plan({
    url,
    method,
    headers: given,
    body,
  }: Pick<EgressStreamRequest, 'url' | 'method' | 'headers' | 'body'>): Plan | EgressFailure {
    if (this.#isClosed) return failureOf('aborted', 0)
    const judged = this.#judged(url)
    if (!judged.ok) return failureOf('refused_address', 0, judged)
    const headers = this.#layOut(given)
    if (!headers) return failureOf('protocol', 0)
    const { url: target } = judged
    return { ok: true, target, wire: { path: target.path, method, headers, body } }
  }

  #begin({ target, wire }: Plan, exchange: Pick<Exchange, 'dispatch' | 'fail'>, now: number): void {
    const dispatch = (verdict: RouteVerdict): void => {
      if (verdict.ok) exchange.dispatch(verdict, wire)
      else exchange.fail(verdict.code, verdict)
    }
    const verdict = this.#routes.to(target, now).take(now)
    if (verdict instanceof Promise) void verdict.then(dispatch)
    else dispatch(verdict)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#closing.abort()
    if (this.#inFlight > 0) await new Promise<void>((resolve) => (this.#onDrained = resolve))
    await this.#routes.destroy()
    for (const socket of this.#sockets) socket.destroy()
  }

  #leave(): void {
    this.#inFlight -= 1
    if (this.#inFlight === 0) this.#onDrained?.()
  }

  /** The verdict on a url's text never changes under one policy, so it is cached. */
  #judged(url: string): UrlVerdict {
    const known = this.#targets.get(url)
    if (known) return known
    const verdict = judgeUrl(url, this.#context.policy)
    this.#targets.set(url, verdict)
    return verdict
  }
}
