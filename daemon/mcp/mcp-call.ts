import type { Selection } from '../agents/selection.ts'
import type { Via } from '../operations/call.ts'
import type { InnerRequest, InnerResponse } from '../http/inner-context.ts'
import type { ProtocolOptions } from '../http/protocol-steps.ts'
import type { RequestContext } from '../http/state.ts'

/** One request of the protocol: who asks, on which connection, for which tools. */
export interface McpCall {
  readonly ctx: RequestContext
  readonly options: ProtocolOptions
  readonly selection: Selection
  /** Takes the token of a read, for what calls no operation. */
  charge(): Promise<void>
}

/** Calls an operation with a single response. */
export async function callOnce(
  { ctx, options }: Pick<McpCall, 'ctx' | 'options'>,
  request: InnerRequest,
): Promise<InnerResponse> {
  const answer = await options.calls.run(ctx, request)
  if (answer.kind === 'json') return answer
  answer.leave()
  throw new TypeError(`${request.operation.id} answers with events`)
}

/** How the call came: a client names itself in the message, or else in a header. */
export function viaOf(client: string | null): Via {
  return { protocol: 'mcp', client }
}
