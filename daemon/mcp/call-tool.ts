import { CLIENT_INFO_META_KEY } from '@modelcontextprotocol/server'
import { KeyhookError } from '../../lib/errors.ts'
import { memberSpan } from '../../lib/internal/json-text.ts'
import { agentError } from '../agents/errors.ts'
import type { GivenArguments } from '../agents/arguments.ts'
import { splitArguments } from '../agents/arguments.ts'
import type { ToolSpec } from '../agents/tools.ts'
import { clientOf } from '../http/call.ts'
import type { InnerRequest } from '../http/inner-context.ts'
import { READS } from '../operations/operation.ts'
import type { Via } from '../operations/call.ts'
import type { McpCall } from './mcp-call.ts'
import { callOnce, viaOf } from './mcp-call.ts'
import type { ToolAnswer } from './results.ts'
import { MAX_RESULT, toAnswer, toRefusal } from './results.ts'

/** Seconds that a tool waits for the end of its work: clients give up after a minute. */
const WAIT = '20'
/** The text and the value of a result, and what is around them. */
const RESULT_BYTES = 2 * MAX_RESULT + 4096

/**
 * Calls the operation of a tool; a refusal is an answer, too.
 *
 * @param envelope what each message of the newest revision says of its client
 */
export async function callTool(
  call: McpCall,
  tool: ToolSpec,
  given: GivenArguments,
  envelope: Readonly<Record<string, unknown>> = {},
): Promise<ToolAnswer> {
  const { ctx, options } = call
  const via = viaOf(clientOf(clientName(envelope) ?? ctx.get('user-agent')))
  try {
    // Before the call: what is refused for its bytes did nothing.
    ctx.state.hold?.reserve(RESULT_BYTES)
    const response = await callOnce(call, requestOf(call, tool, given, via))
    if (READS.has(tool.operation.effect)) requireFit(response.text)
    return toAnswer(response)
  } catch (cause) {
    if (!(cause instanceof KeyhookError)) throw cause
    return toRefusal(cause, ctx.state.requestId, options.platform.baseUrl)
  }
}

/** The client's name for itself. */
function clientName(envelope: Readonly<Record<string, unknown>>): string | undefined {
  const info = envelope[CLIENT_INFO_META_KEY] as { readonly name?: unknown } | undefined
  return typeof info?.name === 'string' ? info.name : undefined
}

function requestOf(
  { ctx, selection }: McpCall,
  tool: ToolSpec,
  given: GivenArguments,
  via: Via,
): InnerRequest {
  const { operation, args } = tool
  // Only an argument that is the whole body is copied to the byte.
  const isCopied = args.some(({ place }) => place === 'whole')
  const split = splitArguments(tool, given, isCopied ? argumentsText(ctx.state.bodyText) : '')
  const fixed = Object.entries(selection.fixed).filter(([name]) =>
    operation.path.includes(`{${name}}`),
  )
  const waits = args.some(({ name, place }) => name === 'wait' && place === 'query')
  return {
    ...split,
    operation,
    params: { ...split.params, ...(Object.fromEntries(fixed) as Record<string, string>) },
    query: waits ? { wait: WAIT, ...split.query } : split.query,
    via,
  }
}

/** The text of the arguments in that of the message. */
function argumentsText(message: string): string | undefined {
  const params = memberSpan(message, message.indexOf('{'), 'params')
  const given = params && memberSpan(message, params.from, 'arguments')
  return given && message.slice(given.from, given.to)
}

/** @throws KeyhookError `result_too_large` */
function requireFit(text: string): void {
  const bytes = Buffer.byteLength(text)
  if (bytes > MAX_RESULT) throw agentError('result_too_large', { details: { bytes } })
}
