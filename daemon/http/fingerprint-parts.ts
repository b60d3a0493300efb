import { createHash } from 'node:crypto'
import type { GivenPart } from '../operations/parts.ts'

/** Parts that are passed on as they arrive, and the fingerprint of their content. */
export interface FingerprintedParts {
  readonly parts: AsyncIterable<GivenPart>
  /**
   * The same for the same parts, regardless of the boundary, which changes with each attempt. Call it once
   * nobody reads the parts any more; it reads the rest.
   */
  fingerprint(): Promise<string>
}

export function fingerprintParts(given: AsyncIterable<GivenPart>): FingerprintedParts {
  const seen: (readonly string[])[] = []

  async function* hashed(): AsyncGenerator<GivenPart> {
    for await (const part of given) {
      if (part.kind === 'text') {
        seen.push([part.name, part.text])
        yield part
        continue
      }
      const { name, filename } = part
      const { bytes, digest } = hashing(part.bytes)
      yield { ...part, bytes }
      seen.push([name, filename, await digest()])
    }
  }

  const parts = hashed()
  return {
    parts,
    async fingerprint() {
      while ((await parts.next()).done !== true);
      return `multipart ${JSON.stringify(seen)}`
    },
  }
}

/** Replaces the digest of a file beyond its limit: how much of it arrived depends on the network. */
const TOO_LARGE = 'too large'

/** Hashes bytes as they are read. */
function hashing(given: AsyncIterable<Uint8Array>): {
  readonly bytes: AsyncIterable<Uint8Array>
  digest(): Promise<string>
} {
  const hash = createHash('sha256')
  const chunks = given[Symbol.asyncIterator]()
  let isCut = false
  const next = async (): Promise<IteratorResult<Uint8Array>> => {
    try {
      const step = await chunks.next()
      if (step.done !== true) hash.update(step.value)
      return step
    } catch (cause) {
      isCut = true
      throw cause
    }
  }
  return {
    // No `return`: the rest of a file that its reader abandons must still be hashed.
    bytes: { [Symbol.asyncIterator]: () => ({ next }) },
    async digest() {
      while (!isCut && (await next().catch(over)).done !== true);
      return isCut ? TOO_LARGE : hash.digest('hex')
    },
  }
}

/** Errors of the whole body are thrown by the parts; only its size ends a single file. */
function over(): IteratorReturnResult<undefined> {
  return { done: true, value: undefined }
}
