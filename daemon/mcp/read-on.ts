/**
 * Reading on in a result that is too large for one message. Nothing is kept: a cursor names the tool, its
 * arguments and the next part, and each part is read anew, with the authority of the key that asks for it.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { JsonError, parseJson } from '../../lib/internal/json.ts'
import type { GivenArguments } from '../agents/arguments.ts'
import { httpError } from '../operations/errors.ts'
import { createInputReader } from '../operations/read-input.ts'

/** Maximum bytes of one part: JSON in JSON may be printed four times as long. */
const PART = 32_768
/** Maximum characters of a cursor. */
export const MAX_CURSOR = 8192

/** Where a result is read on: after the part that was read. */
export interface Cursor {
  /** Name of the tool that read it. */
  readonly tool: string
  readonly given: GivenArguments
  readonly offset: number
  /** Of the whole result, whose parts belong together only as long as it is the same. */
  readonly digest: string
}

const readFields = createInputReader(
  z.tuple([
    z.string().max(64),
    z.record(z.string().max(100), z.unknown()),
    z.int().min(0),
    z.string().max(64),
  ]),
)

/** A part of a text. */
export interface TextPart {
  readonly text: string
  /** Where the next part begins; undefined: this was the last one. */
  readonly next: number | undefined
  /** Bytes of the whole text. */
  readonly bytes: number
}

/** The part of a text that begins at a byte; no character is divided. */
export function partOf(text: string, offset: number): TextPart {
  const bytes = Buffer.from(text)
  let end = Math.min(offset + PART, bytes.length)
  while (end < bytes.length && isInside(bytes[end])) end -= 1
  return {
    text: bytes.toString('utf8', offset, end),
    next: end < bytes.length ? end : undefined,
    bytes: bytes.length,
  }
}

function isInside(byte = 0): boolean {
  return (byte & 0xc0) === 0x80
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16)
}

/** Undefined for arguments that no cursor holds. */
export function printCursor({ tool, given, offset, digest }: Cursor): string | undefined {
  const cursor = Buffer.from(JSON.stringify([tool, given, offset, digest])).toString('base64url')
  return cursor.length > MAX_CURSOR ? undefined : cursor
}

/**
 * Anyone can write a cursor: it only repeats a call that its caller may make anyway.
 *
 * @throws KeyhookError `invalid_cursor`
 */
export function readCursor(cursor: string): Cursor {
  const { value } = readFields(parse(Buffer.from(cursor, 'base64url').toString()), 'cursor')
  if (value === undefined) throw invalidCursor()
  const [tool, given, offset, digest] = value
  return { tool, given, offset, digest }
}

export function invalidCursor(): Error {
  return httpError('invalid_cursor', {
    message: 'This is no cursor of a result. Call the tool that read it again.',
  })
}

function parse(text: string): unknown {
  try {
    return parseJson(text)
  } catch (cause) {
    if (cause instanceof JsonError) return undefined
    throw cause
  }
}
