import { Readable } from 'node:stream'
import type { Cidr } from '../../../lib/egress/address.ts'
import { KeyhookError } from '../../../lib/errors.ts'
import { READS } from '../../operations/operation.ts'
import type { Operation } from '../../operations/operation.ts'
import { RESERVED_RESPONSE_BYTES } from '../../limits/amounts.ts'
import type { Lease } from '../../limits/fair-pool.ts'
import type { ListNode } from '../../limits/linked-list.ts'
import { holderOf } from '../../authority/principal.ts'
import { clientAddress } from '../client-address.ts'
import { cutResponse, watchReader } from '../slow-readers.ts'
import type { CallContext, CallStep } from '../call-context.ts'
import type { Swept } from '../pace.ts'
import type { Hold, RequestContext, Step } from '../state.ts'
import type { Traffic } from '../traffic.ts'
import { onResponseEnd } from '../response-end.ts'
import type { RequestSocket } from '../slow-readers.ts'
import { poolsFor, tooManyBytes } from '../traffic.ts'

/**
 * Reserves the response of an operation before it runs; `settleResponse` counts its printed bytes. A read whose
 * response does not fit is refused. A change whose response does not fit is made, and its connection is cut: a
 * retry with the `Idempotency-Key` returns the outcome.
 */
export function holdAnswer({ effect }: Pick<Operation, 'effect'>, traffic: Traffic): Step {
  const isChange = !READS.has(effect)
  return function holdAnswer(ctx, next) {
    ctx.state.hold = holdResponse(ctx, traffic, isChange)
    return next()
  }
}

/**
 * The same for the answer of a call inside a request of another protocol. Its bytes are released when it has
 * ended, or when nobody reads its events any more: the response that it becomes part of is counted itself.
 */
export function holdInner({ effect }: Operation, traffic: Traffic): CallStep {
  const isRead = READS.has(effect)
  return async function holdInner(ctx, next) {
    const hold = new ResponseHold(ctx, traffic)
    ctx.state.hold = hold
    let isOpen = false
    try {
      await next()
      isOpen = effect === 'stream'
      if (isOpen) {
        onResponseEnd(ctx.req, ctx.res, () => {
          hold.end()
        })
      } else if (typeof ctx.body === 'string') hold.reserve(Buffer.byteLength(ctx.body))
    } catch (refusal) {
      if (isRead || ctx.body === undefined) throw refusal
      cutResponse(ctx)
    } finally {
      if (!isOpen) hold.end()
    }
  }
}

/** How a response is counted before it is sent. */
export interface Settling {
  readonly traffic: Traffic
  /** Proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly Cidr[]
  /** Makes a refusal of a response that does not fit, when nothing was done yet. */
  readonly refuse: (ctx: RequestContext, refusal: KeyhookError) => void
}

/** Counts a response that was made: of an operation, a page, a document or an error. */
export function settleResponse(ctx: RequestContext, settling: Settling): void {
  const { traffic, trustedProxies, refuse } = settling
  try {
    ctx.state.address ??= clientAddress(ctx.req, trustedProxies)
    settle(ctx, ctx.state.hold ?? holdResponse(ctx, traffic))
  } catch (refusal) {
    if (!(refusal instanceof KeyhookError)) throw refusal
    const { hold } = ctx.state
    if (ctx.status < 400) {
      if (hold?.isChange === true) {
        drop(ctx)
        return
      }
      refuse(ctx, refusal)
    }
    if (sizeOf(ctx) > RESERVED_RESPONSE_BYTES) drop(ctx)
    else if (hold !== undefined) settle(ctx, hold)
    // Nothing is reserved for it, and the connection gets no further response: it holds at most one small response.
    else ctx.set('Connection', 'close')
  }
}

/** @throws KeyhookError `too_many_bytes` */
function settle(ctx: RequestContext, hold: Hold): void {
  const size = sizeOf(ctx)
  hold.reserve(size)
  // A text would be copied to be sent, and held twice until then.
  if (size > RESERVED_RESPONSE_BYTES && typeof ctx.body === 'string')
    ctx.body = Buffer.from(ctx.body)
  hold.started()
}

/** Bytes of a complete body. A stream counts its own bytes. */
function sizeOf(ctx: RequestContext): number {
  return ctx.method === 'HEAD' || ctx.body instanceof Readable ? 0 : (ctx.length ?? 0)
}

function drop(ctx: RequestContext): void {
  ctx.respond = false
  cutResponse(ctx)
}

/**
 * Reserves bytes of a response that is no operation's, before it is created.
 *
 * @throws KeyhookError `too_many_bytes`
 */
export function reserveResponse(ctx: RequestContext, traffic: Traffic, bytes: number): void {
  ctx.state.hold ??= holdResponse(ctx, traffic)
  ctx.state.hold.reserve(bytes)
}

/** Reserves a response until it was sent, or can no longer be sent. */
function holdResponse(ctx: RequestContext, traffic: Traffic, isChange?: boolean): ResponseHold {
  const hold = new ResponseHold(ctx, traffic, isChange)
  onResponseEnd(ctx.req, ctx.res, () => {
    hold.end()
  })
  return hold
}

/** A response that is reserved before it is created. */
class ResponseHold implements Hold {
  readonly isChange: boolean
  readonly #ctx: CallContext
  readonly #traffic: Traffic
  readonly #lease: Lease
  #held = RESERVED_RESPONSE_BYTES
  #hasStarted = false
  #isEvicted = false
  #hasEnded = false
  #movingNode: ListNode<Swept> | undefined

  /** @throws KeyhookError `too_many_bytes` */
  constructor(ctx: CallContext, traffic: Traffic, isChange = false) {
    const { principal, address } = ctx.state
    const { responses } = poolsFor(principal, traffic)
    const lease = responses.take(holderOf(principal, address), this.#held, () => {
      this.#evict()
    })
    if (lease === undefined) throw tooManyBytes()
    this.isChange = isChange
    this.#ctx = ctx
    this.#traffic = traffic
    this.#lease = lease
  }

  reserve(bytes: number): void {
    if (bytes <= (this.#isEvicted ? RESERVED_RESPONSE_BYTES : this.#held)) return
    if (!this.#lease.add(bytes - this.#held)) throw tooManyBytes()
    this.#held = bytes
  }

  started(): void {
    if (this.#hasStarted || this.#hasEnded) return
    this.#hasStarted = true
    this.#movingNode = this.#traffic.moving.add(this)
  }

  /** Most sockets accept a response at once: only those that do not are watched. */
  look(): void {
    const { socket } = this.#ctx.req
    if (!(socket.writableLength > 0) || watched.has(socket)) return
    watched.add(socket)
    watchReader(socket, { clock: this.#traffic.clock }, () => undefined)
  }

  end(): void {
    this.#hasEnded = true
    this.#lease.release()
    if (this.#movingNode !== undefined) this.#traffic.moving.remove(this.#movingNode)
  }

  /** Before anything is written, the next `reserve` is refused. */
  #evict(): void {
    if (this.#hasStarted) cutResponse(this.#ctx)
    else this.#isEvicted = true
  }
}

const watched = new WeakSet<RequestSocket>()
