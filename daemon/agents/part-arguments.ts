import { z } from 'zod'
import { httpError } from '../operations/errors.ts'
import { fault } from '../operations/faults.ts'
import type { GivenPart, PartSpec, PartsInput } from '../operations/parts.ts'
import { createInputReader } from '../operations/read-input.ts'

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/
const NOT_BASE64 = 'Must be base64, with its padding.'

/** A file inside JSON: its text, or its bytes in base64. */
const givenFile = z
  .strictObject({
    name: z.string(),
    content: z.string().optional(),
    content_base64: z
      .string()
      .regex(BASE64, { error: NOT_BASE64, abort: true })
      .refine((value) => value.length % 4 === 0, fault('invalid_format', NOT_BASE64))
      .optional(),
  })
  .refine(
    ({ content, content_base64 }) => (content === undefined) !== (content_base64 === undefined),
    fault('exactly_one', 'Give one of content and content_base64.'),
  )

type GivenFile = z.output<typeof givenFile>

/**
 * The parts that arguments stand for, as they would arrive in a multipart body.
 *
 * @throws KeyhookError `invalid_request` for arguments that are no parts
 */
export function readPartArguments(
  declared: PartsInput,
  given: readonly (readonly [string, unknown])[],
): AsyncIterable<GivenPart> {
  const members = Object.entries(declared).map(([name, spec]) => [name, listOf(spec)] as const)
  const read = createInputReader(z.strictObject(Object.fromEntries(members)))
  const { value, faults } = read(Object.fromEntries(given), 'arguments')
  if (value === undefined) throw httpError('invalid_request', { errors: faults })
  return inTurn(declared, value as Readonly<Record<string, readonly (GivenFile | string)[]>>)
}

function listOf({ kind, least, most, limit }: PartSpec): z.ZodType {
  const one = kind === 'file' ? givenFile : z.string().max(limit)
  const list = z.array(one).min(Math.max(least, 1)).max(most)
  return least > 0 ? list : list.optional()
}

async function* inTurn(
  declared: PartsInput,
  given: Readonly<Record<string, readonly (GivenFile | string)[]>>,
): AsyncGenerator<GivenPart> {
  for (const [name, spec] of Object.entries(declared)) {
    for (const one of given[name] ?? []) {
      if (typeof one === 'string') yield { kind: 'text', name, text: one }
      else yield { kind: 'file', name, filename: one.name, bytes: bytesOf(name, one, spec) }
    }
  }
}

/** The size is judged when it is read, as that of a part is. */
async function* bytesOf(
  part: string,
  { content, content_base64 = '' }: GivenFile,
  { limit }: PartSpec,
): AsyncGenerator<Uint8Array> {
  await Promise.resolve()
  const bytes =
    content === undefined ? Buffer.from(content_base64, 'base64') : Buffer.from(content, 'utf8')
  if (bytes.length > limit) {
    throw httpError('payload_too_large', { details: { part, limit_bytes: limit } })
  }
  yield bytes
}
