import type { Family } from '../operations/family.ts'
import type { Operation } from '../operations/operation.ts'
import { querySchema } from '../operations/query.ts'
import type { Field } from './fields.ts'
import { partFields, readFields, withFiles } from './fields.ts'

/** A command of the command line, derived from its operation alone. */
export interface CommandSpec {
  readonly operation: Operation
  /** `key` of `keyhook key create`. */
  readonly group: string
  readonly verb: string
  readonly positionals: readonly Field[]
  readonly options: readonly Field[]
}

/** The commands of these families, in their order. */
export function commandsOf(
  families: readonly Pick<Family, 'operations'>[],
): readonly CommandSpec[] {
  return families
    .flatMap(({ operations }) => operations)
    .flatMap((operation) =>
      operation.command === undefined ? [] : [toCommand(operation, operation.command)],
    )
}

/**
 * Reads `owner plan <email> <plan>`: group, verb, and the fields without an option. Path parameters come
 * first.
 *
 * @throws TypeError for a command that is not of this form or names a field that does not exist
 */
function toCommand(operation: Operation, command: string): CommandSpec {
  const [, group, verb, rest = ''] = /^([a-z-]+) ([a-z-]+)((?: <\w+>)*)$/.exec(command) ?? []
  if (group === undefined || verb === undefined) {
    throw new TypeError(`${operation.id}: a command is "<group> <verb>", not "${command}"`)
  }
  const { params, body, parts, form } = operation.input
  const given = [
    ...readFields(querySchema(operation), 'query'),
    ...withFiles(readFields(body, 'body'), form?.parts),
    ...partFields(parts),
  ]
  const inPath = readFields(params, 'path')
  const named = namesIn(rest, /<(\w+)>/g).map((name) => pick(operation, given, name))
  return {
    operation,
    group,
    verb,
    positionals: [
      ...namesIn(operation.path, /\{(\w+)\}/g).map((name) => pick(operation, inPath, name)),
      ...named,
    ],
    options: given.filter((field) => !named.includes(field)),
  }
}

function namesIn(text: string, pattern: RegExp): readonly string[] {
  return Array.from(text.matchAll(pattern), ([, name = '']) => name)
}

function pick({ id }: Operation, fields: readonly Field[], name: string): Field {
  const field = fields.find((one) => one.name === name)
  if (field === undefined) throw new TypeError(`${id} has no field ${name}`)
  return field
}

/** The commands of each group, in the order of first appearance. */
export function groupsOf(
  specs: readonly CommandSpec[],
): readonly { readonly group: string; readonly commands: readonly CommandSpec[] }[] {
  return [...new Set(specs.map(({ group }) => group))].map((group) => ({
    group,
    commands: specs.filter((spec) => spec.group === group),
  }))
}

/**
 * The name of a field on the command line.
 *
 * @example
 * optionName('expires_at') // 'expires'
 */
export function optionName(field: string): string {
  return field.replace(/_at$/, '').replaceAll('_', '-')
}
