import type { CommandSpec, Field } from '../operations/command.ts'
import { optionName } from './command.ts'

/**
 * The operation's example as a command line.
 *
 * @example
 * printExample(spec) // keyhook key create --name CI --scopes 'apps:read,deploy:*'
 */
export function printExample({
  example,
  parts = [],
  group,
  verb,
  positionals,
  options,
}: CommandSpec): string {
  const { params, query, body } = example
  const part = Object.fromEntries(parts.map(withPath))
  const given: Readonly<Record<Field['location'], unknown>> = { path: params, query, body, part }
  const valueOf = ({ location, name }: Field): unknown =>
    (given[location] as Readonly<Record<string, unknown>> | undefined)?.[name]
  const words = [
    ...positionals.map((field) => quote(printText(valueOf(field)))),
    ...options.flatMap((field) => printOption(field, valueOf(field))),
  ]
  return ['keyhook', group, verb, ...words].join(' ')
}

function withPath(name: string): readonly [name: string, path: string] {
  return [name, 'PATH']
}

function printOption({ name, kind }: Field, value: unknown): readonly string[] {
  if (value === undefined) return []
  const flag = `--${optionName(name)}`
  if (kind === 'secret') return [`${flag}-stdin`]
  if (kind === 'flag') return [printText(value) === 'true' ? flag : `--no-${optionName(name)}`]
  return [flag, quote(printText(value))]
}

function printText(value: unknown): string {
  if (typeof value === 'string') return value
  const list = Array.isArray(value) && value.every((item) => typeof item === 'string')
  return list ? value.join(',') : JSON.stringify(value)
}

/** Quotes a text for a POSIX shell. */
function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
