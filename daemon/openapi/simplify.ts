type Schema = Readonly<Record<string, unknown>>

/**
 * The document as generators of clients read it best, with the same meaning.
 *
 * Writes "a value or null" as a list of types, wherever the value has one type of its own. Generators of clients know
 * that form as nullable; of `anyOf` with `null` they make a union, some of them one that does not compile.
 */
export function simplify<Document>(document: Document): Document {
  return simpler(document) as Document
}

/** Members that hold values, not schemas. */
const VALUES: ReadonlySet<string> = new Set(['example', 'examples', 'default', 'const', 'enum'])

function simpler(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(simpler)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(
    ([name, member]) => [name, VALUES.has(name) ? member : simpler(member)] as const,
  )
  return nullableOf(longOf(openOf(Object.fromEntries(members))))
}

/** Values of any kind are `true`: some generators take an empty schema for an object without members. */
function openOf({ additionalProperties, ...rest }: Schema): Schema {
  if (additionalProperties === undefined) return rest
  const isAny =
    typeof additionalProperties === 'object' &&
    additionalProperties !== null &&
    Object.keys(additionalProperties).length === 0
  return { ...rest, additionalProperties: isAny ? true : additionalProperties }
}

const MAX_INT32 = 2 ** 31 - 1

/** Without a format, clients of Java have 32 bits for an integer. */
function longOf(schema: Schema): Schema {
  const { type, maximum = Infinity } = schema
  return type === 'integer' && Number(maximum) > MAX_INT32 ? { ...schema, format: 'int64' } : schema
}

/** Constraints that null does not meet, as it would have to in the joined form. */
const SPECIAL = ['enum', 'const', 'not', 'allOf', 'anyOf', 'oneOf']

function nullableOf({ anyOf, ...rest }: Schema): Schema {
  const whole = anyOf === undefined ? rest : { anyOf, ...rest }
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return whole
  const [one, nothing] = anyOf as readonly Schema[]
  const isOne = typeof one?.['type'] === 'string' && !SPECIAL.some((name) => name in one)
  if (!isOne || nothing?.['type'] !== 'null') return whole
  return { ...one, ...rest, type: [one['type'], 'null'] }
}
