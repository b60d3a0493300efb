/**
 * Three tools that reach every operation, for clients that take few tools: one finds operations, one calls
 * those that read, and one calls the others.
 *
 * @module
 */
import { z } from 'zod'
import type { GivenArguments } from '../agents/arguments.ts'
import { agentError } from '../agents/errors.ts'
import { findTools } from '../agents/find-tools.ts'
import type { ToolSpec } from '../agents/tools.ts'
import { READS } from '../operations/operation.ts'
import type { CallSource } from './call-tool.ts'
import { callTool } from './call-tool.ts'
import type { McpCall } from './mcp-call.ts'
import { READ_HINTS, ownTool } from './own-tool.ts'
import { MAX_RESULT, toOwnAnswer } from './results.ts'

/** Operations that one search describes. */
const FOUND = 5

const found = z.strictObject({
  name: z.string(),
  title: z.string(),
  call_with: z.enum(['api_read', 'api_write']),
  description: z.string().optional(),
  arguments: z
    .record(z.string(), z.unknown())
    .optional()
    .meta({ description: 'JSON Schema of its arguments.' }),
})

export const API_SEARCH = ownTool({
  name: 'api_search',
  title: 'Find operations',
  description: `Find operations of the API by words, such as "create webhook": what they do, their arguments, and the tool that calls them. Without words: the names of all operations. At most ${FOUND} are found, and the best are described.`,
  annotations: READ_HINTS,
  input: z.strictObject({
    words: z.string().max(200).optional().meta({ description: 'Words, or the name of one.' }),
  }),
  output: z.strictObject({ operations: z.array(found) }),
  run({ ctx, options, selection }, { words = '' }) {
    const { principal } = ctx.state
    const tools = [...selection.reach.values()].filter(
      ({ operation }) => principal !== undefined && options.calls.allows(principal, operation),
    )
    if (words.trim() === '') return Promise.resolve(toOwnAnswer({ operations: tools.map(name) }))
    const named = tools.find((one) => one.name === words.trim())
    const shown = named === undefined ? search(tools, words) : [describe(named)]
    return Promise.resolve(toOwnAnswer({ operations: fitting(shown) }))
  },
})

type Found = z.input<typeof found>

/** Those with as many of the words as the best one are described, the others are named. */
function search(tools: readonly ToolSpec[], words: string): readonly Found[] {
  const matching = findTools(tools, words).slice(0, FOUND)
  const most = matching[0]?.matches
  return matching.map(({ tool, matches }) => (matches === most ? describe(tool) : name(tool)))
}

function name({ listed, operation }: ToolSpec): Found {
  const isRead = READS.has(operation.effect)
  return { name: listed.name, title: listed.title, call_with: isRead ? 'api_read' : 'api_write' }
}

function describe(tool: ToolSpec): Found {
  const { description, inputSchema } = tool.listed
  return { ...name(tool), description, arguments: { ...inputSchema } }
}

/** Those beyond the size of a result are only named. */
function fitting(described: readonly Found[]): readonly Found[] {
  let left = MAX_RESULT
  return described.map((one) => {
    left -= JSON.stringify(one).length
    const { description: _, arguments: __, ...named } = one
    return left < 0 ? named : one
  })
}

const input = z.strictObject({
  name: z.string().max(64).meta({ description: 'Name of the operation, from api_search.' }),
  arguments: z
    .record(z.string(), z.unknown())
    .optional()
    .meta({ description: 'Its arguments, by the schema from api_search.' }),
})

export const API_READ = ownTool({
  name: 'api_read',
  title: 'Call an operation that reads',
  description: 'Call any operation that changes nothing, by its name from api_search.',
  annotations: READ_HINTS,
  input,
  run: (call, given, source) =>
    callNamed(call, given, source, ({ operation }) => READS.has(operation.effect)),
})

export const API_WRITE = ownTool({
  name: 'api_write',
  title: 'Call an operation that changes something',
  description:
    'Call any operation that changes something, by its name from api_search. Where its arguments take an idempotency_key, a call repeated with it has its effect once.',
  annotations: {
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: false,
    openWorldHint: true,
  },
  input,
  run: (call, given, source) =>
    callNamed(call, given, source, ({ operation }) => !READS.has(operation.effect)),
})

/** Under the authority, the limits and the records of the operation itself. */
async function callNamed(
  call: McpCall,
  {
    name,
    arguments: given = {},
  }: { readonly name: string; readonly arguments?: GivenArguments | undefined },
  source: CallSource,
  isCalled: (tool: ToolSpec) => boolean,
): ReturnType<typeof callTool> {
  const tool = call.selection.reach.get(name)
  if (tool === undefined || !isCalled(tool)) throw agentError('unknown_operation')
  return callTool(call, tool, given, { ...source, at: ['params', 'arguments', 'arguments'] })
}
