import type { z } from 'zod'
import type { GivenArguments } from '../agents/arguments.ts'
import type { ObjectSchema } from '../agents/json-schema.ts'
import { mergeObjects, toPlainSchema } from '../agents/json-schema.ts'
import type { ListedTool } from '../agents/tools.ts'
import { httpError } from '../operations/errors.ts'
import { createInputReader } from '../operations/read-input.ts'
import type { CallSource } from './call-tool.ts'
import type { McpCall } from './mcp-call.ts'
import type { ToolAnswer } from './results.ts'

/** A tool that is no operation: it finds operations, calls them, or reads on in their results. */
export interface OwnTool {
  readonly listed: ListedTool
  /** @throws KeyhookError its refusal */
  run(call: McpCall, given: GivenArguments, source: CallSource): Promise<ToolAnswer>
}

interface Declared<Input extends z.ZodObject> extends Pick<
  ListedTool,
  'name' | 'title' | 'description' | 'annotations'
> {
  readonly input: Input
  /** Undefined: any object. */
  readonly output?: z.ZodType
  run(call: McpCall, input: z.output<Input>, source: CallSource): Promise<ToolAnswer>
}

const ANY: ObjectSchema = { type: 'object', properties: {}, additionalProperties: true }

/** Declares a tool with the type of its arguments. */
export function ownTool<Input extends z.ZodObject>(declared: Declared<Input>): OwnTool {
  const { input, output, run, ...listed } = declared
  const read = createInputReader(input)
  return {
    listed: {
      ...listed,
      inputSchema: mergeObjects([toPlainSchema(input, 'input')]),
      outputSchema: output === undefined ? ANY : mergeObjects([toPlainSchema(output, 'output')]),
    },
    async run(call, given, source) {
      const parsed = read(given, 'arguments')
      if (parsed.value === undefined) {
        throw httpError('invalid_request', { errors: parsed.faults ?? [] })
      }
      return run(call, parsed.value, source)
    },
  }
}

/** Hints of a tool that reads. */
export const READ_HINTS: ListedTool['annotations'] = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
}
