/**
 * Commands of families that the command line does not have itself: a running daemon describes those of its plugins.
 *
 * @module
 */
import { z } from 'zod'
import type { Family } from './family.ts'
import type { Operation } from './operation.ts'

/** Where a daemon describes them on its control socket. */
export const COMMANDS_PATH = '/commands'

type Json = Readonly<Record<string, unknown>>

/** One operation with a command, as JSON: what it declares, without its functions. */
interface Described {
  readonly declared: Json
  /** Schemas of the parts of its input. */
  readonly input: { readonly [Part in InputPart]?: Json }
  /** Whether a request without a body is accepted. */
  readonly isBodyOptional: boolean
}

const INPUT_PARTS = ['params', 'query', 'body'] as const

type InputPart = (typeof INPUT_PARTS)[number]

const list = z.array(
  z.object({
    declared: z.looseObject({ id: z.string(), command: z.string() }),
    input: z.object({
      params: z.looseObject({}).optional(),
      query: z.looseObject({}).optional(),
      body: z.looseObject({}).optional(),
    }),
    isBodyOptional: z.boolean(),
  }),
)

/** What the command line needs of these families' operations. */
export function describeCommands(families: readonly Family[]): readonly Described[] {
  return families
    .flatMap(({ operations }) => operations)
    .filter(({ command, input }) => command !== undefined && input.form === undefined)
    .map(describe)
}

function describe(operation: Operation): Described {
  const { id, summary, method, path, command, secret, example, input } = operation
  const given = INPUT_PARTS.flatMap((part) => {
    const schema = input[part]
    return schema === undefined
      ? []
      : [[part, z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })] as const]
  })
  return {
    declared: { id, summary, method, path, command, secret, example, parts: input.parts },
    input: Object.fromEntries(given),
    isBodyOptional: input.body?.safeParse(undefined).success ?? false,
  }
}

/**
 * The operations of such a description: they have the form of others, and cannot be run here.
 *
 * @throws Error for text of another version
 */
export function readCommands(text: string): readonly Operation[] {
  return list.parse(JSON.parse(text)).map(({ declared, input, isBodyOptional }) => {
    const { parts, ...rest } = declared
    const schemas = INPUT_PARTS.flatMap((part) => {
      const schema = input[part]
      return schema === undefined ? [] : [[part, schemaOf(schema, isBodyOptional)] as const]
    })
    const given = { ...Object.fromEntries(schemas), ...(parts === undefined ? {} : { parts }) }
    return { ...rest, input: given } as unknown as Operation
  })
}

/** A schema of which only its JSON Schema is known: the service validates. */
function schemaOf(json: Json, isOptional: boolean): z.ZodType {
  const schema: z.ZodType = isOptional ? z.unknown() : z.looseObject({})
  schema._zod.toJSONSchema = () => ({ ...json })
  return schema
}
