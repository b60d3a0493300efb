import { createHash } from 'node:crypto'
import type { GivenPart } from '../operations/parts.ts'

/** Parts that are handed on as they come in, and what they were. */
export interface FingerprintedParts {
  readonly parts: AsyncIterable<GivenPart>
  /**
   * The same for the same parts, whatever their boundary: that is drawn anew for each attempt. To be asked
   * for once nobody reads them any more; what nobody read is read for it.
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

/** In place of the digest of a file beyond its limit: how much of it came in is the network's doing. */
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
    // It has no `return`: of a file that its reader gives up the rest is still to be hashed.
    bytes: { [Symbol.asyncIterator]: () => ({ next }) },
    async digest() {
      while (!isCut && (await next().catch(over)).done !== true);
      return isCut ? TOO_LARGE : hash.digest('hex')
    },
  }
}

/** What ends the whole body is thrown by the parts; what ends one file alone is its size. */
function over(): IteratorReturnResult<undefined> {
  return { done: true, value: undefined }
}
