import compose from 'koa-compose'
import { z } from 'zod'
import { kernelError } from '../../lib/errors.ts'
import type { KeyPrincipal } from '../authority/principal.ts'
import type { Family } from '../operations/family.ts'
import type { Operation } from '../operations/operation.ts'
import { httpError } from '../operations/errors.ts'
import type { InnerCalls } from './inner-call.ts'
import { createRateLimit } from './middleware/rate-limit.ts'
import { readBody } from './middleware/read-body.ts'
import type { StepOptions } from './operation-steps.ts'
import type { RequestContext, Step } from './state.ts'

/** What a protocol is served with. */
export interface ProtocolOptions extends StepOptions {
  readonly families: readonly Family[]
  /** The operations of the families. */
  readonly operations: readonly Operation[]
  readonly calls: InnerCalls
  /** Accepted values of `Host`; undefined accepts any. */
  readonly hosts: ReadonlySet<string> | undefined
}

/** Another protocol over the same operations: a step that passes paths that are not its own on. */
export type Protocol = (options: ProtocolOptions) => Step

/** Refuses pages of other origins: no browser of a user may call with a key that it found. */
export function originCheck(hosts: ReadonlySet<string> | undefined): Step {
  return function originCheck(ctx, next) {
    const origin = ctx.get('origin')
    if (origin === '' || hosts === undefined) return next()
    const [, host] = /^https?:\/\/([^/]+)$/.exec(origin.toLowerCase()) ?? []
    if (host === undefined || !hosts.has(host)) throw httpError('foreign_origin')
    return next()
  }
}

/** Finds the caller, who must have a developer key. */
export function admitKey(options: Pick<StepOptions, 'resolve'>): Step {
  return async function admitKey(ctx, next) {
    ctx.state.principal = await findKey(options, ctx)
    return next()
  }
}

/**
 * The caller's key, found again while a response is being sent.
 *
 * @throws KeyhookError as a new request would be refused
 */
export async function findKey(
  { resolve }: Pick<StepOptions, 'resolve'>,
  ctx: RequestContext,
): Promise<KeyPrincipal> {
  const principal = await resolve(ctx.request.ctx)
  if (principal === undefined) throw kernelError('missing_credentials')
  if (principal.type !== 'key') throw httpError('key_required')
  return principal
}

/** Reads the body as JSON into `state.body` and `state.bodyText`; its MiB after the first are paid for. */
export function readMessage(options: StepOptions, limit: number): Step {
  const { platform, rateLimits, traffic } = options
  const counting = { limits: rateLimits, clock: platform.clock, buckets: traffic.rates }
  const read = { input: { body: z.unknown() }, bodyLimit: limit }
  return compose([
    createRateLimit(counting)({ ...read, effect: 'write', unmetered: true }),
    readBody(read, traffic),
  ])
}

/**
 * Takes the token of a read, for a message that calls no operation.
 *
 * @throws KeyhookError `rate_limited`
 */
export function createReadCharge(options: StepOptions): (ctx: RequestContext) => Promise<void> {
  const { platform, rateLimits, traffic } = options
  const counting = { limits: rateLimits, clock: platform.clock, buckets: traffic.rates }
  const limit = createRateLimit(counting)({ effect: 'read', input: {} })
  return async (ctx) => {
    await limit(ctx, () => Promise.resolve())
  }
}
