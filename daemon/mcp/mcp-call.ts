import { CLIENT_INFO_META_KEY, INTERNAL_ERROR, INVALID_PARAMS } from './sdk.ts'
import { KeyhookError } from '../../lib/errors.ts'
import type { GivenArguments } from '../agents/arguments.ts'
import type { FindWork } from '../agents/follow.ts'
import type { Selection } from '../agents/selection.ts'
import type { ToolSpec } from '../agents/tools.ts'
import type { Via } from '../operations/call.ts'
import type { InnerRequest, InnerResponse } from '../http/inner-context.ts'
import type { ProtocolOptions } from '../http/protocol-steps.ts'
import type { RequestContext } from '../http/state.ts'
import { clearBody } from '../http/state.ts'
import { httpError } from '../operations/errors.ts'
import { printableClient } from '../authority/principal.ts'

/** One request of the protocol: who asks, on which connection, for which tools. */
export interface McpCall {
  readonly ctx: RequestContext
  readonly options: ProtocolOptions
  readonly selection: Selection
  readonly find: FindWork
  /** Whether a stream is reserved, over which progress is reported. */
  hasStream: boolean
  /** Whether a call of an operation has paid for the message; any other message costs a read. */
  isPaid: boolean
}

/** What a message of the newest revision says of its client. */
export type Envelope = Readonly<Record<string, unknown>> | undefined

/** Calls an operation with a single response. */
export async function callOnce(call: McpCall, request: InnerRequest): Promise<InnerResponse> {
  const { ctx, options } = call
  call.isPaid = true
  const answer = await options.calls.run(ctx, request)
  if (answer.kind === 'json') return answer
  answer.leave()
  throw new TypeError(`${request.operation.id} answers with events`)
}

/** Whether the caller may call a tool at all, whatever exists. */
export function mayCall({ ctx, options }: McpCall, { operation }: ToolSpec): boolean {
  const { principal } = ctx.state
  return principal !== undefined && options.calls.allows(principal, operation)
}

/** Frees a message that is no longer needed: to wait for the end of its work may take long. */
export function forgetMessage({ ctx: { state } }: McpCall, given: GivenArguments): void {
  const { params } = (state.body ?? {}) as { readonly params?: { readonly arguments?: object } }
  for (const kept of [given, params?.arguments, params]) empty(kept)
  clearBody(state)
  state.bodyLease?.release()
}

function empty(value: object = {}): void {
  for (const name of Object.keys(value)) Reflect.deleteProperty(value, name)
}

/** How the call came: a client names itself in the message, or else in a header. */
export function viaOf({ ctx }: McpCall, envelope: Envelope): Via {
  const info = envelope?.[CLIENT_INFO_META_KEY] as { readonly name?: unknown } | undefined
  const name = typeof info?.name === 'string' ? info.name : ctx.get('user-agent')
  // Its length has no limit, and the call may last longer than the message is counted.
  return { protocol: 'mcp', client: printableClient(name) ?? '' }
}

/** A failure as the error of a message: other errors would reach the client with their own text. */
export function failureOf({ state }: RequestContext, cause: unknown): Failure {
  const error = cause instanceof KeyhookError ? cause : httpError('internal_error', { cause })
  state.refused(error)
  const { code, message, details, errors, status } = error
  const kind = INVALID.has(status) ? INVALID_PARAMS : INTERNAL_ERROR
  const faults = errors.length === 0 ? {} : { errors }
  return { code: kind, message, data: { code, request_id: state.requestId, ...details, ...faults } }
}

const INVALID: ReadonlySet<number> = new Set([400, 404, 422])

interface Failure {
  readonly code: number
  readonly message: string
  readonly data: Readonly<Record<string, unknown>>
}
