import { KeyhookError } from '../../lib/errors.ts'
import { memberSpan } from '../../lib/internal/json-text.ts'
import type { GivenArguments } from '../agents/arguments.ts'
import { splitArguments } from '../agents/arguments.ts'
import type { ToolSpec } from '../agents/tools.ts'
import { takesWait, withoutWaiting } from '../agents/tools.ts'
import type { InnerRequest } from '../http/inner-context.ts'
import { READS } from '../operations/operation.ts'
import type { Via } from '../operations/call.ts'
import { fitRead } from './fit-result.ts'
import type { Reporter, Wait } from './follow-work.ts'
import { MAX_WAIT, followWork, mayFollow } from './follow-work.ts'
import type { Envelope, McpCall } from './mcp-call.ts'
import { callOnce, forgetMessage, viaOf } from './mcp-call.ts'
import type { ToolAnswer } from './results.ts'
import { MAX_RESULT, toAnswer, toRefusal } from './results.ts'

/** Seconds that an operation waits for the end of its work: clients give up after a minute. */
const WAIT = '20'
/** The text and the value of a result, and what is around them. */
const RESULT_BYTES = 2 * MAX_RESULT + 4096

/** How a tool was called. */
export interface CallSource {
  readonly envelope?: Envelope
  /** Members of the message that lead to the arguments. Default: those of the tool itself. */
  readonly at?: readonly string[]
  /** Undefined: the client asked for no progress. */
  readonly reporter?: Reporter | undefined
}

const ARGUMENTS = ['params', 'arguments'] as const

/** Calls the operation of a tool; a refusal is an answer, too. */
export async function callTool(
  call: McpCall,
  tool: ToolSpec,
  given: GivenArguments,
  { envelope, at = ARGUMENTS, reporter }: CallSource = {},
): Promise<ToolAnswer> {
  const { ctx, options } = call
  const via = viaOf(call, envelope)
  const wait = followedFor(call, tool, given)
  try {
    // Before the call: what is refused for its bytes did nothing.
    ctx.state.hold?.reserve(RESULT_BYTES)
    const request = requestOf(call, tool, given, via, at, wait)
    if (READS.has(tool.operation.effect)) {
      const kept = { ...given }
      if (takesWait(tool)) {
        // What is read again, here or by a cursor, is read at once.
        Reflect.deleteProperty(kept, 'wait')
        forgetMessage(call, given)
      }
      const response = await callOnce(call, request)
      const again = withoutWaiting(tool)
      const read = (these: GivenArguments) => callOnce(call, requestOf(call, again, these, via))
      return await fitRead(call, { tool, given: kept, read }, response)
    }
    const response = await callOnce(call, request)
    if (wait === undefined) return toAnswer(response)
    forgetMessage(call, given)
    return toAnswer(await followWork(call, tool, response, { via, wait, reporter }))
  } catch (cause) {
    if (!(cause instanceof KeyhookError)) throw cause
    return toRefusal(cause, ctx.state.requestId, options.platform.baseUrl)
  }
}

/**
 * Seconds for which the work of a tool is followed here, so that its progress is reported and the message
 * is not kept; `undefined`: the operation waits by itself, or there is nothing to wait for.
 */
function followedFor(call: McpCall, tool: ToolSpec, given: GivenArguments): Wait | undefined {
  if (READS.has(tool.operation.effect) || !takesWait(tool) || !mayFollow(call, tool))
    return undefined
  const { wait } = given
  if (wait === undefined) return 'default'
  return Number.isInteger(wait) && Number(wait) > 0 && Number(wait) <= MAX_WAIT
    ? Number(wait)
    : undefined
}

/**
 * The request that a tool's arguments stand for.
 *
 * @param at members of the message that lead to the arguments; undefined: they are not from the message
 * @param followed how long its work is followed; undefined: the operation waits by itself
 */
export function requestOf(
  { ctx, selection }: McpCall,
  tool: ToolSpec,
  given: GivenArguments,
  via: Via,
  at?: readonly string[],
  followed?: Wait,
): InnerRequest {
  const { operation, args } = tool
  // Only an argument that is the whole body is copied to the byte.
  const isCopied = at !== undefined && args.some(({ place }) => place === 'whole')
  const split = splitArguments(tool, given, isCopied ? memberAt(ctx.state.bodyText, at) : '')
  const fixed = Object.entries(selection.fixed).filter(([name]) =>
    operation.path.includes(`{${name}}`),
  )
  // Field by field: spreading into a larger literal takes longer than all else here.
  const { params, query, body, parts, idempotencyKey } = split
  return {
    operation,
    params: fixed.length === 0 ? params : { ...params, ...Object.fromEntries(fixed) },
    query: takesWait(tool) ? waiting(query, followed) : query,
    body,
    parts,
    idempotencyKey,
    via,
  }
}

function waiting(query: InnerRequest['query'], followed: Wait | undefined) {
  return followed === undefined ? { wait: WAIT, ...query } : { ...query, wait: '0' }
}

/** The text of a member of members in that of a message. */
function memberAt(text: string, names: readonly string[]): string | undefined {
  let from = text.indexOf('{')
  let to = text.length
  for (const name of names) {
    const span = memberSpan(text, from, name)
    if (span === undefined) return undefined
    ;({ from, to } = span)
  }
  return text.slice(from, to)
}
