import type { PartSpec, PartsInput } from '../parts.ts'

/** What OpenAPI has for bytes. */
export const FILE_SCHEMA = { type: 'string', format: 'binary' } as const

/** A multipart body as an object: a part of which there may be several is a list. */
export function partsSchema(parts: PartsInput) {
  const entries = Object.entries(parts)
  const aliases = entries.flatMap(([, part]) =>
    part.alias === undefined ? [] : [[part.alias, part] as const],
  )
  const named = [...entries, ...aliases]
  return {
    type: 'object' as const,
    properties: Object.fromEntries(named.map(([name, part]) => [name, partSchema(part)])),
    required: entries.filter(([, { least }]) => least > 0).map(([name]) => name),
    additionalProperties: false,
  }
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

function partSchema({ kind, description, least, most, limit }: PartSpec) {
  const one = kind === 'file' ? FILE_SCHEMA : { type: 'string' as const, maxLength: limit }
  if (most === 1) return { ...one, description }
  return { type: 'array' as const, items: one, minItems: least, maxItems: most, description }
}
