import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  classifyInboundRequest,
} from './sdk.ts'
import type { GivenArguments } from '../agents/arguments.ts'
import type { Selection } from '../agents/selection.ts'
import type { ToolSpec } from '../agents/tools.ts'
import type { RequestContext } from '../http/state.ts'
import { callTool } from './call-tool.ts'
import type { Message } from './event-stream.ts'
import type { McpCall } from './mcp-call.ts'
import { failureOf } from './mcp-call.ts'
import { printAnswer } from './results.ts'
import { serverInfo } from './server.ts'

/** A call that needs nothing of the protocol's library but the check of its envelope. */
export interface DirectCall {
  readonly id: string | number
  readonly tool: ToolSpec
  readonly given: GivenArguments
  /** What the message says of its client. */
  readonly envelope: Readonly<Record<string, unknown>>
}

const METHOD = 'tools/call'
const REVISION = '2026-07-28'
const MEMBERS: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params'])
const PARAMS: ReadonlySet<string> = new Set(['name', 'arguments', '_meta'])
const PLAIN_JSON = /^application\/json *(?:;|$)/i

/**
 * Reads a `tools/call` of the newest revision that is plainly right, and that asks for one response.
 * Undefined: the library answers it. So what is refused, streamed or of an older revision has one place.
 */
export function readDirectCall(
  ctx: RequestContext,
  message: Message,
  { tools }: Selection,
): DirectCall | undefined {
  const { id, method, params } = message
  if (method !== METHOD || !isRecord(params)) return undefined
  const { name, arguments: given = {}, _meta: envelope } = params
  const tool = typeof name === 'string' ? tools.get(name) : undefined
  if (tool === undefined || !isRecord(given) || !isRecord(envelope)) return undefined
  const { headers } = ctx.req
  const isPlain =
    message.jsonrpc === '2.0' &&
    isId(id) &&
    hasOnly(message, MEMBERS) &&
    hasOnly(params, PARAMS) &&
    envelope['progressToken'] === undefined &&
    envelope[PROTOCOL_VERSION_META_KEY] === REVISION &&
    headers['mcp-protocol-version'] === REVISION &&
    headers['mcp-method'] === METHOD &&
    headers['mcp-name'] === tool.name &&
    PLAIN_JSON.test(headers['content-type'] ?? '')
  return isPlain && isAccepted(message, envelope) ? { id, tool, given, envelope } : undefined
}

function hasOnly(record: object, names: ReadonlySet<string>): boolean {
  return Object.keys(record).every((one) => names.has(one))
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isId(id: unknown): id is string | number {
  return typeof id === 'string' || Number.isSafeInteger(id)
}

/** Envelopes that are remembered, and the characters of the largest. */
const MAX_REMEMBERED = 1000
const MAX_DESCRIBED = 2048
const accepted = new Set<string>()

/**
 * Whether the library accepts the envelope of a message that is right otherwise. A client sends the same
 * description of itself with each message, and reading it takes longer than most reads.
 */
function isAccepted(message: Message, envelope: Readonly<Record<string, unknown>>): boolean {
  // All that the library has a schema for, besides what was looked at before.
  const described = JSON.stringify({
    client: envelope[CLIENT_INFO_META_KEY],
    capabilities: envelope[CLIENT_CAPABILITIES_META_KEY],
    level: envelope[LOG_LEVEL_META_KEY],
  })
  if (accepted.has(described)) return true
  const { kind } = classifyInboundRequest({ httpMethod: 'POST', body: message })
  if (kind !== 'modern' || described.length > MAX_DESCRIBED) return kind === 'modern'
  if (accepted.size >= MAX_REMEMBERED) accepted.clear()
  accepted.add(described)
  return true
}

/** The response to a direct call, as the library would print it. */
export async function answerDirectCall(call: McpCall, direct: DirectCall): Promise<string> {
  const { id, tool, given, envelope } = direct
  try {
    return printAnswer(await callTool(call, tool, given, { envelope }), id, serverInfo(call))
  } catch (cause) {
    return JSON.stringify({ jsonrpc: '2.0', id, error: failureOf(call.ctx, cause) })
  }
}
