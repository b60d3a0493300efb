import { INTERNAL_ERROR } from '@modelcontextprotocol/server'
import { KeyhookError } from '../../lib/errors.ts'
import type { KeyPrincipal } from '../authority/principal.ts'
import { callerOf, holderOf } from '../authority/principal.ts'
import type { ProtocolOptions } from '../http/protocol-steps.ts'
import { findKey } from '../http/protocol-steps.ts'
import { onResponseEnd } from '../http/response-end.ts'
import type { RequestContext } from '../http/state.ts'
import { httpError } from '../operations/errors.ts'

/** A message as it was received. */
export interface Message {
  readonly jsonrpc?: unknown
  readonly id?: unknown
  readonly method?: unknown
  readonly params?: unknown
}

/** A response that may last: it counts as a stream of its caller, and ends with the caller's key. */
export interface EventStream {
  /** Aborts once nobody reads it. */
  readonly left: AbortSignal
  /** Sends events as they come. */
  open(pieces: AsyncIterable<string>): void
  /** Gives it up; without effect once it is open. */
  release(): void
}

/**
 * @param seen called with the caller as it is now, whenever it was admitted again
 * @throws KeyhookError `too_many_streams`
 */
export function reserveStream(
  options: ProtocolOptions,
  ctx: RequestContext,
  { id = null }: Message,
  seen: (principal: KeyPrincipal) => void,
): EventStream {
  const { principal, address, hold } = ctx.state
  const left = new AbortController()
  const reserved = options.traffic.streams.reserve({
    caller: callerOf(principal, address),
    holder: holderOf(principal, address),
  })
  onResponseEnd(ctx.req, ctx.res, () => {
    left.abort(httpError('request_abandoned'))
  })
  return {
    left: left.signal,
    release: reserved.release,
    open(pieces) {
      // A proxy that buffers responses would deliver nothing until the stream ends.
      ctx.set('X-Accel-Buffering', 'no')
      const stream = reserved.open({
        pieces,
        refused: ({ code, message }) =>
          print({ id, error: { code: INTERNAL_ERROR, message, data: { code } } }),
        admit: () => findKey(options, ctx).then(seen),
        // One chunk is being written while the next one is buffered.
        prints: (bytes) => hold?.reserve(2 * bytes),
        leave: () => {
          left.abort(httpError('request_abandoned'))
        },
      })
      onResponseEnd(ctx.req, ctx.res, () => {
        stream.destroy()
      })
      ctx.body = stream
    },
  }
}

/**
 * A stream for the progress of a call. Undefined: it asks for no progress, or its caller has too many
 * streams, and the call goes without.
 */
export function reserveProgress(
  options: ProtocolOptions,
  ctx: RequestContext,
  message: Message,
): EventStream | undefined {
  if (message.method !== 'tools/call' || !asksForProgress(message)) return undefined
  try {
    return reserveStream(options, ctx, message, () => undefined)
  } catch (cause) {
    if (cause instanceof KeyhookError) return undefined
    throw cause
  }
}

function asksForProgress({ params }: Message): boolean {
  const { _meta } = (params ?? {}) as { readonly _meta?: { readonly progressToken?: unknown } }
  return _meta?.progressToken !== undefined
}

/** The events of a response once the first one is there: until then the message is still needed. */
export async function beginEvents(response: Response): Promise<AsyncIterable<string>> {
  const pieces = textOf(response)
  const first = await pieces.next()
  return resume(first, pieces)
}

async function* resume(
  first: IteratorResult<string, void>,
  rest: AsyncGenerator<string, void>,
): AsyncGenerator<string, void> {
  try {
    if (first.done === true) return
    yield first.value
    yield* rest
  } finally {
    await rest.return()
  }
}

async function* textOf({ body }: Response): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  for await (const chunk of body ?? []) yield decoder.decode(chunk as Uint8Array, { stream: true })
}

function print(message: Readonly<Record<string, unknown>>): string {
  return `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`
}
