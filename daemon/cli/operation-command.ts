import { Command } from 'commander'
import { addOption, refuseInput, toArgument, usageOf, valueOf } from './arguments.ts'
import { printCsv } from '../operations/print-csv.ts'
import type { Answer } from './ask.ts'
import type { CommandFunctions, CommandSpec, Commands, Field } from '../operations/command.ts'
import { addShared, namingHelp, optionName } from './command.ts'
import { printExample } from './example.ts'
import { askAllPages, readAllPages, isPaged } from './pages.ts'
import { withWaitNotice } from './terminal.ts'
import type { Wire } from './print.ts'
import { printAccountChoice, printAnswer, printError } from './print.ts'
import type { CommandRequest } from './request.ts'
import { toRequest } from './request.ts'
import type { Terminal } from './terminal.ts'

/** Sends a command's request in the named account. */
export type Ask = (request: CommandRequest, account: string | undefined) => Promise<Answer>

export interface CommandPorts {
  readonly terminal: Terminal
  readonly ask: Ask
  /** As `ask`, but refused while no daemon runs. */
  readonly askRunning: Ask
  /** The brand of the daemon, which names headers. */
  readonly brand: () => Promise<string>
  readonly commands: Commands
  /** Receives the exit code. */
  readonly exit: (code: number) => void
}

/** A command with what its operation says to a person. */
type Explained = CommandSpec & CommandFunctions

interface Shared {
  readonly json?: boolean
  readonly account?: string
  readonly raw?: boolean
  readonly all?: boolean
}

/** Names of options that are not fields. */
const SHARED = ['json', 'account', 'raw', 'all'] satisfies readonly (keyof Shared)[]

/** Adds the commands of a group. */
export function addOperations(
  group: Command,
  specs: readonly CommandSpec[],
  ports: CommandPorts,
): void {
  for (const spec of specs) {
    const command = operationCommand(spec, ports).copyInheritedSettings(group)
    group.addCommand(namingHelp(command, `keyhook ${spec.group} ${spec.verb}`))
  }
}

function operationCommand(spec: CommandSpec, ports: CommandPorts): Command {
  const { positionals, options, verb, secret } = spec
  const command = new Command(verb).description(spec.summary)
  for (const field of positionals) command.addArgument(toArgument(field))
  const names = new Set([...options.map(({ name }) => optionName(name)), ...SHARED])
  const changes = spec.method === 'PATCH'
  const read = options.map((field) => addOption(command, field, changes, names))
  if (isPaged(spec)) command.option('--all', 'every page, not one alone')
  if (secret !== undefined) command.option('--raw', `print the ${secret.join(', ')} alone`)
  addShared(command)
  command.usage(usageOf(spec)).addHelpText('after', `\nExample:\n  ${printExample(spec)}`)
  return command.action(async () => {
    const values = new Map<Field, unknown>(
      positionals.map((field, at) => [field, command.processedArgs[at]]),
    )
    const given = command.opts<Readonly<Record<string, unknown>>>()
    for (const { field, key } of read) {
      const value = await valueOf(field, given[key], ports.terminal).catch((cause: unknown) =>
        refuseInput(command, field, cause),
      )
      values.set(field, value)
    }
    const shared = command.optsWithGlobals<Shared>()
    const answer = await answerOf(spec, values, shared, ports)
    const isFunctional = spec.isExplained || (spec.isCsv && isCsv(values))
    const functions = isFunctional ? await ports.commands.functions(spec.id) : {}
    show(answer, { ...spec, ...functions }, values, shared, ports)
    if (shared.json !== true && isAccountRequired(answer)) {
      ports.terminal.err(await describeAccounts(ports))
    }
    if (answer.status < 400) await warn({ ...spec, ...functions }, values, shared, ports)
  })
}

const FIRST_ACCOUNT =
  'There is no account yet. Create the owner, whose account it will be: `keyhook owner create --email <you> --password-stdin`, ' +
  'or start the daemon with KEYHOOK_OWNER_EMAIL and KEYHOOK_OWNER_PASSWORD.'

function isAccountRequired({ status, text }: Answer): boolean {
  if (status !== 400) return false
  const { error } = JSON.parse(text) as { readonly error: Wire }
  return error['code'] === 'account_required'
}

