import Router from '@koa/router'
import compose from 'koa-compose'
import type { Cidr } from '../../lib/egress/address.ts'
import type { Family } from '../operations/family.ts'
import type { Operation } from '../operations/operation.ts'
import { httpError } from '../operations/errors.ts'
import { clientAddress } from './client-address.ts'
import { intake, intakePath } from './intake.ts'
import { answer } from './middleware/answer.ts'
import { csrf } from './middleware/security.ts'
import { serverSentEvents } from './middleware/server-sent-events.ts'
import { download } from './middleware/download.ts'
import { holdAnswer } from './middleware/hold-responses.ts'
import { readBody, closeUnread } from './middleware/read-body.ts'
import { readForm } from './middleware/read-form.ts'
import { readParts } from './middleware/read-parts.ts'
import { createInnerCalls } from './inner-call.ts'
import type { Protocol } from './protocol-steps.ts'
import type { StepOptions, Way } from './operation-steps.ts'
import { createStepsOf } from './operation-steps.ts'
import type { RequestContext, RequestState, Step } from './state.ts'

export interface MountOptions extends StepOptions {
  readonly families: readonly Family[]
  /** Steps before every operation. */
  readonly before: readonly Step[]
  /** Other protocols over the same operations. Default: none. */
  readonly protocols?: readonly Protocol[]
  /** Accepted values of `Host`. Default: any. */
  readonly hosts?: ReadonlySet<string> | undefined
  /** Proxies whose `X-Forwarded-For` is trusted. Default: none. */
  readonly trustedProxies?: readonly Cidr[]
}

/** Every operation of the families, as Koa middleware. */
export interface Mounted {
  /**
   * Routes without path parameters, found by method and path and not by patterns: they are the busiest. They come
   * before the others, because `/v1/keys/self` is not the id of a key.
   */
  readonly fixed: Step
  /** All other routes, and the response to unknown paths. */
  readonly others: Step
}

export function mount(options: MountOptions): Mounted {
  const { platform, families, protocols = [], hosts, traffic } = options
  const before = [closeUnread(), ...options.before, addressOf(options.trustedProxies ?? [])]
  const operations = families.flatMap((family) => family.operations)
  const calls = createInnerCalls(options)
  const stepsOf = createStepsOf(options, ownRequests(options))
  const routers = new Map<string, Router<RequestState>>()
  const fixed = new Map<string, Map<string, Step>>()
  const addFixed = (method: string, path: string, steps: readonly Step[]): void => {
    const routes = fixed.get(method) ?? new Map<string, Step>()
    fixed.set(method, routes.set(path, compose<RequestContext>([...before, ...steps])))
  }
  const refuse = noRoute(operations)
  for (const operation of operations.toSorted(byLiterals)) {
    const steps: Step[] = [...stepsOf(operation)]
    if (operation.path.includes('{')) {
      const shape = shapeOf(operation.path)
      const router = routers.get(shape) ?? new Router<RequestState>()
      routers.set(shape, router)
      router.register(routePath(operation), [operation.method], steps, { name: operation.id })
    } else addFixed(operation.method, operation.path, steps)
  }
  const { processing } = platform.billing
  if (processing !== undefined) {
    addFixed('POST', intakePath(processing), [intake(platform, processing, traffic)])
  }
  return {
    fixed: fixedRoutes(fixed),
    others: compose([
      ...before,
      ...protocols.map((protocol) => protocol({ ...options, operations, calls, hosts })),
      literalFirst(operations, refuse),
      routesByShape(routers),
      refuse,
    ]),
  }
}

/** How a request of its own calls an operation. */
function ownRequests({ platform, traffic }: MountOptions): Way<Step> {
  const { streams, transfers } = traffic
  return {
    checks: [csrf(new URL(platform.baseUrl).origin)],
    /** An operation reads its parts as they arrive; any other body is read before it. */
    reading(operation, validating) {
      const { parts, form } = operation.input
      if (parts !== undefined) return [...validating, readParts(parts, traffic)]
      const body = readBody(operation, traffic)
      return [form === undefined ? body : readForm(form, traffic, body), ...validating]
    },
    hold: (operation) => holdAnswer(operation, traffic),
    answer(operation, admission) {
      if (operation.effect === 'stream')
        return serverSentEvents(operation, platform, streams, admission)
      if (operation.effect === 'bytes') return download(operation, platform, transfers, admission)
      return answer(operation, platform, admission)
    },
  }
}

