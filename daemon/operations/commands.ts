import { ownVersion } from '../machine/own-version.ts'
import type { CommandSpec, Commands, Field } from './command.ts'
import { printCommands } from './command.ts'
import { partFields, readFields, withFiles } from './command-fields.ts'
import type { Family } from './family.ts'
import type { Operation } from './operation.ts'
import { querySchema } from './query.ts'

type Operations = Pick<Family, 'operations'>

/** The commands of these families, in their order. */
export function commandsOf(families: readonly Operations[]): Commands {
  const operations = families.flatMap((family) => family.operations)
  return {
    specs: operations.flatMap((operation) =>
      operation.command === undefined ? [] : [toCommand(operation, operation.command)],
    ),
    functions: async (id) => operations.find((one) => one.id === id) ?? {},
  }
}

/** What a daemon says of commands on its control socket: the command line reads those of its own version. */
export function describeCommands(families: readonly Operations[]): string {
  const specs = commandsOf(families).specs.map(({ options, ...spec }) => ({
    ...spec,
    // Functions stay with the daemon: a table is made of a page by one of them.
    options: spec.isCsv ? options.filter(({ name }) => name !== 'format') : options,
    isCsv: false,
    isExplained: false,
  }))
  return `{"version":${JSON.stringify(ownVersion())},"specs":${printCommands(specs)}}`
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
  const { id, summary, method, path, secret } = operation
  const { response: _, accepted: __, ...example } = operation.example
  const { params, body, parts, form } = operation.input
  const given = [
    ...readFields(querySchema(operation), 'query'),
    ...withFiles(readFields(body, 'body'), form?.parts),
    ...partFields(parts),
  ]
  const inPath = readFields(params, 'path')
  const named = namesIn(rest, /<(\w+)>/g).map((name) => pick(operation, given, name))
  return {
    id,
    summary,
    method,
    path,
    example,
    ...(secret !== undefined && { secret }),
    group,
    verb,
    positionals: [
      ...namesIn(path, /\{(\w+)\}/g).map((name) => pick(operation, inPath, name)),
      ...named,
    ],
    options: given.filter((field) => !named.includes(field)),
    ...(body !== undefined && {
      body: body.safeParse(undefined).success ? 'optional' : 'required',
    }),
    ...(parts !== undefined && { parts: Object.keys(parts) }),
    isForm: form !== undefined,
    isPriced: operation.quote !== undefined,
    isCsv: operation.csv !== undefined,
    isExplained: [operation.failure, operation.conclusion, operation.warning].some(
      (one) => one !== undefined,
    ),
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
