import { INTERNAL_ERROR } from '@modelcontextprotocol/server'
import { KeyhookError } from '../../lib/errors.ts'
import type { Selection } from '../agents/selection.ts'
import type { Via } from '../operations/call.ts'
import type { InnerRequest, InnerResponse } from '../http/inner-context.ts'
import type { ProtocolOptions } from '../http/protocol-steps.ts'
import type { RequestContext } from '../http/state.ts'
import { httpError } from '../operations/errors.ts'

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

/** A failure as the error of a message: other errors would reach the client with their own text. */
export function failureOf({ state }: RequestContext, cause: unknown): Failure {
  const error = cause instanceof KeyhookError ? cause : httpError('internal_error', { cause })
  state.refused(error)
  const { code, message, details } = error
  return { code: INTERNAL_ERROR, message, data: { code, request_id: state.requestId, ...details } }
}

interface Failure {
  readonly code: number
  readonly message: string
  readonly data: Readonly<Record<string, unknown>>
}
