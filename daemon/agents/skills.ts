import type { AgentSkill } from '../operations/agent.ts'
import { skillScopes } from '../operations/catalogue.ts'
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
  const operations = tools.map(({ operation }) => operation)
  return tools.flatMap((tool) => {
    const { skill } = tool.use
    if (skill === undefined) return []
    return [{ id: tool.name, skill, tool, scopes: skillScopes(tool.operation, skill, operations) }]
  })
}
