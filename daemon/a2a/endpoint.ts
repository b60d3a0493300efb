import { VersionNotSupportedError } from '@a2a-js/sdk/errors'
import compose from 'koa-compose'
import { KeyhookError } from '../../lib/errors.ts'
import { createWorkFinder } from '../agents/follow.ts'
import { skillsOf } from '../agents/skills.ts'
import { toolsOf } from '../agents/tools.ts'
import type { KeyPrincipal } from '../authority/principal.ts'
import type { Protocol, ProtocolOptions } from '../http/protocol-steps.ts'
import { admitKey, createReadCharge, originCheck, readMessage } from '../http/protocol-steps.ts'
import { abandonedBy } from '../http/response-end.ts'
import type { RequestContext, Step } from '../http/state.ts'
import { httpError } from '../operations/errors.ts'
import type { Family } from '../operations/family.ts'
import type { A2aCall, Agent } from './call.ts'
import type { PrintedError } from './errors.ts'
import { printError } from './errors.ts'
import { NOT_JSON, isRefused, readRpc, rpcError, runRpc } from './json-rpc.ts'
import type { RpcResponse } from './json-rpc.ts'
import type { RestMatch } from './rest.ts'
import { matchRest, restError } from './rest.ts'

const PATH = '/a2a'
const MAX_BODY = 512 * 1024
const MEDIA_TYPE = 'application/a2a+json'

/**
 * A2A 1.0 at `/a2a`: JSON-RPC at the address itself, HTTP and JSON at the paths below it.
 *
 * @param families whose operations are its skills
 */
export function a2aProtocol(families: readonly Family[]): Protocol {
  const agent: Agent = {
    skills: skillsOf(toolsOf(families)),
    operations: families.flatMap(({ operations }) => operations),
    findWork: createWorkFinder(families),
  }
  return (options) => {
    const rpc = bindingOf(options, agent, RPC)
    const rest = bindingOf(options, agent, REST)
    return function a2a(ctx, next) {
      if (ctx.path !== PATH && !ctx.path.startsWith(`${PATH}/`)) return next()
      const isRpc = ctx.method === 'POST' && /^\/?$/.test(ctx.path.slice(PATH.length))
      return (isRpc ? rpc : rest)(ctx, next)
    }
  }
}

/** How a binding answers. */
interface Binding {
  answer(ctx: RequestContext, call: A2aCall, refuse: Refuse): Promise<void>
  /** Answers a request that never became a call. */
  refused(ctx: RequestContext, error: PrintedError): void
}

/** Counts a refusal, and prints it. */
type Refuse = (cause: unknown) => PrintedError

function bindingOf(options: ProtocolOptions, agent: Agent, binding: Binding): Step {
  const charge = createReadCharge(options)
  const steps = compose<RequestContext>([
    originCheck(options.hosts),
    admitKey(options),
    readMessage(options, MAX_BODY),
    async (ctx: RequestContext) => {
      await charge(ctx)
      const { call, counted } = callOf(ctx, options, agent)
      await binding.answer(ctx, call, refusing(ctx, options, counted))
    },
  ])
  return async function answerA2a(ctx) {
    ctx.set('Cache-Control', 'no-store')
    try {
      await steps(ctx)
    } catch (cause) {
      // A caller without a key gets the challenge of every other path.
      if (cause instanceof KeyhookError && cause.status === 401) throw cause
      binding.refused(ctx, refusing(ctx, options, new WeakSet())(cause))
    }
  }
}

function refusing(
  ctx: RequestContext,
  { platform: { baseUrl } }: ProtocolOptions,
  counted: WeakSet<object>,
): Refuse {
  return (cause) => {
    if (cause instanceof KeyhookError) {
      if (!counted.has(cause)) ctx.state.refused(cause)
    } else if (cause instanceof Error && !('reason' in cause)) {
      ctx.state.refused(httpError('internal_error', { cause }))
    }
    return printError(cause, { baseUrl, requestId: ctx.state.requestId })
  }
}

