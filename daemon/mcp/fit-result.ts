import { agentError } from '../agents/errors.ts'
import type { GivenArguments } from '../agents/arguments.ts'
import type { ToolSpec } from '../agents/tools.ts'
import type { InnerResponse } from '../http/inner-context.ts'
import type { McpCall } from './mcp-call.ts'
import { digestOf, partOf, printCursor } from './read-on.ts'
import type { ToolAnswer } from './results.ts'
import { MAX_RESULT, toAnswer, toPartAnswer, toRefusal } from './results.ts'

/** What is around the records of a page. */
const AROUND = 1024

/** A read, and how it is repeated with other arguments. */
export interface RepeatableRead {
  readonly tool: ToolSpec
  readonly given: GivenArguments
  read(given: GivenArguments): Promise<InnerResponse>
}

/**
 * The answer of a read. Where it is too large, a list has a shorter page, whose own cursor reads on;
 * anything else is refused with its first part, and with the cursor of the next one.
 */
export async function fitRead(
  call: McpCall,
  { tool, given, read }: RepeatableRead,
  response: InnerResponse,
): Promise<ToolAnswer> {
  if (isFit(response)) return toAnswer(response)
  const limit = shorterPage(tool, response.text)
  if (limit === undefined) return firstPart(call, tool, given, response)
  const shorter = { ...given, limit }
  const page = await read(shorter)
  return isFit(page) ? toAnswer(page) : firstPart(call, tool, shorter, page)
}

function isFit({ text }: InnerResponse): boolean {
  return Buffer.byteLength(text) <= MAX_RESULT
}

/** How many records of the page fit, at least one; undefined for what is no page of several. */
function shorterPage({ args }: ToolSpec, text: string): number | undefined {
  if (!args.some(({ name, place }) => name === 'limit' && place === 'query')) return undefined
  const { data } = JSON.parse(text) as { readonly data?: readonly unknown[] }
  if (!Array.isArray(data) || data.length < 2) return undefined
  let left = MAX_RESULT - AROUND
  const beyond = data.findIndex((record) => {
    left -= Buffer.byteLength(JSON.stringify(record)) + 1
    return left < 0
  })
  return Math.max(1, beyond)
}

function firstPart(
  { ctx, options }: McpCall,
  tool: ToolSpec,
  given: GivenArguments,
  { text }: InnerResponse,
): ToolAnswer {
  const part = partOf(text, 0)
  const digest = digestOf(text)
  const cursor =
    part.next === undefined
      ? undefined
      : printCursor({ tool: tool.name, given, offset: part.next, digest })
  const details = { bytes: part.bytes, ...(cursor === undefined ? {} : { cursor }) }
  const error = agentError('result_too_large', { details })
  const refused = toRefusal(error, ctx.state.requestId, options.platform.baseUrl)
  return toPartAnswer(refused, cursor === undefined ? undefined : part.text)
}
