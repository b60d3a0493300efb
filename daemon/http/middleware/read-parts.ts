import type { Clock } from '../../../lib/engine/ports.ts'
import { httpError } from '../../errors.ts'
import { allowLong } from '../../long-requests.ts'
import type { PartsInput } from '../../parts.ts'
import { mostBytes } from '../../parts.ts'
import { takeParts } from '../multipart.ts'
import type { RequestContext, Step } from '../state.ts'

/** Hands a multipart body on before it is read: the operation takes its parts as they come in. */
export function readParts(parts: PartsInput, clock: Clock): Step {
  const limit = mostBytes(parts)
  return async function readParts(ctx, next) {
    requireMultipart(ctx)
    const announced = Number(ctx.get('content-length') || 0)
    if (announced > limit) throw httpError('payload_too_large', { details: { limit_bytes: limit } })
    const intake = takeParts(ctx.req, parts, clock)
    const noLonger = allowLong(ctx.req.socket)
    ctx.state.parts = intake.parts
    ctx.state.body = undefined
    // Boundaries are drawn anew for each attempt: of the same files the length alone is the same.
    ctx.state.bodyText = `multipart ${ctx.get('content-length')}`
    try {
      await next()
    } finally {
      // What is left of a body that was refused is not waited for.
      if (!ctx.req.complete) ctx.set('Connection', 'close')
      intake.end()
      noLonger()
    }
  }
}

function requireMultipart(ctx: RequestContext): void {
  const type = ctx.get('content-type').split(';', 1)[0]?.trim().toLowerCase()
  if (type !== 'multipart/form-data' || ctx.get('content-encoding') !== '') {
    throw httpError('unsupported_media_type', {
      message: 'Send the body as multipart/form-data, without Content-Encoding.',
    })
  }
}
