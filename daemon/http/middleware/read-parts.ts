import typeIs from 'type-is'
import type { KeyhookError } from '../../../lib/errors.ts'
import { httpError } from '../../operations/errors.ts'
import { STREAMED_BODY_BYTES } from '../../limits/amounts.ts'
import type { GivenPart, PartsInput } from '../../operations/parts.ts'
import { mostBytes } from '../../operations/parts.ts'
import { allowLong } from '../pace.ts'
import { leaseBody, tooManyBytes } from '../traffic.ts'
import type { Intake } from '../multipart.ts'
import { takeParts } from '../multipart.ts'
import type { BodyLease, RequestContext, Step } from '../state.ts'
import type { Traffic } from '../traffic.ts'

/** Passes a multipart body on before it is read: the operation reads its parts as they arrive. */
export function readParts(parts: PartsInput, traffic: Traffic): Step {
  return async function readParts(ctx, next) {
    requireMultipart(ctx)
    ctx.state.body = undefined
    // Provisional, until the body was read.
    ctx.state.bodyText = `multipart ${ctx.get('content-length')}`
    await withParts(ctx, parts, traffic, STREAMED_BODY_BYTES, async (given, lease) => {
      ctx.state.parts = keepOnceRead(given, lease)
      await next()
    })
  }
}

/**
 * Receives a body while `work` runs, and does not wait for the rest of the body afterwards.
 *
 * @param amount bytes of the body that are held at once; undefined for all of it
 */
export async function withParts(
  ctx: RequestContext,
  parts: PartsInput,
  traffic: Traffic,
  amount: number | undefined,
  work: (given: AsyncIterable<GivenPart>, lease: BodyLease) => Promise<void>,
): Promise<void> {
  try {
    requireFit(ctx, mostBytes(parts))
    let intake: Intake | undefined
    const lease = leaseBody(ctx, traffic, () => intake?.refuse(tooManyBytes()), amount)
    try {
      const { clock, transfers } = traffic
      const transfer = transfers.begin('upload', ctx.state.principal, ctx.state.address)
      const noLonger = allowLong(ctx.req.socket)
      try {
        let size = 0
        const hold = (bytes: number): KeyhookError | undefined => {
          size += bytes
          const refusal = transfer.hold(bytes) ?? ctx.state.chargeBody?.(size)
          return refusal ?? (lease.add(bytes) ? undefined : tooManyBytes())
        }
        intake = takeParts(ctx.req, parts, clock, { hold })
        await work(intake.parts, lease).finally(intake.end)
      } finally {
        noLonger()
        transfer.end()
      }
    } finally {
      lease.release()
    }
  } finally {
    if (!ctx.req.complete) ctx.set('Connection', 'close')
  }
}

/** A body that was read in full is no longer evicted: its operation may be about to commit. */
async function* keepOnceRead(
  given: AsyncIterable<GivenPart>,
  lease: BodyLease,
): AsyncGenerator<GivenPart> {
  yield* given
  lease.keep()
}

function requireFit(ctx: RequestContext, limit_bytes: number): void {
  if (Number(ctx.get('content-length') || 0) <= limit_bytes) return
  throw httpError('payload_too_large', { details: { limit_bytes } })
}

export function isMultipart(ctx: RequestContext): boolean {
  return typeIs.is(ctx.get('content-type'), ['multipart/form-data']) !== false
}

/** @throws KeyhookError `unsupported_media_type` */
export function requireMultipart(ctx: RequestContext): void {
  if (!isMultipart(ctx) || ctx.get('content-encoding') !== '') {
    throw httpError('unsupported_media_type', {
      message: 'Send the body as multipart/form-data, without Content-Encoding.',
    })
  }
}
