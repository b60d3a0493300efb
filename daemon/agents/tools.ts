import { TOOLSETS, isTool, toolName } from '../operations/agent.ts'
import type { AgentTool } from '../operations/agent.ts'
import type { Family } from '../operations/family.ts'
import type { Operation } from '../operations/operation.ts'
import type { ToolHints } from './hints.ts'
import { hintsOf } from './hints.ts'
import type { ToolArgument } from './input-schema.ts'
import { argumentsOf, inputSchemaOf, outputSchemaOf, takesKey } from './input-schema.ts'
import type { ObjectSchema } from './json-schema.ts'

/** Maximum tools of a client that chooses none. */
export const MAX_DEFAULT_TOOLS = 25

/** A tool as a protocol lists it. */
export interface ListedTool {
  /** `apps_create` */
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: ObjectSchema
  readonly outputSchema: ObjectSchema
  readonly annotations: ToolHints
}

/**
 * An operation as a tool. What follows from schemas is made when it is first read, which a start need not wait for: it
 * throws TypeError for two arguments of one name, and for a result that is no object.
 */
export interface ToolSpec {
  readonly name: string
  readonly operation: Operation
  readonly use: AgentTool
  readonly args: readonly ToolArgument[]
  readonly listed: ListedTool
  /** `listed` as JSON. */
  readonly text: string
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/

/**
 * The tools of all operations that agents use, in the order of toolsets and families.
 *
 * @throws TypeError for a name that is not unique or not of a tool, and for more default tools than a client takes
 */
export function toolsOf(families: readonly Family[]): readonly ToolSpec[] {
  const tools = families
    .flatMap((family) => family.operations)
    .flatMap((operation) => (isTool(operation.agent) ? [toolOf(operation, operation.agent)] : []))
    .toSorted((a, b) => rankOf(a) - rankOf(b))
  const names = new Set<string>()
  for (const { name } of tools) {
    if (!NAME.test(name) || names.has(name)) throw new TypeError(`not the name of a tool: ${name}`)
    names.add(name)
  }
  const chosen = tools.filter(({ use }) => use.default === true).length
  if (chosen > MAX_DEFAULT_TOOLS) throw new TypeError(`${chosen} default tools are too many`)
  return tools
}

/** The other toolsets come after those of this service. */
function rankOf({ use: { toolset } }: ToolSpec): number {
  const rank = (TOOLSETS as readonly string[]).indexOf(toolset)
  return rank === -1 ? TOOLSETS.length : rank
}

/** Each is described once: several protocols list it. */
const described = new WeakMap<Operation, ToolSpec>()

function toolOf(operation: Operation, use: AgentTool): ToolSpec {
  const known = described.get(operation)
  if (known !== undefined) return known
  const tool = specOf(
    operation,
    use,
    () => argumentsOf(operation),
    (args) => ({
      name: toolName(operation.id),
      title: titleOf(operation),
      description: describe(operation),
      inputSchema: inputSchemaOf(args),
      outputSchema: outputSchemaOf(operation),
      annotations: hintsOf(operation, use),
    }),
  )
  described.set(operation, tool)
  return tool
}

function specOf(
  operation: Operation,
  use: AgentTool,
  read: () => readonly ToolArgument[],
  list: (args: readonly ToolArgument[]) => ListedTool,
): ToolSpec {
  let args: readonly ToolArgument[] | undefined
  let listed: ListedTool | undefined
  let text: string | undefined
  return {
    name: toolName(operation.id),
    operation,
    use,
    get args() {
      return (args ??= read())
    },
    get listed() {
      return (listed ??= list(this.args))
    },
    get text() {
      return (text ??= JSON.stringify(this.listed))
    },
  }
}

/** Whether the operation of a tool may wait for the end of its work. */
export function takesWait({ args }: Pick<ToolSpec, 'args'>): boolean {
  return args.some(({ name, place }) => name === 'wait' && place === 'query')
}

/** The same tool for a read that is answered at once: it takes no `wait`. It is not listed. */
export function withoutWaiting(tool: ToolSpec): ToolSpec {
  if (!takesWait(tool)) return tool
  const others = (): readonly ToolArgument[] => tool.args.filter(({ name }) => name !== 'wait')
  return specOf(tool.operation, tool.use, others, () => tool.listed)
}

/** The same tool without an argument that is given elsewhere. */
export function withoutArgument(tool: ToolSpec, name: string): ToolSpec {
  const others = (): readonly ToolArgument[] => tool.args.filter((one) => one.name !== name)
  const list = (args: readonly ToolArgument[]): ListedTool => ({
    ...tool.listed,
    inputSchema: inputSchemaOf(args),
  })
  return specOf(tool.operation, tool.use, others, list)
}

/** The summary up to its first colon, semicolon or comma. */
function titleOf({ summary }: Operation): string {
  return summary.split(/[:;,]/, 1)[0] ?? summary
}

function describe(operation: Operation): string {
  const { summary, access, quote } = operation
  return [
    `${summary}.`,
    ...(typeof access === 'object' ? [`Needs ${access.scope}.`] : []),
    ...(quote === undefined ? [] : ['With dry_run only its price.']),
    ...(takesKey(operation)
      ? ['A call repeated with its idempotency_key has its effect once.']
      : []),
  ].join(' ')
}
