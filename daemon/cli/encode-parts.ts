import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import type { SentPart } from './request.ts'

/** A multipart body that reads its files while it is sent. */
export interface Encoded {
  /** Its `Content-Type`. */
  readonly type: string
  /**
   * May be read once.
   *
   * @throws UnreadableFile
   */
  readonly bytes: AsyncIterable<Uint8Array>
}

/** A file of this machine that cannot be read; no daemon has to do with it. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile'
}

export function encodeParts(parts: readonly SentPart[]): Encoded {
  const boundary = `keyhook-${randomUUID()}`
  return { type: `multipart/form-data; boundary=${boundary}`, bytes: bytesOf(parts, boundary) }
}

async function* bytesOf(parts: readonly SentPart[], boundary: string): AsyncGenerator<Uint8Array> {
  // Imported only here: few commands send files.
  const { format } = await import('content-disposition')
  for (const part of parts) {
    const filename = 'path' in part ? (part.filename ?? basename(part.path)) : undefined
    const parameters = { name: part.name, ...(filename === undefined ? {} : { filename }) }
    const disposition = format({ type: 'form-data', parameters }, { multipart: true })
    yield Buffer.from(`--${boundary}\r\nContent-Disposition: ${disposition}\r\n\r\n`)
    if ('path' in part) yield* readFile(part.path)
    else yield Buffer.from(part.text)
    yield Buffer.from('\r\n')
  }
  yield Buffer.from(`--${boundary}--\r\n`)
}

async function* readFile(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path) as AsyncIterable<Uint8Array>
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new UnreadableFile(`${path} cannot be read: ${reason}`, { cause })
  }
}