function callOf(ctx: RequestContext, { platform, calls, resolve }: ProtocolOptions, agent: Agent) {
  const principal = ctx.state.principal as KeyPrincipal
  const counted = new WeakSet<object>()
  const via = { protocol: 'a2a', client: clientOf(ctx) } as const
  const call: A2aCall = {
    platform,
    agent,
    principal,
    requestId: ctx.state.requestId,
    left: abandonedBy(ctx.req, ctx.res),
    async run(request) {
      try {
        return await calls.run(ctx, { ...request, via })
      } catch (cause) {
        if (cause instanceof Error) counted.add(cause)
        throw cause
      }
    },
    allows: (operation) => calls.allows(principal, operation),
    async admit() {
      await resolve(ctx.request.ctx)
    },
  }
  return { call, counted }
}

const MAX_CLIENT = 100

/** What the client calls itself. */
function clientOf(ctx: RequestContext): string | null {
  const name = ctx.get('user-agent').replaceAll(/[^\x20-\x7e]/g, '')
  return name.slice(0, MAX_CLIENT) || null
}

/** A version without its patch; none is 0.3, the last that did not name it. */
function requireVersion(ctx: RequestContext): void {
  const version = ctx.get('a2a-version') || '0.3'
  if (/^1\.0(\.\d+)?$/.test(version)) return
  throw new VersionNotSupportedError({
    message: 'This agent speaks A2A 1.0. Send A2A-Version: 1.0.',
  })
}

const RPC: Binding = {
  async answer(ctx, call, refuse) {
    const read = readRpc(ctx.state.body)
    if (isRefused(read)) return sendRpc(ctx, read)
    try {
      requireVersion(ctx)
      sendRpc(ctx, { jsonrpc: '2.0', id: read.id, result: (await runRpc(call, read)) ?? null })
    } catch (cause) {
      sendRpc(ctx, rpcError(read.id, retryLater(ctx, refuse(cause))))
    }
  },
  refused(ctx, error) {
    const reason = error.details[0]?.['reason']
    sendRpc(ctx, reason === 'INVALID_JSON' ? NOT_JSON : rpcError(null, retryLater(ctx, error)))
  },
}

function sendRpc(ctx: RequestContext, response: RpcResponse): void {
  ctx.status = 200
  ctx.set('Content-Type', 'application/json')
  ctx.body = JSON.stringify(response)
}

const REST: Binding = {
  async answer(ctx, call) {
    const match = requireRoute(ctx)
    requireVersion(ctx)
    const result = await match.method.run(call, requestOf(ctx, match))
    ctx.status = match.status
    if (match.status === 204) return
    ctx.set('Content-Type', MEDIA_TYPE)
    ctx.body = JSON.stringify(result ?? {})
  },
  refused(ctx, error) {
    ctx.status = retryLater(ctx, error).http
    ctx.set('Content-Type', 'application/json')
    ctx.body = JSON.stringify(restError(error))
  },
}

function requireRoute(ctx: RequestContext): RestMatch {
  const match = matchRest(ctx.method, ctx.path.slice(PATH.length))
  if ('name' in match) return match
  const isRoot = /^\/?$/.test(ctx.path.slice(PATH.length))
  const verbs = isRoot ? ['POST'] : match
  if (verbs.length === 0) throw httpError('route_not_found')
  ctx.set('Allow', [...new Set(verbs)].join(', '))
  throw httpError('method_not_allowed')
}

function requestOf({ method, query, state }: RequestContext, { fields }: RestMatch): unknown {
  if (method === 'GET' || method === 'DELETE') return { ...query, ...fields }
  const { body = {} } = state
  // What is no object is refused by the schema of the request.
  return typeof body === 'object' && body !== null && !Array.isArray(body)
    ? { ...body, ...fields }
    : body
}

function retryLater(ctx: RequestContext, error: PrintedError): PrintedError {
  if (error.retryAfter !== undefined) ctx.set('Retry-After', String(error.retryAfter))
  return error
}
