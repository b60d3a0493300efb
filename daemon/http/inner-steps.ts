import { DEFAULT_BODY_LIMIT } from '../limits/amounts.ts'
import { httpError } from '../operations/errors.ts'
import type { Operation } from '../operations/operation.ts'
import type { GivenPart, PartsInput } from '../operations/parts.ts'
import type { Platform } from '../platform.ts'
import { toCall } from './call.ts'
import type { InnerContext } from './inner-context.ts'
import type { AdmissionSteps } from './middleware/admit.ts'
import type { Traffic } from './traffic.ts'

/** A named step of an inner call. */
export type InnerStep = (ctx: InnerContext, next: () => Promise<unknown>) => unknown

/** Gives an operation its input, which arrived with the request of the other protocol. */
export function giveInput(operation: Operation, { transfers }: Traffic): InnerStep {
  const { parts } = operation.input
  return parts === undefined ? giveBody(operation) : giveParts(parts, transfers)
}

function giveBody({ input, bodyLimit = DEFAULT_BODY_LIMIT }: Operation): InnerStep {
  return function giveBody(ctx, next) {
    const { body } = ctx.given
    if (body === undefined) return next()
    if (input.body === undefined) {
      throw httpError('invalid_request', { message: 'This operation takes no body.' })
    }
    if (Buffer.byteLength(body.text) > bodyLimit) {
      throw httpError('payload_too_large', { details: { limit_bytes: bodyLimit } })
    }
    ctx.state.bodyText = body.text
    ctx.state.body = body.value
    return next()
  }
}

function giveParts(parts: PartsInput, transfers: Traffic['transfers']): InnerStep {
  return async function giveParts(ctx, next) {
    const { principal, address } = ctx.state
    const transfer = transfers.begin('upload', principal, address)
    try {
      ctx.state.bodyText = 'multipart'
      ctx.state.parts = bounded(ctx.given.parts ?? none(), parts, transfer)
      await next()
    } finally {
      transfer.end()
    }
  }
}

async function* none(): AsyncGenerator<never> {}

/** The given parts, up to the declared number of each name and size of each file. */
async function* bounded(
  given: AsyncIterable<GivenPart>,
  declared: PartsInput,
  transfer: ReturnType<Traffic['transfers']['begin']>,
): AsyncGenerator<GivenPart> {
  const counts = new Map<string, number>()
  for await (const part of given) {
    const spec = declared[part.name]
    const count = (counts.get(part.name) ?? 0) + 1
    counts.set(part.name, count)
    if (spec === undefined || count > spec.most) throw httpError('invalid_multipart')
    yield part.kind === 'text'
      ? part
      : { ...part, bytes: counted(part.bytes, spec.limit, transfer) }
  }
}

async function* counted(
  bytes: AsyncIterable<Uint8Array>,
  limit_bytes: number,
  transfer: ReturnType<Traffic['transfers']['begin']>,
): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of bytes) {
    size += chunk.length
    if (size > limit_bytes) throw httpError('payload_too_large', { details: { limit_bytes } })
    const refusal = transfer.hold(chunk.length)
    if (refusal !== undefined) throw refusal
    yield chunk
  }
}

/** Runs an operation with events, and leaves them to the protocol. */
export function giveEvents(
  operation: Operation<'stream'>,
  platform: Platform,
  admission: AdmissionSteps,
): InnerStep {
  return async function giveEvents(ctx) {
    const left = new AbortController()
    const call = toCall(ctx, platform, admission)
    const after = ctx.get('last-event-id')
    const events = await operation.run({ ...call, after, left: left.signal })
    ctx.events = {
      kind: 'events',
      events,
      admit: call.admit,
      leave: () => {
        left.abort(httpError('request_abandoned'))
      },
    }
  }
}
