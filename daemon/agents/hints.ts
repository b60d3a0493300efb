import type { AgentTool } from '../operations/agent.ts'
import type { Operation } from '../operations/operation.ts'
import { READS } from '../operations/operation.ts'

/** Hints of a tool: they help to choose it, and protect nothing. */
export interface ToolHints {
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: boolean
}

/** Methods that replace or remove, and can be repeated without a further effect. */
const REPLACING: ReadonlySet<Operation['method']> = new Set(['PUT', 'PATCH', 'DELETE'])

/** The hints of an operation, by its effect and method. */
export function hintsOf(
  { effect, method }: Pick<Operation, 'effect' | 'method'>,
  { destructive, openWorld }: AgentTool,
): ToolHints {
  const isRead = READS.has(effect)
  const isReplacing = REPLACING.has(method)
  return {
    readOnlyHint: isRead,
    destructiveHint: !isRead && (isReplacing || destructive === true),
    idempotentHint: isRead || isReplacing,
    openWorldHint: effect === 'own' || openWorld === true,
  }
}
