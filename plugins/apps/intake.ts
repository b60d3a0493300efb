import { createHash } from 'node:crypto'
import { untilAborted } from '../../lib/internal/until-aborted.ts'
import type { Kept, PutOptions } from './contract.ts'
import { bytesError } from './errors.ts'

/** What is put, on its way in. */
export interface Intake {
  /** To be read once; a chunk is the caller's and may change once the next is asked for. */
  readonly chunks: AsyncIterable<Uint8Array>
  /** Of all chunks, once they were read. */
  kept(): Kept
}

/** Counts and hashes what is put while it is read, and ends the stream when reading stops. */
export function takeIn(
  bytes: Uint8Array | AsyncIterable<Uint8Array>,
  { limit = Infinity, signal }: PutOptions = {},
): Intake {
  const hash = createHash('sha256')
  let size = 0

  async function* chunks(): AsyncGenerator<Uint8Array> {
    signal?.throwIfAborted()
    const source = bytes instanceof Uint8Array ? [bytes] : untilAborted(bytes, signal)
    for await (const chunk of source) {
      if (!(chunk instanceof Uint8Array)) throw new TypeError('a chunk is a Uint8Array')
      size += chunk.length
      if (size > limit) throw bytesError('bytes_too_large', { details: { limit } })
      hash.update(chunk)
      yield chunk
    }
  }

  return { chunks: chunks(), kept: () => ({ sha256: hash.digest('hex'), size }) }
}

/** Gives what it is given, and fails at the end when that is not what the digest names. */
export async function* verified(
  sha256: string,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  for await (const chunk of chunks) {
    hash.update(chunk)
    yield chunk
  }
  if (hash.digest('hex') !== sha256) throw bytesError('bytes_damaged')
}

/** @throws KeyhookError `bytes_damaged` for bytes that the digest does not name */
export function requireUndamaged(sha256: string, bytes: Uint8Array): void {
  if (digestOf(bytes) !== sha256) throw bytesError('bytes_damaged')
}

export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
