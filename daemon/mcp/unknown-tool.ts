import type { KeyhookError } from '../../lib/errors.ts'
import { suggest } from '../../lib/internal/nearest.ts'
import { agentError } from '../agents/errors.ts'
import type { Selection } from '../agents/selection.ts'
import { findOwnTool, ownToolsOf } from './own-tools.ts'

/** The refusal of a tool that was not chosen: it names the address that has it, or else a near name. */
export function unknownTool(selection: Selection, name: string): KeyhookError {
  const { toolsets, tools, reach } = selection
  const own = findOwnTool({ ...selection, api: true }, name)
  const toolset = reach.get(name)?.use.toolset ?? (own && 'api')
  if (toolset !== undefined) {
    const choice = `?toolsets=${[...new Set([...toolsets, toolset])].join(',')}`
    const message = `The address does not choose the toolset of this tool. Choose it by ${choice}.`
    return agentError('unknown_tool', { message, details: { toolset, choice } })
  }
  // The chosen ones first: of equally near names the first is suggested.
  const names = [
    ...tools.keys(),
    ...ownToolsOf(selection).map(({ listed }) => listed.name),
    ...reach.keys(),
  ]
  const message = `There is no tool of this name at this address.${suggest(name, names)}`
  return agentError('unknown_tool', { message })
}
