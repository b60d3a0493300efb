import { z } from 'zod'
import { ProcessorError, type ReceivedEvent } from '../contract.ts'

const EVENT = z.object({
  id: z.string(),
  type: z.string(),
  created_at: z.int(),
  refs: z.array(
    z.object({ kind: z.enum(['checkout', 'invoice', 'subscription', 'charge']), id: z.string() }),
  ),
})

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Reads the body of an event whose signature is right. */
export function readEvent(body: Uint8Array): ReceivedEvent {
  const read = EVENT.safeParse(parse(body))
  if (!read.success)
    throw new ProcessorError('unavailable', { internal: 'no event of this version' })
  return read.data
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(UTF8.decode(body))
  } catch {
    throw new ProcessorError('invalid_signature', { internal: 'the body is no JSON' })
  }
}
