import { createHash } from 'node:crypto'
import { bytesError } from './errors.ts'
import type { ByteRange, Kept, PutOptions } from './contract.ts'
import { untilAborted } from '../../lib/internal/until-aborted.ts'

const APP_ID = /^[a-z0-9]{8,32}$/
const DIGEST = /^[0-9a-f]{64}$/

export function isAppId(value: unknown): value is string {
  return typeof value === 'string' && APP_ID.test(value)
}

/** @throws TypeError for an invalid app id */
export function requireAppId(appId: string): void {
  if (!isAppId(appId)) throw new TypeError('the id of an app is 8 to 32 of a-z and 0-9')
}

/** @throws TypeError for an invalid digest */
export function requireDigest(sha256: string): void {
  if (typeof sha256 !== 'string' || !DIGEST.test(sha256)) {
    throw new TypeError('a digest is 64 lower-case hex digits')
  }
}

/** @throws TypeError for an invalid range */
export function requireRange(range: ByteRange | undefined): void {
  if (range === undefined) return
  const { start, end } = range
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 0 || start > end) {
    throw new TypeError('a range is of integers from 0, start before end or equal')
  }
}

/** Cuts a range to a size. */
export function clip(range: ByteRange | undefined, size: number): ByteRange {
  if (range === undefined) return { start: 0, end: size }
  return { start: Math.min(range.start, size), end: Math.min(range.end, size) }
}

/** The bytes of a put. */
export interface Intake {
  /** Read once; a chunk is the caller's and may change with the next read. */
  readonly chunks: AsyncIterable<Uint8Array>
  /** Digest and size, once all chunks were read. */
  kept(): Kept
}

/** Counts and hashes the bytes of a put while they are read, and ends the stream when reading stops. */
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

/** Passes chunks through, and fails at the end when they do not match the digest. */
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

/** @throws KeyhookError `bytes_damaged` for bytes that do not match the digest */
export function requireUndamaged(sha256: string, bytes: Uint8Array): void {
  if (digestOf(bytes) !== sha256) throw bytesError('bytes_damaged')
}

export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
