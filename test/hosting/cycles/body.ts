import { createHash } from 'node:crypto'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { Answer } from './ask.ts'
import { numberIn } from './releases.ts'

/** What a visitor keeps of a file, as a browser does. */
export interface Held {
  readonly file: string
  readonly number: number
  readonly etag: string
  /** As it came. */
  readonly body: Buffer
}

/** The body of an answer, and what it says of itself. */
export interface Body {
  /** Undefined for what is not encoded as it says. */
  readonly plain: Buffer | undefined
  readonly number: number | undefined
  /** Whether it is the page of an app that is offline. */
  readonly isOffline: boolean
}

const DECODE: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  identity: (body) => body,
  br: brotliDecompressSync,
  gzip: gunzipSync,
}

export function readBody({ headers, body }: Answer): Body {
  const plain = decode(body, headers['content-encoding'] ?? 'identity')
  const text = plain?.subarray(0, 2000).toString() ?? ''
  return { plain, number: numberIn(text), isOffline: text.includes('is not published at present') }
}

function decode(body: Buffer, encoding: string): Buffer | undefined {
  try {
    return DECODE[encoding]?.(body)
  } catch {
    return undefined
  }
}

export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
