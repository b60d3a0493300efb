import { KeyhookError } from '../../lib/errors.ts'
import type { GivenArguments } from '../agents/arguments.ts'
import type { Selection } from '../agents/selection.ts'
import type { ToolSpec } from '../agents/tools.ts'
import { API_READ, API_SEARCH, API_WRITE } from './api-tools.ts'
import type { CallSource } from './call-tool.ts'
import type { McpCall } from './mcp-call.ts'
import type { OwnTool } from './own-tool.ts'
import { READ_MORE } from './read-more.ts'
import type { ToolAnswer } from './results.ts'
import { toRefusal } from './results.ts'

/**
 * The tools that are no operations, of those that a caller is offered.
 *
 * @param offered the operations that it is offered as tools
 */
export function ownToolsFor(
  selection: Selection,
  offered: readonly ToolSpec[],
): readonly OwnTool[] {
  const api = apiTools(selection)
  const reads = api.length > 0 || offered.some(({ listed }) => listed.annotations.readOnlyHint)
  return reads ? [...api, READ_MORE] : api
}

function apiTools({ api, readOnly }: Selection): readonly OwnTool[] {
  if (!api) return []
  return readOnly ? [API_SEARCH, API_READ] : [API_SEARCH, API_READ, API_WRITE]
}

/** Those that an address chooses, whoever calls. */
export function ownToolsOf(selection: Selection): readonly OwnTool[] {
  return [...apiTools(selection), READ_MORE]
}

export function findOwnTool(selection: Selection, name: string): OwnTool | undefined {
  return ownToolsOf(selection).find(({ listed }) => listed.name === name)
}

/** Runs it; a refusal is an answer, too. */
export async function callOwnTool(
  call: McpCall,
  tool: OwnTool,
  given: GivenArguments,
  source: CallSource,
): Promise<ToolAnswer> {
  try {
    return await tool.run(call, given, source)
  } catch (cause) {
    if (!(cause instanceof KeyhookError)) throw cause
    return toRefusal(cause, call.ctx.state.requestId, call.options.platform.baseUrl)
  }
}
