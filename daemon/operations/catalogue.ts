import { createRequire } from 'node:module'
import { isTool, toolName } from './agent.ts'
import type { AgentUse } from './agent.ts'
import type { Family } from './family.ts'
import type { Catalogue, CatalogueTool } from '../platform.ts'

/** The names that the families declare. */
export function catalogueOf(service: string, families: readonly Family[]): Catalogue {
  return {
    service,
    version: ownVersion(),
    families: families.map(({ name, operations }) => ({
      name,
      operations: operations.map(({ id, method, path, access, agent }) => ({
        id,
        method,
        path,
        access,
        scope: typeof access === 'object' ? access.scope : null,
        tool: toolOf(id, agent),
      })),
    })),
  }
}

function toolOf(id: string, use: AgentUse): CatalogueTool | null {
  if (!isTool(use)) return null
  const { toolset, default: byDefault = false, skill } = use
  return { name: toolName(id), toolset, default: byDefault, skill: skill?.name ?? null }
}

/** The version of this package. */
export function ownVersion(): string {
  const load = createRequire(import.meta.url)
  return (load('keyhook/package.json') as { readonly version: string }).version
}
