import compose from 'koa-compose'
import { KeyhookError } from '../../lib/errors.ts'
import { createWorkFinder } from '../agents/follow.ts'
import { skillsOf } from '../agents/skills.ts'
import { toolsOf } from '../agents/tools.ts'
import type { KeyPrincipal } from '../authority/principal.ts'
import { reserveStream } from '../http/event-stream.ts'
import { holdAnswer, reserveResponse } from '../http/middleware/hold-responses.ts'
import type { Protocol, ProtocolOptions } from '../http/protocol-steps.ts'
import { admitKey, createReadCharge, originCheck, readMessage } from '../http/protocol-steps.ts'
import { abandonedBy } from '../http/response-end.ts'
import type { RequestContext, Step } from '../http/state.ts'
import { clearBody } from '../http/state.ts'
import { httpError } from '../operations/errors.ts'
import type { Family } from '../operations/family.ts'
import type { Binding, Reading } from './binding.ts'
import type { A2aCall, Agent } from './call.ts'
import type { PrintedError } from './errors.ts'
import { printError } from './errors.ts'
import { RPC } from './json-rpc.ts'
import type { Method } from './methods.ts'
import { PATH, REST } from './rest.ts'
import type { TaskUpdates } from './updates.ts'
import { ProtocolError } from './protocol-errors.ts'

const MAX_BODY = 512 * 1024

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

function bindingOf(options: ProtocolOptions, agent: Agent, binding: Binding): Step {
  const charge = createReadCharge(options)
  const answer = createAnswer(options, agent)
  const steps = compose<RequestContext>([
    originCheck(options.hosts),
    admitKey(options),
    readMessage(options, MAX_BODY),
    async (ctx: RequestContext) => {
      await charge(ctx)
      const reading = binding.read(ctx)
      if (reading !== undefined) await answer(ctx, reading)
    },
  ])
  return async function answerA2a(ctx) {
    ctx.set('Cache-Control', 'no-store')
    try {
      await steps(ctx)
    } catch (cause) {
      // A caller without a key gets the challenge of every other path.
      if (cause instanceof KeyhookError && cause.status === 401) throw cause
      binding.refuse(ctx, refusing(ctx, options, new WeakSet())(cause))
    }
  }
}

/** Counts a refusal, and prints it. */
type Refuse = (cause: unknown) => PrintedError

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

/** Calls the method that a request asks for, and answers with what it says. */
function createAnswer(options: ProtocolOptions, agent: Agent) {
  const hold = holdAnswer({ effect: 'own' }, options.traffic)
  return async (ctx: RequestContext, reading: Reading): Promise<void> => {
    const { call, counted } = callOf(ctx, options, agent, reading.method)
    const refuse = refusing(ctx, options, counted)
    try {
      requireVersion(ctx)
      if (reading.method.streams) await hold(ctx, () => openStream(ctx, reading, call, refuse))
      else reading.result(await resultOf(ctx, reading, call))
    } catch (cause) {
      reading.refuse(refuse(cause))
    }
  }

  async function openStream(
    ctx: RequestContext,
    reading: Reading,
    call: A2aCall,
    refuse: Refuse,
  ): Promise<void> {
    const stream = reserveStream(options, ctx)
    try {
      const begun = await reading.begin(call)
      if (begun.kind !== 'updates') throw new TypeError('no stream')
      const events = printEach(reading, begun.updates(stream.left))
      stream.open(events, (refusal) => reading.lastEvent(refuse(refusal)))
    } finally {
      stream.release()
    }
  }
}

async function* printEach(
  reading: Reading,
  updates: ReturnType<TaskUpdates>,
): AsyncGenerator<string> {
  for await (const update of updates) yield reading.event(update)
}

async function resultOf(ctx: RequestContext, reading: Reading, call: A2aCall): Promise<unknown> {
  const begun = await reading.begin(call)
  if (begun.kind === 'result') return begun.result
  if (begun.kind === 'updates') throw new TypeError('no result')
  // It waits for work that may take long: others may have the bytes of its body.
  ctx.state.bodyLease?.release()
  clearBody(ctx.state)
  return begun.wait()
}

function callOf(
  ctx: RequestContext,
  { platform, calls, resolve, traffic }: ProtocolOptions,
  agent: Agent,
  { streams }: Pick<Method, 'streams'>,
) {
  const principal = ctx.state.principal as KeyPrincipal
  const counted = new WeakSet<object>()
  const via = { protocol: 'a2a', client: ctx.get('user-agent') } as const
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
    reserve(bytes) {
      if (!streams) reserveResponse(ctx, traffic, bytes)
    },
    allows: (operation) => calls.allows(principal, operation),
    async admit() {
      await resolve(ctx.request.ctx)
    },
  }
  return { call, counted }
}

/** A version without its patch; none is 0.3, the last that did not name it. */
function requireVersion(ctx: RequestContext): void {
  const version = ctx.get('a2a-version') || '0.3'
  if (/^1\.0(\.\d+)?$/.test(version)) return
  throw new ProtocolError(
    'VERSION_NOT_SUPPORTED',
    'This agent speaks A2A 1.0. Send A2A-Version: 1.0.',
  )
}
