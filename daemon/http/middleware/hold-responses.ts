import { Readable } from 'node:stream'
import type { Cidr } from '../../../lib/egress/address.ts'
import { KeyhookError } from '../../../lib/errors.ts'
import { READS } from '../../operations/operation.ts'
import type { Operation } from '../../operations/operation.ts'
import { RESERVED_RESPONSE_BYTES } from '../../limits/amounts.ts'
import { holderOf } from '../../authority/principal.ts'
import { clientAddress } from '../client-address.ts'
import { cutResponse, watchReader } from '../slow-readers.ts'
import type { CallContext, CallStep } from '../call-context.ts'
import type { Hold, RequestContext, Step } from '../state.ts'
import type { Traffic } from '../traffic.ts'
import { onResponseEnd } from '../response-end.ts'
import type { RequestSocket } from '../slow-readers.ts'
import { poolsFor, tooManyBytes } from '../traffic.ts'

/**
 * Reserves the response of an operation before it runs, and counts its printed bytes. A read whose response
 * does not fit is refused. A change whose response does not fit is made, and its connection is cut: a retry
 * with the `Idempotency-Key` returns the outcome.
 */
export function holdAnswer({ effect }: Pick<Operation, 'effect'>, traffic: Traffic): Step {
  const isRead = READS.has(effect)
  return async function holdAnswer(ctx, next) {
    const hold = holdResponse(ctx, traffic)
    ctx.state.hold = hold
    await next()
    try {
      settle(ctx, hold)
    } catch (refusal) {
      if (isRead) throw refusal
      drop(ctx)
    }
  }
}

/**
 * The same for the answer of a call inside a request of another protocol. Its bytes are released when it has
 * ended, or when nobody reads its events any more: the response that it becomes part of is counted itself.
 */
export function holdInner({ effect }: Operation, traffic: Traffic): CallStep {
  const isRead = READS.has(effect)
  return async function holdInner(ctx, next) {
    const hold = takeHold(ctx, traffic)
    ctx.state.hold = hold
    let isOpen = false
    try {
      await next()
      isOpen = effect === 'stream'
      if (isOpen) onResponseEnd(ctx.req, ctx.res, hold.end)
      else if (typeof ctx.body === 'string') hold.reserve(Buffer.byteLength(ctx.body))
    } catch (refusal) {
      if (isRead || ctx.body === undefined) throw refusal
      cutResponse(ctx)
    } finally {
      if (!isOpen) hold.end()
    }
  }
}

/**
 * Counts every other response: pages, documents and errors.
 *
 * @param refuse creates the refusal of a response that does not fit, when nothing was done yet
 */
export function holdOthers(
  traffic: Traffic,
  trustedProxies: readonly Cidr[],
  refuse: (ctx: RequestContext, refusal: KeyhookError) => void,
): Step {
  return async function holdOthers(ctx, next) {
    await next()
    try {
      ctx.state.address ??= clientAddress(ctx.req, trustedProxies)
      settle(ctx, ctx.state.hold ?? holdResponse(ctx, traffic))
    } catch (refusal) {
      if (!(refusal instanceof KeyhookError)) throw refusal
      if (ctx.status < 400) refuse(ctx, refusal)
      if (sizeOf(ctx) > RESERVED_RESPONSE_BYTES) drop(ctx)
      // The connection gets no further response: it holds at most one small response.
      else ctx.set('Connection', 'close')
    }
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
 * Reserves bytes of a response that `holdOthers` counts, before it is created.
 *
 * @throws KeyhookError `too_many_bytes`
 */
export function reserveResponse(ctx: RequestContext, traffic: Traffic, bytes: number): void {
  ctx.state.hold ??= holdResponse(ctx, traffic)
  ctx.state.hold.reserve(bytes)
}

/** Reserves a response until it was sent, or can no longer be sent. */
function holdResponse(ctx: RequestContext, traffic: Traffic): Hold {
  const hold = takeHold(ctx, traffic)
  onResponseEnd(ctx.req, ctx.res, hold.end)
  return hold
}

/**
 * Reserves a response before it is created.
 *
 * @throws KeyhookError `too_many_bytes`
 */
function takeHold(ctx: CallContext, traffic: Traffic): Hold & { readonly end: () => void } {
  const { socket } = ctx.req
  const { principal, address } = ctx.state
  const { moving, clock } = traffic
  const { responses } = poolsFor(principal, traffic)
  let held = RESERVED_RESPONSE_BYTES
  let hasStarted = false
  let isEvicted = false
  const lease = responses.take(holderOf(principal, address), held, () => {
    // Nothing is written yet: the next `reserve` is refused.
    if (hasStarted) cutResponse(ctx)
    else isEvicted = true
  })
  if (lease === undefined) throw tooManyBytes()
  const reader = { look: () => watchWaiting(socket, clock) }
  let hasEnded = false
  let unwatch = (): void => undefined
  return {
    end() {
      hasEnded = true
      lease.release()
      unwatch()
    },
    reserve(bytes) {
      if (bytes <= (isEvicted ? RESERVED_RESPONSE_BYTES : held)) return
      if (!lease.add(bytes - held)) throw tooManyBytes()
      held = bytes
    },
    started() {
      if (hasStarted || hasEnded) return
      hasStarted = true
      unwatch = moving.add(reader)
    },
  }
}

const watched = new WeakSet<RequestSocket>()

/** Most sockets accept a response at once: only those that do not are watched. */
function watchWaiting(socket: RequestSocket, clock: Traffic['clock']): void {
  if (!(socket.writableLength > 0) || watched.has(socket)) return
  watched.add(socket)
  watchReader(socket, { clock }, () => undefined)
}
