import type { PrintedError } from './errors.ts'
import type { Method, RestRoute } from './methods.ts'
import { METHODS } from './methods.ts'

/** A method that a request of HTTP asks for. */
export interface RestMatch {
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
export function restError({ http, status, message, details }: PrintedError): object {
  return { error: { code: http, status, message, details } }
}
