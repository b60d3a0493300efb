import type { Registry, Sample } from './prometheus.ts'
import { HistogramByLabels } from './prometheus.ts'

/** Paths without an operation that are counted by themselves. All others are counted as `other`. */
const OWN_PATHS: ReadonlySet<string> = new Set(['/a2a', '/healthz', '/mcp', '/metrics', '/readyz'])
const METHODS: ReadonlySet<string> = new Set(['DELETE', 'GET', 'PATCH', 'POST', 'PUT'])

/** `GET /v1/keys/{key_id}`: a method and the template of a path. */
export type Route = string

/** Returns the route of a request. */
export type RouteOf = (operation: string | undefined, method: string, path: string) => Route

interface Routed {
  readonly id: string
  readonly method: string
  readonly path: string
}

/** No caller can create routes: without an operation, a request is one of a few. */
export function createRoutes(operations: readonly Routed[]): RouteOf {
  const routes = new Map(operations.map(({ id, method, path }) => [id, `${method} ${path}`]))
  return (operation, method, path) => {
    const known = operation === undefined ? undefined : routes.get(operation)
    if (known !== undefined) return known
    const template = OWN_PATHS.has(path) ? path : 'other'
    return `${METHODS.has(method) ? method : 'other'} ${template}`
  }
}

function labelsOf(route: Route): { readonly method: string; readonly route: string } {
  const [method = '', path = ''] = route.split(' ')
  return { method, route: path }
}

/** Counts one response. */
export type CountRequest = (route: Route, status: number, seconds: number) => void

/** Registers the metrics of requests, by route. */
export function addRequestMetrics(registry: Registry, bounds: readonly number[]): CountRequest {
  const declared = {
    name: 'keyhook_request_seconds',
    help: 'Time until a response began, by route.',
    labels: ['method', 'route'],
  }
  const seconds = new HistogramByLabels<Route>(registry, declared, bounds, labelsOf)
  const counts = new Map<Route, Map<number, number>>()
  const countsOf = (route: Route): Map<number, number> => {
    const known = counts.get(route)
    if (known !== undefined) return known
    const statuses = new Map<number, number>()
    counts.set(route, statuses)
    return statuses
  }
  const read = (): readonly Sample[] =>
    [...counts].flatMap(([route, statuses]) =>
      [...statuses].map(([status, value]) => ({ labels: { ...labelsOf(route), status }, value })),
    )
  const help = 'Responses by route and status.'
  registry.add('counter', 'keyhook_requests_total', help, read, ['method', 'route', 'status'])
  return (route, status, took) => {
    seconds.observe(route, took)
    const statuses = countsOf(route)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
}
