import type { Command } from 'commander'
import { Argument, InvalidArgumentError, Option } from 'commander'
import type { CommandSpec, Field, FieldKind } from '../operations/command.ts'
import { optionName } from './command.ts'
import { readValue } from './request.ts'
import type { Terminal } from './terminal.ts'

/** The value of an option, wrapped: commander takes a bare null for a missing one. */
type Given = { readonly value: unknown } | 'standard input'

/** An option of a command, by the key under which commander stores its value. */
export interface ReadOption {
  readonly field: Field
  readonly key: string
}

/** The part of a command's help line after its name. */
export function usageOf({ positionals, options }: CommandSpec): string {
  const needed = options.filter(({ required }) => required)
  return [...positionals.map(positionalOf), ...needed.map(flagOf), '[options]'].join(' ')
}

/** The argument that stands for a field. */
export function toArgument(field: Field): Argument {
  return new Argument(positionalOf(field), describe(field)).argParser((text, before: unknown) =>
    readValue(field, text, before),
  )
}

/** An option that is another option under a name that people also try. */
class AlsoTried extends Option {
  readonly #meant: Option

  constructor(name: string, meant: Option) {
    super(meant.flags.replace(/^--[a-z-]+/, `--${name}`))
    this.#meant = meant
    if (meant.parseArg !== undefined) this.argParser(meant.parseArg)
    this.hideHelp()
  }

  override attributeName(): string {
    return this.#meant.attributeName()
  }
}

/**
 * Adds the option of a field.
 *
 * @param names of every option of the command
 */
export function addOption(
  command: Command,
  field: Field,
  changes: boolean,
  names: ReadonlySet<string>,
): ReadOption {
  const option = new Option(flagOf(field), describe(field))
  if (!['flag', 'secret'].includes(field.kind)) {
    option.argParser<Given | undefined>((text, before) =>
      field.kind === 'json' && text === '-'
        ? 'standard input'
        : { value: readValue(field, text, typeof before === 'object' ? before.value : undefined) },
    )
  }
  option.makeOptionMandatory(field.required === true)
  command.addOption(option)
  for (const name of alsoTried(field)) {
    if (!names.has(name)) command.addOption(new AlsoTried(name, option))
  }
  if (field.kind === 'flag') {
    const off = new Option(`--no-${optionName(field.name)}`, 'The opposite.')
    command.addOption(off.hideHelp(field.isOff || (!changes && field.location !== 'query')))
  }
  return { field, key: option.attributeName() }
}

/**
 * The value given for an option; undefined when none was given. A secret is never an argument, because
 * every user of the machine can see arguments.
 *
 * @throws InvalidArgumentError when standard input holds something that the field does not accept
 */
export async function valueOf(field: Field, given: unknown, terminal: Terminal): Promise<unknown> {
  if (field.kind === 'flag' || given === undefined) return given
  if (field.kind === 'secret') return (await terminal.readInput()).replace(/\r?\n$/, '')
  const read = given as Given
  return read === 'standard input' ? readValue(field, await terminal.readInput()) : read.value
}

/**
 * Ends the command with one line about the content of standard input.
 *
 * @throws the cause itself when it has another reason
 */
export function refuseInput(command: Command, { name }: Field, cause: unknown): never {
  if (!(cause instanceof InvalidArgumentError)) throw cause
  return command.error(`error: --${optionName(name)} from standard input: ${cause.message}`)
}

/** `--scope` for `--scopes`, and the name that the API has: `--expires-at` for `--expires`. */
function alsoTried({ name, kind }: Field): readonly string[] {
  const own = optionName(name)
  const inFull = name.replaceAll('_', '-')
  return [
    ...((kind === 'list' || kind === 'files') && own.endsWith('s') ? [own.slice(0, -1)] : []),
    ...(inFull === own || kind === 'flag' || kind === 'secret' ? [] : [inFull]),
  ]
}

function positionalOf({ name, kind }: Field): string {
  return `<${name.replaceAll('_', '-')}${kind === 'files' ? '...' : ''}>`
}

function flagOf({ name, kind }: Field): string {
  return `--${optionName(name)}${SHOWN[kind]}`
}

/** Placeholder of a value in the help. */
const SHOWN: Readonly<Record<FieldKind, string>> = {
  text: ' <text>',
  time: ' <time>',
  expiry: ' <time>',
  integer: ' <number>',
  number: ' <number>',
  list: ' <list>',
  json: ' <json>',
  flag: '',
  secret: '-stdin',
  files: ' <path>',
}

/** How a value of each kind is written. */
const WRITTEN: Readonly<Record<FieldKind, string>> = {
  text: '',
  time: 'So long ago, such as 1h or 7d, or an instant such as 2030-01-31T12:00:00Z.',
  expiry: 'From now, such as 12h, 30d or 2w, or an instant such as 2030-01-31T12:00:00Z.',
  integer: '',
  number: '',
  list: 'Comma separated.',
  json: '- reads it from standard input.',
  flag: '',
  secret: 'Read from standard input.',
  files: '',
}

function describe({ location, kind, description, choices, required, nullable }: Field): string {
  const remarks = [
    required && location !== 'path' ? '(required)' : '',
    description.replace(/[^.]$/, '$&.'),
    WRITTEN[kind],
    choices === undefined ? '' : `One of ${choices.join(', ')}.`,
    nullable && !description.includes('null') ? 'null for none.' : '',
  ]
  return remarks.filter((remark) => remark !== '').join(' ')
}
