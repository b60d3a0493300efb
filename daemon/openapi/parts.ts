import { z } from 'zod'
import type { PartSpec, PartsInput } from '../operations/parts.ts'

/** OpenAPI's schema of bytes. */
export const FILE_SCHEMA = { type: 'string', format: 'binary' } as const

/** The members of a JSON body that can also be sent as a form. */
type Members = Readonly<Record<string, z.core.$ZodType>>

/**
 * A multipart body as an object: a part that may occur several times is a list.
 *
 * @param body the JSON body that the parts represent: a text part has its schema there
 */
export function partsSchema(parts: PartsInput, body?: z.ZodType): z.ZodObject {
  const members: Members = body instanceof z.ZodObject ? body.shape : {}
  // Of `files` and its alias `files[]`, clients would have one name twice: the document has the first.
  const entries = Object.entries(parts).map(([name, part]) => {
    const schema = partSchema(name, part, members)
    return [name, part.least > 0 ? schema : schema.optional()]
  })
  return z.strictObject(Object.fromEntries(entries) as Record<string, z.ZodType>)
}

/** The media types of each part that declares some. */
export function partsEncoding(
  parts: PartsInput,
): Readonly<Record<string, { contentType: string }>> {
  return Object.fromEntries(
    Object.entries(parts).flatMap(([name, { mediaTypes }]) =>
      mediaTypes === undefined ? [] : [[name, { contentType: mediaTypes.join(', ') }]],
    ),
  )
}

function partSchema(name: string, part: PartSpec, members: Members): z.ZodType {
  const { kind, description, least, most } = part
  const one =
    kind === 'file' ? z.unknown().meta({ override: FILE_SCHEMA }) : textOf(members[name], part)
  if (most === 1) return one.meta({ description })
  return z.array(one).min(least).max(most).meta({ description })
}

/**
 * A text that is a member of a JSON body has its schema; an object is sent as JSON, OpenAPI's default
 * encoding.
 */
function textOf(member: z.core.$ZodType | undefined, { limit }: PartSpec): z.ZodType {
  if (member === undefined) return z.string().max(limit)
  return (member instanceof z.ZodOptional ? member.unwrap() : member) as z.ZodType
}