/** Finds the address of the client. */
export function addressOf(trusted: readonly Cidr[]): Step {
  return function address(ctx, next) {
    ctx.state.address = clientAddress(ctx.req, trusted)
    return next()
  }
}

function fixedRoutes(stepsByMethodAndPath: ReadonlyMap<string, ReadonlyMap<string, Step>>): Step {
  return function fixedRoutes(ctx, next) {
    const route = stepsByMethodAndPath.get(ctx.method)?.get(ctx.path)
    return route === undefined ? next() : route(ctx, next)
  }
}

/**
 * The number of segments and the first one after `/v1`, which is literal: paths of different shapes match no common
 * pattern, and a router tests a path against each of its patterns. As in the router, case does not matter, nor a
 * slash at the end.
 */
function shapeOf(path: string): string {
  const segments = path.replace(/\/$/, '').split('/')
  return `${segments.length} ${segments[2]?.toLowerCase()}`
}

function routesByShape(routers: ReadonlyMap<string, Router<RequestState>>): Step {
  const routes = new Map(
    [...routers].map(([shape, router]) => [shape, router.routes() as unknown as Step]),
  )
  return function routesByShape(ctx, next) {
    const route = routes.get(shapeOf(ctx.path))
    return route === undefined ? next() : route(ctx, next)
  }
}

/** `/v1/keys/{key_id}` in the router's syntax. */
export function routePath({ path }: Pick<Operation, 'path'>): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

/** Refuses requests without an operation: a path with other methods names them. */
function noRoute(operations: readonly Operation[]): Step {
  return function noRoute(ctx, next) {
    if (!ctx.path.startsWith('/v1/')) return next()
    const methods = methodsOf(closestTo(ctx.path, operations))
    if (methods.size === 0) throw httpError('route_not_found')
    ctx.set('Allow', [...methods].join(', '))
    throw httpError('method_not_allowed')
  }
}

/**
 * Refuses a method that a path does not support, although a less literal path with that method would match:
 * `DELETE /v1/keys/verify` is not the deletion of a key.
 */
function literalFirst(operations: readonly Operation[], refuse: Step): Step {
  const paths = [...new Set(operations.map(({ path }) => path))].map((path) => ({
    path,
    pattern: pathPattern(path),
    literals: literalsOf({ path }),
  }))
  const shadowing = paths
    // Whether every match of this one also matches another, which has a parameter there.
    .filter(({ path, literals }) =>
      paths.some((other) => other.literals !== literals && other.pattern.test(path)),
    )
    .map(({ path, pattern }) => ({ pattern, methods: methodsOf(closestTo(path, operations)) }))
  return function literalFirst(ctx, next) {
    const match = shadowing.find(({ pattern }) => pattern.test(ctx.path))
    return match === undefined || match.methods.has(ctx.method) ? next() : refuse(ctx, next)
  }
}

function methodsOf(operations: readonly Operation[]): ReadonlySet<string> {
  return new Set(operations.map(({ method }) => method))
}

/**
 * The operations of one path: of several that match, such as keys/self and keys/{key_id}, the most literal.
 */
function closestTo(path: string, operations: readonly Operation[]): readonly Operation[] {
  const matching = operations.filter((one) => pathPattern(one.path).test(path))
  const [closest] = matching.toSorted(byLiterals)
  return matching.filter((one) => closest !== undefined && byLiterals(one, closest) === 0)
}

/** The first segment that is literal in only one of the paths decides. */
function byLiterals(a: Pick<Operation, 'path'>, b: Pick<Operation, 'path'>): number {
  const [left, right] = [literalsOf(a), literalsOf(b)]
  return left < right ? -1 : Number(left > right)
}

function literalsOf({ path }: Pick<Operation, 'path'>): string {
  return path
    .split('/')
    .map((segment) => (segment.startsWith('{') ? '1' : '0'))
    .join('')
}

function pathPattern(path: string): RegExp {
  const escaped = path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')
  // Koa's router accepts a trailing slash after a parameter; the fixed routes accept none.
  return new RegExp(`^${escaped}${path.includes('{') ? '/?' : ''}$`)
}
