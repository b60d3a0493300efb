import { isTool } from '../operations/agent.ts'
import type { AgentSkill } from '../operations/agent.ts'
import type { Operation } from '../operations/operation.ts'
import type { ToolSpec } from './tools.ts'

/** An operation that is asked for by a message. */
export interface SkillSpec {
  /** Name of its tool. */
  readonly id: string
  readonly skill: AgentSkill
  readonly tool: ToolSpec
  /** Scopes of the operation and of its artifacts, without which some artifacts are left out. */
  readonly scopes: readonly string[]
}

/** The skills among tools, in their order. */
export function skillsOf(tools: readonly ToolSpec[]): readonly SkillSpec[] {
  const operations = new Map(tools.map(({ operation }) => [operation.id, operation]))
  return tools.flatMap((tool) => {
    const { skill } = tool.use
    if (skill === undefined) return []
    const reads = (skill.artifacts ?? []).map(({ operation }) => operations.get(operation))
    const scopes = [tool.operation, ...reads].flatMap(scopeOf)
    return [{ id: tool.name, skill, tool, scopes: [...new Set(scopes)] }]
  })
}

function scopeOf(operation: Operation | undefined): readonly string[] {
  return typeof operation?.access === 'object' ? [operation.access.scope] : []
}

/** Whether an operation is also a skill. */
export function isSkill({ agent }: Pick<Operation, 'agent'>): boolean {
  return isTool(agent) && agent.skill !== undefined
}
