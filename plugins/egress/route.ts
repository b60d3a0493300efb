import type { Socket } from 'node:net'
import { Pool, type buildConnector } from 'undici'
import {
  judgeAnswers,
  type CanonicalTarget,
  type EgressPolicy,
  type RefusalReason,
} from '../../lib/egress/url.ts'
import { MINUTE, SECOND, type Millis } from '../../lib/time.ts'
import { createConnector, MAX_ANSWER_BYTES } from './connect.ts'
import type { EgressCause, EgressErrorCode } from './contract.ts'
import { tryResolve, type Resolve } from './resolve.ts'

/** How long a verdict holds, and when it is renewed in the background. */
const VERDICT_AGE: Millis = 5 * SECOND
const RENEW_AFTER: Millis = 3 * SECOND
/** How long a failed resolution holds. */
const FAILURE_AGE: Millis = SECOND
const POOL_AGE: Millis = MINUTE

export type RouteVerdict =
  | {
      readonly ok: true
      readonly pool: Pool
      readonly demand: Demand
      readonly isPrivate: boolean
    }
  | {
      readonly ok: false
      readonly code: EgressErrorCode
      readonly reason?: RefusalReason
      readonly cause?: EgressCause
    }

/** Number of exchanges of a route that wait to be sent. */
export interface Demand {
  waiting: number
}

/** Shared by all routes of a client. */
export interface RouteContext {
  readonly policy: EgressPolicy
  readonly resolve: Resolve
  readonly clock: () => number
  readonly maxSocketsPerOrigin: number
  readonly connectTimeout: Millis
  readonly maxAnswerBytes: number
  readonly ca: string | undefined
  readonly sockets: Set<Socket>
}

interface PinnedPool {
  /** The sorted address set: a pool never serves another one. */
  readonly key: string
  readonly pool: Pool
  readonly connect: buildConnector.connector
  readonly openedAt: number
}

interface Judgement {
  readonly verdict: RouteVerdict
  readonly until: number
  readonly renewAt: number
}

/** The route to one origin: its judged addresses and the pool of connections to them. */
export class Route {
  readonly #target: CanonicalTarget
  readonly #context: RouteContext
  readonly #demand: Demand = { waiting: 0 }
  #pinned: PinnedPool | undefined
  #judgement: Judgement | undefined
  #pending: Promise<RouteVerdict> | undefined
  #usedAt = 0

  constructor(target: CanonicalTarget, context: RouteContext) {
    this.#target = target
    this.#context = context
  }

  get usedAt(): number {
    return this.#usedAt
  }

  /** Open connections. */
  get connections(): number {
    return this.#pinned?.pool.stats.connected ?? 0
  }

  get isPending(): boolean {
    return this.#pending !== undefined
  }

  /** The verdict for a send that starts now: immediately while it holds, else after a resolution. */
  take(now: number): RouteVerdict | Promise<RouteVerdict> {
    this.#usedAt = now
    const judgement = this.#judgement
    if (!judgement || now >= judgement.until) return this.#renew(now)
    if (now >= judgement.renewAt) void this.#renew(now)
    const isAged = this.#pinned !== undefined && now - this.#pinned.openedAt >= POOL_AGE
    return isAged ? this.#repool(judgement, now) : judgement.verdict
  }

  /** Lets running requests finish and closes the connections. */
  retire(): void {
    void this.#pinned?.pool.close()
    this.#pinned = undefined
    this.#judgement = undefined
  }

  destroy(): Promise<void> {
    const pool = this.#pinned?.pool
    this.#pinned = undefined
    return pool ? pool.destroy() : Promise.resolve()
  }

  #renew(now: number): RouteVerdict | Promise<RouteVerdict> {
    if (this.#target.literal) {
      return this.#accept([this.#target.hostname], this.#target.allowed === 'listed', {
        now,
        until: Number.POSITIVE_INFINITY,
      })
    }
    this.#pending ??= this.#resolve().finally(() => (this.#pending = undefined))
    return this.#pending
  }

  async #resolve(): Promise<RouteVerdict> {
    const { resolve, clock, policy } = this.#context
    const answers = await tryResolve(resolve, this.#target.hostname)
    const now = clock()
    if (!answers) return this.#keepOrFail(now, { ok: false, code: 'dns' })
    const judged = judgeAnswers(answers, this.#target, policy)
    if (judged.ok) {
      return this.#accept(judged.addresses, judged.listed, { now, until: now + VERDICT_AGE })
    }
    if (judged.reason === 'no_answer') {
      return this.#keepOrFail(now, {
        ok: false,
        code: 'dns',
        reason: 'no_answer',
        cause: 'not_found',
      })
    }
    this.retire()
    return this.#hold({ ok: false, code: 'refused_address', reason: judged.reason }, now)
  }

  /** A failed renewal keeps a verdict that still holds. */
  #keepOrFail(now: number, failed: RouteVerdict): RouteVerdict {
    const judgement = this.#judgement
    if (!judgement?.verdict.ok || now >= judgement.until) {
      return this.#hold(failed, now, FAILURE_AGE)
    }
    this.#judgement = { ...judgement, renewAt: now + FAILURE_AGE }
    return judgement.verdict
  }

  #hold(verdict: RouteVerdict, now: number, age: Millis = VERDICT_AGE): RouteVerdict {
    this.#judgement = { verdict, until: now + age, renewAt: Number.POSITIVE_INFINITY }
    return verdict
  }

  #accept(
    addresses: readonly string[],
    isPrivate: boolean,
    { now, until }: { readonly now: number; readonly until: number },
  ): RouteVerdict {
    const { pool } = this.#pin(addresses, now)
    const verdict = { ok: true, pool, demand: this.#demand, isPrivate } as const
    const renewAt = until === Number.POSITIVE_INFINITY ? until : now + RENEW_AFTER
    this.#judgement = { verdict, until, renewAt }
    return verdict
  }

  #pin(addresses: readonly string[], now: number): PinnedPool {
    const key = [...addresses].sort().join()
    const current = this.#pinned
    if (current?.key === key && now - current.openedAt < POOL_AGE) return current
    // The connector outlives the pool while the addresses stay: it keeps the TLS session.
    const connect = current?.key === key ? current.connect : this.#connector(addresses)
    void current?.pool.close()
    this.#pinned = { key, pool: this.#open(connect), connect, openedAt: now }
    return this.#pinned
  }

  #repool(judgement: Judgement, now: number): RouteVerdict {
    const aged = this.#pinned
    if (!aged || !judgement.verdict.ok) return judgement.verdict
    void aged.pool.close()
    this.#pinned = { ...aged, pool: this.#open(aged.connect), openedAt: now }
    const verdict = { ...judgement.verdict, pool: this.#pinned.pool }
    this.#judgement = { ...judgement, verdict }
    return verdict
  }

  #connector(addresses: readonly string[]): buildConnector.connector {
    const { ca, sockets, connectTimeout: timeout, maxAnswerBytes } = this.#context
    const isWanted = (): boolean => this.#demand.waiting > 0
    return createConnector({ addresses, timeout, maxAnswerBytes, isWanted, ca, sockets })
  }

  #open(connect: buildConnector.connector): Pool {
    return new Pool(this.#target.origin, {
      connect,
      connections: this.#context.maxSocketsPerOrigin,
      pipelining: 1,
      maxHeaderSize: MAX_ANSWER_BYTES,
      // The attempt's own deadline is total; these would only cost a timer each.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveMaxTimeout: POOL_AGE,
    })
  }
}
