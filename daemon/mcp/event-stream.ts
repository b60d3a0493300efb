import { INTERNAL_ERROR } from './sdk.ts'
import { KeyhookError } from '../../lib/errors.ts'
import type { EventStream } from '../http/event-stream.ts'
import { reserveStream } from '../http/event-stream.ts'
import type { ProtocolOptions } from '../http/protocol-steps.ts'
import type { RequestContext } from '../http/state.ts'

/** A message as it was received. */
export interface Message {
  readonly jsonrpc?: unknown
  readonly id?: unknown
  readonly method?: unknown
  readonly params?: unknown
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
    return reserveStream(options, ctx)
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

/** The last event of a stream that a refusal ends: an error in answer to its message. */
export function printRefusal({ id = null }: Message, { code, message }: KeyhookError): string {
  const error = { code: INTERNAL_ERROR, message, data: { code } }
  return `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, error })}\n\n`
}
