import { Argument, Command, InvalidArgumentError, Option } from 'commander'
import type { Answer } from './ask.ts'
import type { CommandSpec } from './command.ts'
import { optionName } from './command.ts'
import { printExample } from './example.ts'
import type { Field, FieldKind } from './fields.ts'
import type { Wire } from './print.ts'
import { printAnswer, printError } from './print.ts'
import type { CommandRequest } from './request.ts'
import { readValue, toRequest } from './request.ts'
import type { Terminal } from './terminal.ts'

/** An option's value, wrapped: commander takes a bare null for a missing one. */
interface Given {
  readonly value: unknown
}

/** Sends a command's request, in the account that is named. */
export type Ask = (request: CommandRequest, account: string | undefined) => Promise<Answer>

export interface CommandPorts {
  readonly terminal: Terminal
  readonly ask: Ask
  /** Told the exit code. */
  readonly exit: (code: number) => void
}

interface Shared {
  readonly json?: boolean
  readonly account?: string
  readonly raw?: boolean
}

/** Adds the options that every command takes, before or after its name. */
export function addShared(command: Command): Command {
  return command
    .option('--json', 'print JSON')
    .addOption(new Option('--account <id>', 'the account to act for').argParser(readAccount))
}

function readAccount(text: string): string {
  if (/^[\x21-\x7e]{1,100}$/.test(text)) return text
  throw new InvalidArgumentError('Must be an account id.')
}

/** The command of an operation. */
export function operationCommand(spec: CommandSpec, ports: CommandPorts): Command {
  const { operation, positionals, options, verb } = spec
  const command = new Command(verb).description(operation.summary)
  for (const field of positionals) command.addArgument(toArgument(field))
  const read = options.map((field) => addOption(command, field))
  if (operation.secret !== undefined) {
    command.option('--raw', `print the ${operation.secret.join(', ')} alone`)
  }
  addShared(command)
  command.usage(usageOf(spec)).addHelpText('after', `\nExample:\n  ${printExample(spec)}`)
  return command.action(async () => {
    const values = new Map<Field, unknown>(
      positionals.map((field, at) => [field, command.processedArgs[at]]),
    )
    const given = command.opts<Readonly<Record<string, unknown>>>()
    for (const { field, key } of read) values.set(field, await valueOf(field, given[key], ports))
    const shared = command.optsWithGlobals<Shared>()
    const answer = await ports.ask(toRequest(spec, values), shared.account)
    show(answer, spec, shared, ports)
  })
}

function show(answer: Answer, spec: CommandSpec, shared: Shared, ports: CommandPorts): void {
  const { terminal, exit } = ports
  const failed = answer.status >= 400
  if (failed) exit(1)
  if (shared.json === true) {
    terminal.out(`${answer.text}\n`)
    return
  }
  const body = JSON.parse(answer.text) as Wire
  const { secret = [] } = spec.operation
  if (failed) terminal.err(printError(body))
  else if (shared.raw === true)
    terminal.out(secret.map((name) => `${String(body[name])}\n`).join(''))
  else terminal.out(printAnswer(body, secret))
}

function usageOf({ positionals, options }: CommandSpec): string {
  const needed = options.filter(({ required }) => required)
  return [...positionals.map(positionalOf), ...needed.map(flagOf), '[options]'].join(' ')
}

function positionalOf({ name }: Field): string {
  return `<${name.replaceAll('_', '-')}>`
}

function flagOf({ name, kind }: Field): string {
  return `--${optionName(name)}${SHOWN[kind]}`
}

function toArgument(field: Field): Argument {
  return new Argument(positionalOf(field), describe(field)).argParser((text) =>
    readValue(field, text),
  )
}

/** What stands for a value in the help. */
const SHOWN: Readonly<Record<FieldKind, string>> = {
  text: ' <text>',
  time: ' <time>',
  integer: ' <number>',
  number: ' <number>',
  list: ' <list>',
  json: ' <json>',
  flag: '',
  password: '-stdin',
}

function addOption(
  command: Command,
  field: Field,
): { readonly field: Field; readonly key: string } {
  const option = new Option(flagOf(field), describe(field))
  if (!['flag', 'password'].includes(field.kind)) {
    option.argParser<Given | undefined>((text, before) => ({
      value: readValue(field, text, before?.value),
    }))
  }
  option.makeOptionMandatory(field.required)
  command.addOption(option)
  if (field.kind === 'flag') command.addOption(new Option(`--no-${optionName(field.name)}`))
  return { field, key: option.attributeName() }
}

function describe({ place, kind, description, choices, required, nullable }: Field): string {
  const remarks = [
    required && place !== 'path' ? '(required)' : '',
    kind === 'password' ? 'Read from standard input.' : '',
    description.replace(/[^.]$/, '$&.'),
    kind === 'list' ? 'Comma separated.' : '',
    kind === 'time' ? 'Such as 2030-01-31T12:00:00Z.' : '',
    choices === undefined ? '' : `One of ${choices.join(', ')}.`,
    nullable && !description.includes('null') ? 'null for none.' : '',
  ]
  return remarks.filter((remark) => remark !== '').join(' ')
}

/** A password is never an argument: arguments are seen by every user of the machine. */
async function valueOf(field: Field, given: unknown, { terminal }: CommandPorts): Promise<unknown> {
  if (field.kind === 'flag' || given === undefined) return given
  if (field.kind !== 'password') return (given as Given).value
  return (await terminal.readInput()).replace(/\r?\n$/, '')
}
