import type { z } from 'zod'
import { NAME, OBJECT, declareArguments, listOf, recordOf } from '../../lib/internal/arguments.ts'
import type { Effect, Operation } from '../operations/operation.ts'

/** What the client needs to know of an operation. */
export interface Route {
  /** `webhooks.retry_delivery`, called as `client.webhooks.retryDelivery`. */
  readonly id: string
  readonly method: Operation['method']
  /** `/v1/keys/{key_id}`; parameters in braces come from the argument. */
  readonly path: string
  /** Fields of the argument that go into the query. */
  readonly query?: readonly string[]
  /** Whether the other fields form a body; an `optional` body without fields is not sent. */
  readonly body?: 'optional' | 'required'
  /** Fields of the argument that are parts of a multipart body; files are lists of blobs. */
  readonly parts?: readonly string[]
  /** The response is a file, not JSON. */
  readonly bytes?: true
  /** The response is one page of a list. */
  readonly list?: true
  /** A POST that no Idempotency-Key makes repeatable, because it has no caller. */
  readonly once?: true
}

/** A route with the types of its operation. */
export interface RouteOf<Op extends Operation> extends Route {
  /** Never present at run time: it only has a type. */
  readonly operation?: Op
}

/** Operations with a known id, input and output; a stream is read by an `EventSource`. */
export type Known<Op> =
  Op extends Operation<Exclude<Effect, 'stream'>> ? (string extends Op['id'] ? never : Op) : never

/** The operations of these routes, as types. */
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
 * Creates the routes of operations, for a client of your own family.
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
    const { id, method, path, access, input, output, quote } = operation
    const query = [...fieldsOf(input.query), ...(quote === undefined ? [] : ['dry_run'])]
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

/** The parameters of a path, in order. */
export function paramsIn(path: string): readonly string[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => name)
}

function needOf(body: z.ZodType): 'optional' | 'required' {
  return body.safeParse(undefined).success ? 'optional' : 'required'
}

/** The fields of an object schema; none for any other schema. */
function fieldsOf(schema: z.ZodType | undefined): readonly string[] {
  return schema !== undefined && 'shape' in schema ? Object.keys(schema.shape as object) : []
}

/** One argument holds all parts of the input, so each name must belong to one part. */
function refuseDuplicates(id: string, names: readonly string[]): void {
  const duplicate = names.find((name, at) => names.indexOf(name) !== at)
  if (duplicate !== undefined) throw new TypeError(`${id} has two fields ${duplicate}`)
}
