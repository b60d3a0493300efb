import type { CreateMcpHandlerOptions, McpServerFactory } from '@modelcontextprotocol/server'
import { createMcpHandler } from './sdk.ts'
import compose from 'koa-compose'
import { KeyhookError } from '../../lib/errors.ts'
import type { Selection } from '../agents/selection.ts'
import { createWorkFinder } from '../agents/follow.ts'
import { createSelector } from '../agents/selection.ts'
import { toolsOf } from '../agents/tools.ts'
import { DEFAULT_BODY_LIMIT } from '../limits/amounts.ts'
import { reserveStream } from '../http/event-stream.ts'
import { holdAnswer } from '../http/middleware/hold-responses.ts'
import type { Protocol, ProtocolOptions } from '../http/protocol-steps.ts'
import { admitKey, createReadCharge, originCheck, readMessage } from '../http/protocol-steps.ts'
import type { RequestContext, Step } from '../http/state.ts'
import { answerDirectCall, readDirectCall } from './direct-call.ts'
import type { Message } from './event-stream.ts'
import { beginEvents, printRefusal, reserveProgress } from './event-stream.ts'
import type { McpCall } from './mcp-call.ts'
import { createServer, watchTools } from './server.ts'

const PATHS: ReadonlySet<string> = new Set(['/mcp', '/mcp/'])

/** Headers of the protocol; no credential reaches its library. */
const HEADERS = [
  'accept',
  'content-type',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
  'user-agent',
] as const

/** JSON around the arguments of a tool. */
const AROUND = 65_536

/** The Model Context Protocol at `/mcp`: stateless, one server for each request. */
export const mcp: Protocol = (options) => {
  const steps = compose<RequestContext>([
    protocolErrors,
    originCheck(options.hosts),
    admitKey(options),
    readMessage(options, bodyLimit(options)),
    requireMessage,
    holdAnswer({ effect: 'own' }, options.traffic),
    answer(options),
  ])
  return function mcp(ctx, next) {
    if (!PATHS.has(ctx.path)) return next()
    if (ctx.method === 'POST') return steps(ctx)
    ctx.set('Allow', 'POST')
    answerError(ctx, 405, -32_000, 'Send messages by POST; there are no sessions.')
    return undefined
  }
}

function bodyLimit({ operations }: ProtocolOptions): number {
  const limits = operations.map(({ bodyLimit = DEFAULT_BODY_LIMIT }) => bodyLimit)
  return Math.max(DEFAULT_BODY_LIMIT, ...limits) + AROUND
}

/** Refusals that the protocol has errors for; all others are those of the API. */
const protocolErrors: Step = async function protocolErrors(ctx, next) {
  try {
    await next()
  } catch (cause) {
    if (!(cause instanceof KeyhookError)) throw cause
    const code = CODES[cause.code]
    if (code === undefined) throw cause
    ctx.state.refused(cause)
    answerError(ctx, cause.status, code, cause.message)
  }
}

const CODES: Readonly<Record<string, number>> = { invalid_json: -32_700, foreign_origin: -32_000 }

/** Without an id: it is not known, or the message was not accepted. */
function answerError(ctx: RequestContext, status: number, code: number, message: string): void {
  ctx.status = status
  ctx.set('Cache-Control', 'no-store')
  ctx.set('Content-Type', 'application/json; charset=utf-8')
  ctx.body = JSON.stringify({ jsonrpc: '2.0', error: { code, message } })
}

const requireMessage: Step = function requireMessage(ctx, next) {
  const { body } = ctx.state
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return next()
  answerError(ctx, 400, -32_600, 'Send one message.')
  return undefined
}

function answer(options: ProtocolOptions): Step {
  const select = keepSelections(createSelector(toolsOf(options.families)))
  const charge = createReadCharge(options)
  const calls = new WeakMap<Request, McpCall>()
  const create: McpServerFactory = ({ requestInfo, era }) => {
    const call = requestInfo && calls.get(requestInfo)
    if (call === undefined) throw new TypeError('no request')
    return createServer(call, era)
  }
  const shared = createMcpHandler(create)
  const find = createWorkFinder(options.families)
  const url = `${options.platform.baseUrl}/mcp`
  return async function answer(ctx) {
    const selection = select(ctx)
    const body = ctx.state.body as Message
    const call: McpCall = { ctx, options, selection, find, hasStream: false, isPaid: false }
    const direct = readDirectCall(ctx, body, selection)
    if (direct !== undefined) {
      const answered = await answerDirectCall(call, direct)
      if (!call.isPaid) await charge(ctx)
      ctx.set('Cache-Control', 'no-store')
      ctx.set('Content-Type', 'application/json')
      ctx.body = answered
      return
    }
    // Before its work: a caller with too many streams is refused as in REST.
    // One who listens has a handler of its own: changes of one key are for its streams alone.
    const { fetch: serve, notify } = isStreamed(body) ? createMcpHandler(create, QUIET) : shared
    const stream = isStreamed(body)
      ? reserveStream(options, ctx, watchTools(call, notify.toolsChanged))
      : reserveProgress(options, ctx, body)
    call.hasStream = stream !== undefined
    try {
      const request = requestOf(ctx, url, stream?.left)
      calls.set(request, call)
      const response = await serve(request, { parsedBody: body })
      ctx.status = response.status
      ctx.set('Cache-Control', 'no-store')
      const type = response.headers.get('content-type')
      if (type !== null) ctx.set('Content-Type', type)
      const isEvents = type === 'text/event-stream' && stream !== undefined
      const answered = isEvents ? await beginEvents(response) : await response.text()
      if (!call.isPaid) await charge(ctx)
      if (typeof answered === 'string') ctx.body = answered
      else stream?.open(answered, (refusal) => printRefusal(body, refusal))
    } finally {
      stream?.release()
    }
  }
}

/** Selections that are kept: each is a map of up to all tools. */
const MAX_SELECTIONS = 100

/** Most clients call one address again and again. */
function keepSelections(
  select: ReturnType<typeof createSelector>,
): (ctx: Pick<RequestContext, 'query' | 'querystring'>) => Selection {
  const kept = new Map<string, Selection>()
  return (ctx) => {
    const known = kept.get(ctx.querystring)
    if (known !== undefined) return known
    const selected = select(ctx.query)
    if (kept.size >= MAX_SELECTIONS) kept.clear()
    kept.set(ctx.querystring, selected)
    return selected
  }
}

/** Streams have a beat of their own. */
const QUIET: CreateMcpHandlerOptions = { keepAliveMs: 0 }

/** Whether the response may last: it is not read before it is sent. */
function isStreamed({ method }: Message): boolean {
  return method === 'subscriptions/listen'
}

/**
 * What the library reads of a request whose body is given: a real one costs more than most reads. Its body
 * may not be read, and no credential is among its headers.
 */
function requestOf(ctx: RequestContext, url: string, signal?: AbortSignal): Request {
  const headers = new Map(HEADERS.map((name) => [name, ctx.get(name) || null]))
  const given = {
    method: 'POST',
    url,
    headers: {
      get: (name: string) => headers.get(name.toLowerCase() as (typeof HEADERS)[number]) ?? null,
    },
    signal,
  }
  return given as unknown as Request
}
