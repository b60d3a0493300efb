import type { z } from 'zod'
import { NAME, OBJECT, declareArguments, listOf, recordOf } from '../../lib/internal/arguments.ts'
import type { Effect, Operation } from '../operations/operation.ts'

/** What the client must know of an operation to ask for it. */
export interface Route {
  /** `webhooks.retry_delivery`, called as `client.webhooks.retryDelivery`. */
  readonly id: string
  readonly method: Operation['method']
  /** `/v1/keys/{key_id}`; what stands in braces is taken from the argument. */
  readonly path: string
  /** The fields of the argument that go into the query. */
  readonly query?: readonly string[]
  /** Whether the other fields are a body; an `optional` one without fields is not sent. */
  readonly body?: 'optional' | 'required'
  /** The fields of the argument that are parts of a multipart body; files are lists of blobs. */
  readonly parts?: readonly string[]
  /** The answer is a file, not JSON. */
  readonly bytes?: true
  /** The answer is one page of many. */
  readonly list?: true
  /** A POST that no Idempotency-Key makes safe to repeat, since it has no caller. */
  readonly once?: true
}

/** A route that carries the types of its operation. */
export interface RouteOf<Op extends Operation> extends Route {
  /** Never there: it carries types alone. */
  readonly operation?: Op
}

/** Operations whose own id, input and output the compiler knows; a stream is read by an `EventSource`. */
export type Known<Op> =
  Op extends Operation<Exclude<Effect, 'stream'>> ? (string extends Op['id'] ? never : Op) : never

/** The operations whose types these routes carry. */
export type RoutedOperation<Routed extends Route> = Routed extends { readonly operation?: infer Op }
  ? Known<Op>
  : never

const readOperations = declareArguments('routesOf', {
  operations: {
    ...listOf(recordOf({ id: NAME, method: NAME, path: NAME, input: OBJECT, output: OBJECT })),
    allowed: 'a list of operations, not empty',
  },
})

/**
 * The routes of operations, for a client that calls a family of your own.
 *
 * @throws TypeError when two parts of an operation's input have a field of the same name
 * @example
 * const client = createClient({ baseUrl, key, routes: [...ROUTES, ...routesOf(family.operations)] })
 */
export function routesOf<const Op extends Operation>(
  ...args: readonly [operations: readonly Op[]]
): readonly RouteOf<Known<Op>>[] {
  const [operations] = readOperations(args) as typeof args
  return operations.filter(isAnswered).map((operation) => {
    const { id, method, path, access, input, output } = operation
    const query = fieldsOf(input.query)
    const parts = Object.keys(input.parts ?? {})
    refuseDuplicates(id, [...paramsIn(path), ...query, ...fieldsOf(input.body), ...parts])
    return {
      id,
      method,
      path,
      ...(query.length === 0 ? {} : { query }),
      ...(input.body === undefined ? {} : { body: needOf(input.body) }),
      ...(parts.length === 0 ? {} : { parts }),
      ...(operation.effect === 'bytes' ? { bytes: true } : {}),
      ...(fieldsOf(output).includes('next_cursor') ? { list: true } : {}),
      ...(method === 'POST' && access === 'public' ? { once: true } : {}),
    }
  })
}

function isAnswered({ effect }: Operation): boolean {
  return effect !== 'stream'
}

/** The parameters of a path, in their order. */
export function paramsIn(path: string): readonly string[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => name)
}

function needOf(body: z.ZodType): 'optional' | 'required' {
  return body.safeParse(undefined).success ? 'optional' : 'required'
}

/** The fields of an object's schema; of any other schema none. */
function fieldsOf(schema: z.ZodType | undefined): readonly string[] {
  return schema !== undefined && 'shape' in schema ? Object.keys(schema.shape as object) : []
}

/** One argument holds all parts of the input, so a name must tell which part it is of. */
function refuseDuplicates(id: string, names: readonly string[]): void {
  const duplicate = names.find((name, at) => names.indexOf(name) !== at)
  if (duplicate !== undefined) throw new TypeError(`${id} has two fields ${duplicate}`)
}
