import type { Chunk, FileErrorCode, ProcessingStage } from '../contract.ts'
import { MAX_CHUNKS, MAX_CHUNK_CHARACTERS, fileError } from '../contract.ts'

/** One line from the child. */
export type Message =
  | { readonly stage: readonly [stage: ProcessingStage, done: number, total: number | null] }
  | { readonly chunk: Chunk }
  /** The last one of a document that was processed: the length of its text. */
  | { readonly characters: number }
  /** The last one of a document that was not. */
  | { readonly failed: FileErrorCode; readonly internal: string }

/** Above the longest chunk with every character escaped. */
const MAX_LINE = 65_536

/** Reads the child's lines. */
export interface MessageReader {
  /** @throws KeyhookError `processor_failed` */
  read(bytes: Buffer): readonly Message[]
}

/**
 * A document may have compromised the child, so shape and size of every message are checked.
 */
export function createMessageReader(): MessageReader {
  let rest = Buffer.alloc(0)
  let chunks = 0

  function judge(line: Buffer): Message {
    if (line.length > MAX_LINE) throw failed('a line is too long')
    const message = parse(line)
    if ('chunk' in message) {
      if (!isChunk(message.chunk, chunks++)) throw failed('not a chunk')
    } else if ('stage' in message) {
      if (!isStage(message.stage)) throw failed('not a stage')
    } else if ('failed' in message) {
      if (!Object.hasOwn(fileError.rows, String(message.failed))) throw failed('not a code')
    } else if (!('characters' in message && isCount(message.characters))) {
      throw failed('not a message')
    }
    return message as Message
  }

  return {
    read(bytes) {
      const messages: Message[] = []
      let all = rest.length === 0 ? bytes : Buffer.concat([rest, bytes])
      for (let end = all.indexOf(10); end >= 0; end = all.indexOf(10)) {
        messages.push(judge(all.subarray(0, end)))
        all = all.subarray(end + 1)
      }
      if (all.length > MAX_LINE) throw failed('a line is too long')
      rest = Buffer.from(all)
      return messages
    },
  }
}

function parse(line: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line.toString())
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {
    // Told below.
  }
  throw failed('not JSON')
}

function isChunk(value: unknown, ordinal: number): boolean {
  if (ordinal >= MAX_CHUNKS || typeof value !== 'object' || value === null) return false
  const chunk = value as Partial<Record<keyof Chunk, unknown>>
  return (
    isText(chunk.text) &&
    chunk.ordinal === ordinal &&
    (chunk.heading === null || isText(chunk.heading)) &&
    (chunk.page === null || isCount(chunk.page)) &&
    isCount(chunk.start) &&
    isCount(chunk.end)
  )
}

function isStage(value: unknown): boolean {
  if (!Array.isArray(value)) return false
  const [stage, done, total] = value as unknown[]
  return (
    (stage === 'extract' || stage === 'chunk') &&
    isCount(done) &&
    (total === null || isCount(total))
  )
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.length <= MAX_CHUNK_CHARACTERS
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function failed(internal: string): Error {
  return fileError('processor_failed', { internal })
}
