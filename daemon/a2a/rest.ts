import type { RequestContext } from '../http/state.ts'
import { httpError } from '../operations/errors.ts'
import type { Binding } from './binding.ts'
import { retryLater } from './binding.ts'
import type { PrintedError } from './errors.ts'
import type { Method, RestRoute } from './methods.ts'
import { METHODS } from './methods.ts'

export const PATH = '/a2a'
const MEDIA_TYPE = 'application/a2a+json'

/** HTTP and JSON (section 11). */
export const REST: Binding = {
  read(ctx) {
    const match = requireRoute(ctx)
    const { method, status } = match
    return {
      method,
      begin: (call) => method.run(call, requestOf(ctx, match)),
      result(result) {
        ctx.status = status
        if (status === 204) return
        ctx.set('Content-Type', MEDIA_TYPE)
        ctx.body = JSON.stringify(result ?? {})
      },
      refuse: (error) => {
        REST.refuse(ctx, error)
      },
      event: (response) => `data: ${JSON.stringify(response)}\n\n`,
      lastEvent: (error) => `event: error\ndata: ${JSON.stringify(restError(error))}\n\n`,
    }
  },
  refuse(ctx, error) {
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

/** A method that a request of HTTP asks for. */
interface RestMatch {
  readonly name: string
  readonly method: Method
  readonly status: number
  /** Fields of its request that the path has. */
  readonly fields: Readonly<Record<string, string>>
}

interface Route {
  readonly name: string
  readonly method: Method
  readonly route: RestRoute
  readonly pattern: RegExp
}

const ROUTES: readonly Route[] = Object.entries<Method>(METHODS).flatMap(([name, method]) =>
  method.rest.map((route) => ({ name, method, route, pattern: patternOf(route.path) })),
)

/** An id ends before the verb after its colon. */
function patternOf(path: string): RegExp {
  const escaped = path.replaceAll('.', '\\.')
  return new RegExp(`^${escaped.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/:]+)')}$`)
}

/**
 * The method at a path below the interface's address.
 *
 * @returns the allowed verbs, none where there is nothing, when there is no such method
 */
export function matchRest(verb: string, path: string): RestMatch | readonly string[] {
  const found = ROUTES.flatMap((one) => {
    const groups = one.pattern.exec(path)
    return groups === null ? [] : [{ ...one, groups: { ...groups.groups } }]
  })
  const match = found.find(({ route }) => route.verb === verb)
  if (match === undefined) return found.map(({ route }) => route.verb)
  const { name, method, route, groups } = match
  const fields = Object.fromEntries(
    Object.entries(groups).map(([field, text]) => [field, decode(text)]),
  )
  return { name, method, status: route.status ?? 200, fields }
}

/** A path that is no text names nothing; U+0000 is in no text of ours. */
function decode(text: string): string {
  try {
    const decoded = decodeURIComponent(text)
    return decoded.includes('\0') ? text : decoded
  } catch {
    return text
  }
}

/** A body of google.rpc.Status. */
function restError({ http, status, message, details }: PrintedError): object {
  return { error: { code: http, status, message, details } }
}
