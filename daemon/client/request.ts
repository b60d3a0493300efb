import type { Wire } from './error.ts'
import type { Route } from './route.ts'
import { paramsIn } from './route.ts'

/** Request of a call. */
export interface ApiRequest {
  readonly method: Route['method']
  /** Path with its query, relative to the root of the service. */
  readonly path: string
  /** JSON text, or the parts of a multipart body; undefined: none. */
  readonly body: string | FormData | undefined
  /** Whether the response is a file. */
  readonly bytes?: true
  /** Whether sending it twice has the same effect as sending it once. */
  readonly repeatable: boolean
}

const REPEATABLE: ReadonlySet<string> = new Set(['GET', 'PUT', 'DELETE', 'POST'])

/**
 * Puts each field of the argument into path, query or body.
 *
 * @throws TypeError for a path parameter that is missing or would lead to another path, and for an
 *   unknown field when the route has no body
 */
export function toRequest(route: Route, given: Wire): ApiRequest {
  const params = paramsIn(route.path)
  const { query = [] } = route
  refuseStray(route, given, [...params, ...query])
  const rest = Object.entries(given).filter(
    ([name, value]) => value !== undefined && !params.includes(name) && !query.includes(name),
  )
  return {
    method: route.method,
    path: pathOf(route, given) + queryOf(query, given),
    body: route.parts !== undefined || hasFiles(rest) ? formOf(rest) : bodyOf(route, rest),
    ...(route.bytes === true ? { bytes: true } : {}),
    repeatable: REPEATABLE.has(route.method) && route.once !== true,
  }
}

/** The service validates the fields of a body; without a body there is nothing to send them in. */
function refuseStray({ id, body, parts }: Route, given: Wire, names: readonly string[]): void {
  if (body !== undefined || parts !== undefined) return
  const stray = Object.keys(given).find((name) => !names.includes(name))
  if (stray === undefined) return
  throw new TypeError(`${id}: unknown name ${stray}; allowed: ${names.join(', ') || 'none'}`)
}

function pathOf({ id, path }: Route, given: Wire): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = given[name]
    // A URL drops "." and "..", also when they are encoded: the request would mean something else.
    if (typeof value !== 'string' || ['', '.', '..'].includes(value)) {
      throw new TypeError(`${id}: ${name} must be an id`)
    }
    return encodeURIComponent(value)
  })
}

function queryOf(names: readonly string[], given: Wire): string {
  const query = new URLSearchParams()
  for (const name of names) {
    const value = given[name]
    if (value !== undefined)
      query.set(name, typeof value === 'string' ? value : JSON.stringify(value))
  }
  return query.size === 0 ? '' : `?${query.toString()}`
}

/** JSON cannot hold a file. */
function hasFiles(fields: readonly (readonly [string, unknown])[]): boolean {
  return fields.some(
    ([, value]) => Array.isArray(value) && value.some((one) => one instanceof Blob),
  )
}

/** A list becomes as many parts of one name. */
function formOf(fields: readonly (readonly [string, unknown])[]): FormData {
  const form = new FormData()
  for (const [name, value] of fields) {
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (one instanceof Blob) form.append(name, one)
      else form.append(name, typeof one === 'string' ? one : JSON.stringify(one))
    }
  }
  return form
}

function bodyOf(
  { body }: Route,
  fields: readonly (readonly [string, unknown])[],
): string | undefined {
  if (fields.length === 0 && body !== 'required') return undefined
  return JSON.stringify(Object.fromEntries(fields))
}