/** Accounts that a refusal lists. */
const LISTED_ACCOUNTS = 10

/** The accounts that the command could have named, newest first. */
async function describeAccounts({ ask }: CommandPorts): Promise<string> {
  const path = `/v1/accounts?limit=${LISTED_ACCOUNTS}`
  const listed = await ask({ method: 'GET', path, body: undefined }, undefined)
  return printAccountChoice(JSON.parse(listed.text) as Wire) || `${FIRST_ACCOUNT}\n`
}

/** The command has succeeded: a failed read does not produce a warning. */
async function warn(
  spec: Explained,
  values: ReadonlyMap<Field, unknown>,
  { account }: Shared,
  { terminal, ask }: CommandPorts,
): Promise<void> {
  const { warning } = spec
  const sent = JSON.parse(toRequest(spec, values).body ?? '{}') as Wire
  const list = warning?.list(sent)
  if (warning === undefined || list === undefined) return
  const asking = (cursor: string | undefined): Promise<Answer> => {
    const query = new URLSearchParams({ limit: '100', ...(cursor !== undefined && { cursor }) })
    return ask({ method: 'GET', path: `${list}?${query.toString()}`, body: undefined }, account)
  }
  const read = await readAllPages(asking, {}).catch(() => undefined)
  if (read === undefined || read.status >= 400) return
  for (const text of warning.describe(sent, JSON.parse(read.text) as Wire)) {
    terminal.err(`keyhook: warning: ${text}\n`)
  }
}

function answerOf(
  spec: CommandSpec,
  values: ReadonlyMap<Field, unknown>,
  { account, all }: Shared,
  { terminal, ask }: CommandPorts,
): Promise<Answer> {
  const asking = (given: ReadonlyMap<Field, unknown>): Promise<Answer> =>
    withWaitNotice(terminal, ask(toRequest(spec, withoutFormat(spec, given)), account))
  return all === true ? askAllPages(spec, values, asking, terminal) : asking(values)
}

/** A table is printed here from JSON, because all of its pages have one header. */
function withoutFormat(
  { isCsv }: CommandSpec,
  values: ReadonlyMap<Field, unknown>,
): ReadonlyMap<Field, unknown> {
  if (!isCsv) return values
  return new Map([...values].filter(([{ name }]) => name !== 'format'))
}

function isCsv(values: ReadonlyMap<Field, unknown>): boolean {
  return [...values].some(([{ name }, value]) => name === 'format' && value === 'csv')
}

function showCsv(
  { columns, row }: NonNullable<CommandFunctions['csv']>,
  page: Wire,
  { terminal }: CommandPorts,
): void {
  terminal.out(printCsv({ columns, rows: (page['data'] as readonly never[]).map(row) }))
  const cursor = page['next_cursor']
  if (page['has_more'] === true) terminal.err(`There is more: --cursor ${String(cursor)}\n`)
}

function show(
  answer: Answer,
  { secret = [], isPriced, failure, conclusion, csv }: Explained,
  values: ReadonlyMap<Field, unknown>,
  shared: Shared,
  ports: CommandPorts,
): void {
  const { terminal, exit } = ports
  const body = JSON.parse(answer.text) as Wire
  const refused = answer.status >= 400
  const isQuote = isPriced && body['dry_run'] === true
  const failed = refused || isQuote ? undefined : failure?.(body)
  if (refused || failed !== undefined) exit(1)
  if (shared.json === true) {
    terminal.out(`${answer.text}\n`)
    return
  }
  if (refused) terminal.err(printError(body))
  else if (csv !== undefined && isCsv(values)) showCsv(csv, body, ports)
  else if (shared.raw === true)
    terminal.out(secret.map((name) => `${String(body[name])}\n`).join(''))
  else {
    const sent = Object.fromEntries([...values].map(([{ name }, value]) => [name, value]))
    const concluded = conclusion === undefined || isQuote ? '' : `\n${conclusion(body, sent)}\n`
    terminal.out(printAnswer(body, secret) + concluded)
  }
  if (failed !== undefined) terminal.err(`keyhook: ${failed}\n`)
}
