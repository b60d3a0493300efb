import { Readable } from 'node:stream'
import type { Cidr } from '../../../lib/egress/address.ts'
import { KeyhookError } from '../../../lib/errors.ts'
import { READS } from '../../operations/operation.ts'
import type { Operation } from '../../operations/operation.ts'
import { RESERVED_RESPONSE_BYTES } from '../../limits/amounts.ts'
import { clientAddress } from '../client-address.ts'
import { holdResponse } from '../response-hold.ts'
import { cutResponse } from '../slow-readers.ts'
import type { Hold, RequestContext, Step } from '../state.ts'
import type { Traffic } from '../traffic.ts'

/**
 * Reserves the response of an operation before it runs, and counts what it printed. A read whose response
 * does not fit is refused. A change whose response does not fit is made, and its connection is cut: an
 * `Idempotency-Key` finds out what became of it.
 */
export function holdAnswer({ effect }: Operation, traffic: Traffic): Step {
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
 * Counts every other response: pages, documents and errors.
 *
 * @param refuse answers what does not fit, where nothing was done yet
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
      // Nothing more of this connection is answered: it holds one small response at most.
      else ctx.set('Connection', 'close')
    }
  }
}

/** @throws KeyhookError `too_many_bytes` */
function settle(ctx: RequestContext, hold: Hold): void {
  const size = sizeOf(ctx)
  hold.reserve(size)
  // A text would be copied to be sent, and held twice until it was.
  if (size > RESERVED_RESPONSE_BYTES && typeof ctx.body === 'string')
    ctx.body = Buffer.from(ctx.body)
  hold.started()
}

/** Bytes of a body that was made. Who hands on a stream counts what it holds of it. */
function sizeOf(ctx: RequestContext): number {
  return ctx.body instanceof Readable ? 0 : (ctx.length ?? 0)
}

function drop(ctx: RequestContext): void {
  ctx.respond = false
  cutResponse(ctx)
}
