import type { FieldError } from '../../lib/errors.ts'
import { memberSpan } from '../../lib/internal/json-text.ts'
import { httpError } from '../operations/errors.ts'
import { unknownField } from '../operations/faults.ts'
import type { Operation } from '../operations/operation.ts'
import type { GivenPart } from '../operations/parts.ts'
import type { ToolArgument } from './input-schema.ts'
import { readPartArguments } from './part-arguments.ts'
import type { ToolSpec } from './tools.ts'

/** The arguments of a tool as the parts of a request; what they contain is still unchecked. */
export interface SplitArguments {
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  /** JSON value and its text; undefined: none. */
  readonly body: { readonly value: unknown; readonly text: string } | undefined
  /** Parts of a multipart body; undefined where the operation has none. */
  readonly parts: AsyncIterable<GivenPart> | undefined
  readonly idempotencyKey: string | undefined
}

/** Values by the names of arguments. */
export type GivenArguments = Readonly<Record<string, unknown>>

/**
 * Puts each argument into path, query or body.
 *
 * @param text JSON text of the arguments, of which a body is kept to the byte
 * @throws KeyhookError `invalid_request` for unknown names, and for parameters of a path that are no texts
 */
export function splitArguments(
  { args, operation }: Pick<ToolSpec, 'args' | 'operation'>,
  given: GivenArguments,
  text: string = JSON.stringify(given),
): SplitArguments {
  const names = args.map(({ name }) => name)
  const of = (place: ToolArgument['place']): readonly (readonly [string, unknown])[] =>
    args
      .filter((one) => one.place === place && given[one.name] !== undefined)
      .map(({ name }) => [name, given[name]] as const)
  const params = of('path')
  const keys = of('key')
  const faults: readonly FieldError[] = [
    ...Object.keys(given)
      .filter((name) => !names.includes(name))
      .map((name) => unknownField('arguments', name, names)),
    ...[...params, ...keys].filter(([, value]) => typeof value !== 'string').map(notText),
    ...missingIn(args, given),
  ]
  if (faults.length > 0) throw httpError('invalid_request', { errors: faults })
  const { parts } = operation.input
  return {
    params: Object.fromEntries(params) as Readonly<Record<string, string>>,
    query: Object.fromEntries(of('query').map(([name, value]) => [name, printed(value)])),
    body: parts === undefined ? bodyOf(operation, of('whole'), of('body'), text) : undefined,
    parts: parts === undefined ? undefined : readPartArguments(parts, of('part')),
    idempotencyKey: keys[0]?.[1] as string | undefined,
  }
}

function notText([name]: readonly [string, unknown]): FieldError {
  return { location: `arguments.${name}`, code: 'invalid_type', message: 'Must be a text.' }
}

/** A path without a parameter would be another path; the operation itself judges the rest. */
function missingIn(args: readonly ToolArgument[], given: GivenArguments): readonly FieldError[] {
  return args
    .filter(({ name, place }) => place === 'path' && given[name] === undefined)
    .map(({ name }) => ({
      location: `arguments.${name}`,
      code: 'missing_field',
      message: 'This field is required (string).',
    }))
}

/** A value in a query, as the client prints it. */
function printed(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

type Entries = readonly (readonly [string, unknown])[]

/** An optional body without members is not sent. */
function bodyOf(
  { input: { body } }: Operation,
  [whole]: Entries,
  members: Entries,
  text: string,
): SplitArguments['body'] {
  if (whole !== undefined) {
    const span = memberSpan(text, 0, whole[0])
    return {
      value: whole[1],
      text: span === undefined ? JSON.stringify(whole[1]) : text.slice(span.from, span.to),
    }
  }
  if (body === undefined) return undefined
  if (members.length === 0 && body.safeParse(undefined).success) return undefined
  const value = Object.fromEntries(members)
  return { value, text: JSON.stringify(value) }
}
