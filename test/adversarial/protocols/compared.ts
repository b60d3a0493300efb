import type { ToolSpec } from '../../../daemon/agents/tools.ts'
import { READS } from '../../../daemon/operations/operation.ts'
import { WAYS, callTool, isNotOffered, sendSkill } from '../../support/protocols.ts'
import type { SeededRandom } from '../../support/seeded-random.ts'
import type { Answer, AnyBody } from '../../support/world.ts'
import type { Ids } from '../operations/planted.ts'
import type { Input } from './inputs.ts'
import { argumentsOf, bodyOf, inputsOf, pathOf } from './inputs.ts'
import { KINDS } from './kinds.ts'
import type { Counter, Twin } from './twins.ts'
import { alike } from './twins.ts'

/** Asks the same over another protocol. */
export type Over = (
  twin: Twin,
  key: string,
  tool: ToolSpec,
  args: AnyBody,
) => Promise<Answer<AnyBody>>

let asked = 0

/** Each way to call a tool in turn. */
export const OVER_MCP: Over = ({ world }, key, tool, args) => {
  const way = WAYS[asked++ % WAYS.length] ?? 'newest'
  return callTool(world, key, { tool, args }, { way })
}

export const OVER_A2A: Over = ({ world }, key, tool, args) => sendSkill(world, key, { tool, args })

/** Twins, of which one asks over REST and the other over another protocol. */
export interface Pair {
  readonly rest: Twin
  readonly over: Twin
  /** Records of another account. */
  readonly foreign: Ids
  readonly counter: Counter
}

/** What became of a comparison. */
export interface Compared {
  calls: number
  /** Names of the tools that did something, or showed something. */
  readonly allowed: Set<string>
  /** What each tool was told. */
  readonly outcomes: Map<string, Set<string>>
  refused: number
  readonly faults: string[]
  /** All that the other protocol said, by the tool. */
  readonly said: (readonly [tool: string, text: string])[]
}

const nothingCompared = (): Compared => ({
  calls: 0,
  allowed: new Set(),
  outcomes: new Map(),
  refused: 0,
  faults: [],
  said: [],
})

/** Work that others wait for, since nobody does it; of an archived app nothing can be changed. */
const LATE: Readonly<Record<string, number>> = {
  'deploy.publish': 1.1,
  'edits.create': 1.2,
  'apps.archive': 3,
}

/** Reads first, and what ends a record last: later calls need it. */
export function inOrder(tools: readonly ToolSpec[]): readonly ToolSpec[] {
  const rankOf = ({ operation: { effect, method, id } }: ToolSpec): number => {
    if (id in LATE) return LATE[id] ?? 0
    return READS.has(effect) ? 0 : method === 'DELETE' ? 2 : 1
  }
  return tools.toSorted((a, b) => rankOf(a) - rankOf(b))
}

/** @param kinds how many kinds of keys ask for each tool, beside those that may; 0: one that may do everything */
export async function compare(
  { rest, over, foreign, counter }: Pair,
  tools: readonly ToolSpec[],
  ask: Over,
  random: SeededRandom,
  kinds: number,
): Promise<Compared> {
  const result = nothingCompared()
  for (const tool of inOrder(tools)) {
    const [mine, theirs] = [rest, over].map(({ bed }) => inputsOf(tool, bed.ids, foreign))
    for (const [kind, at] of drawCases(tool, random, kinds)) {
      const [own, other] = [mine?.[at], theirs?.[at]]
      if (own === undefined || other === undefined) throw new Error('no input')
      const first = await askRest(rest, await rest.keyOf(kind), tool, own)
      const args = argumentsOf(tool, other)
      const second = await ask(over, await over.keyOf(kind), tool, args)
      result.calls += 1
      result.said.push([tool.name, JSON.stringify([...second.headers, second.body])])
      const fault = differenceOf(
        [first, second],
        [alike(first, rest.bed), alike(second, over.bed)],
        own.name,
        tool,
      )
      const where = `${tool.name} by ${kind}, ${own.name}`
      if (fault !== undefined) result.faults.push(`${where}: ${fault}`)
      const outcomes = result.outcomes.get(tool.name) ?? new Set()
      result.outcomes.set(tool.name, outcomes.add(toldOf(first)))
      if (first.status >= 400) result.refused += 1
      else result.allowed.add(tool.name)
      if (READS.has(tool.operation.effect) || first.status >= 400) continue
      const counts = await Promise.all(
        [rest, over].map(({ user }) => counter.count(user.account_id)),
      )
      const [here, there] = counts.map((one) => JSON.stringify(one))
      if (here !== there) result.faults.push(`${where}: rows ${here} and ${there}`)
    }
  }
  return result
}

/** Which key asks, and the place of its input. */
function drawCases(
  { operation: { access }, use }: ToolSpec,
  random: SeededRandom,
  count: number,
): readonly (readonly [kind: string, at: number])[] {
  // Accounts that have ended have one key alone.
  const scope = count > 0 && typeof access === 'object' ? access.scope : '*:*'
  const all = Object.keys(KINDS)
  if (count >= all.length) {
    return all.flatMap((kind) => [1, 2, 0].map((at) => [kind, at] as const))
  }
  const drawn = Array.from({ length: count }, () => {
    const at = random.oneIn(2) ? 0 : 1 + random.below(2)
    return [random.pickAny(all) ?? '*:*', at] as const
  })
  // A key manages those alone that hold no more: the known one may do everything.
  const manager = use.toolset === 'keys' ? [['*:*', 0] as const] : []
  return [...drawn, ['*:*', 1], [scope, 0], ...manager]
}

async function askRest(
  { world }: Twin,
  key: string,
  tool: ToolSpec,
  input: Input,
): Promise<Answer<AnyBody>> {
  return world.request(tool.operation.method, pathOf(tool, input), { as: key, ...bodyOf(input) })
}

/** In words, how the other protocol differs; undefined: it does not. */
function differenceOf(
  [first, second]: readonly [Answer<AnyBody>, Answer<AnyBody>],
  [here, there]: readonly [string, string],
  input: Input['name'],
  { operation: { access } }: ToolSpec,
): string | undefined {
  const [mine, theirs] = [toldOf(first), toldOf(second)]
  // What REST shows to everyone is shown to live keys over the other protocols.
  if (access === 'public' && (second.status === 401 || second.status === 403)) return undefined
  if (first.status < 400) {
    if (second.status >= 400) return `REST allows it, and not ${theirs}`
    return here === there || 'task' in second.body ? undefined : `${here} and ${there}`
  }
  if (second.status < 400) return `allowed, and REST says ${mine}`
  if (mine === theirs) return undefined
  // Arguments that there are not are refused before the key is asked whether it may.
  if (input === 'wrong' && theirs === '400 invalid_request') return undefined
  if (isNotOffered(second) && first.status === 403) return undefined
  return `${mine}, and ${theirs}`
}

function toldOf({ status, body }: Answer<AnyBody>): string {
  const { error } = body as { readonly error?: { readonly code: string } }
  return error ? `${status} ${error.code}` : String(status)
}
