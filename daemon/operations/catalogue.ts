import { ownVersion } from '../machine/own-version.ts'
import { isTool, toolName } from './agent.ts'
import type { AgentSkill, AgentUse } from './agent.ts'
import type { Family } from './family.ts'
import type { Operation } from './operation.ts'
import type { Catalogue, CatalogueSkill, CatalogueTool } from '../platform.ts'

/** The names that the families declare. */
export function catalogueOf(service: string, families: readonly Family[]): Catalogue {
  const operations = families.flatMap((family) => family.operations)
  return {
    service,
    version: ownVersion(),
    families: families.map((family) => ({
      name: family.name,
      operations: family.operations.map(({ id, method, path, access, agent }) => ({
        id,
        method,
        path,
        access,
        scope: typeof access === 'object' ? access.scope : null,
        tool: toolOf(id, agent),
      })),
    })),
    skills: operations.flatMap((one) => skillOf(one, operations)),
  }
}

function skillOf(operation: Operation, known: readonly Operation[]): readonly CatalogueSkill[] {
  const { id, summary, access, agent } = operation
  if (!isTool(agent) || agent.skill === undefined) return []
  const { name, tags, examples } = agent.skill
  return [
    {
      id: toolName(id),
      operation: id,
      name,
      description: `${summary}.`,
      tags,
      examples,
      access,
      scopes: skillScopes(operation, agent.skill, known),
    },
  ]
}

/** Scopes of a skill's operation and of its artifacts, without which some artifacts are left out. */
export function skillScopes(
  operation: Operation,
  { artifacts = [] }: AgentSkill,
  known: readonly Operation[],
): readonly string[] {
  const reads = artifacts.flatMap((one) => known.filter(({ id }) => id === one.operation))
  const scopes = [operation, ...reads].flatMap(({ access }) =>
    typeof access === 'object' ? [access.scope] : [],
  )
  return [...new Set(scopes)]
}

function toolOf(id: string, use: AgentUse): CatalogueTool | null {
  if (!isTool(use)) return null
  const { toolset, default: byDefault = false, skill } = use
  return { name: toolName(id), toolset, default: byDefault, skill: skill?.name ?? null }
}
