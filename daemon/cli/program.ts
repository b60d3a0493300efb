import { Command, CommanderError, Option } from 'commander'
import { KeyhookError } from '../../lib/errors.ts'
import { ConfigError, readConfig } from '../config/config.ts'
import type { CommandSpec, Commands } from '../operations/command.ts'
import { ownVersion } from '../machine/own-version.ts'
import { addedCommands } from './added-commands.ts'
import { addAgent } from './agent.ts'
import { addBackup } from './backup.ts'
import type { Check } from './check.ts'
import { printChecks } from './check.ts'
import { groupsOf } from './command.ts'
import { addCompletion } from './completion.ts'
import { addListen, addTail } from './follow.ts'
import type { Ask, CommandPorts } from './operation-command.ts'
import { addShared, operationCommand } from './operation-command.ts'
import { withLogin } from './credentials.ts'
import { addLogin } from './login.ts'
import { addOutbox } from './outbox.ts'
import { printOverview } from './overview.ts'
import { addProxyExample } from './proxy-example.ts'
import { askRemote, brandOf, remoteOf } from './remote.ts'
import { addServing } from './serve.ts'
import { addStatus } from './status.ts'
import { addUpgrade } from './upgrade.ts'
import type { Terminal } from './terminal.ts'

/** Exit code of a command line that cannot be parsed. */
const MISUSE = 2

/**
 * Runs one command line and returns its exit code: 0, 1 for a refusal, 2 for a line that cannot be parsed.
 *
 * @param ask default: the daemon of the data folder, else its store
 */
export async function runCli(
  args: readonly string[],
  given: Terminal,
  commands: Commands,
  ask?: Ask,
): Promise<number> {
  let code = 0
  let terminal = given
  const exit = (exitCode: number): void => {
    code = exitCode
  }
  try {
    if (!WITHOUT_LOGIN.has(args[0])) terminal = { ...given, env: withLogin(given.env) }
    const added = await addedCommands(args, terminal, knownCommands(commands))
    const ports = {
      terminal,
      ask: ask ?? askOf(terminal),
      askRunning: ask ?? askRunningOf(terminal),
      brand: () => brandOf(readConfig(terminal.env)),
      commands,
      exit,
    }
    const program = createProgram([...commands.specs, ...added], ports)
    await program.parseAsync(args, { from: 'user' })
    return code
  } catch (cause) {
    if (cause instanceof CommanderError) return cause.exitCode === 0 ? 0 : MISUSE
    terminal.err(printFailure(cause, terminal.env))
    return 1
  }
}

/** Commands beside those of operations. */
const OWN_COMMANDS = [
  'serve',
  'dispatch',
  'doctor',
  'agent',
  'outbox',
  'backup',
  'status',
  'upgrade',
  'login',
  'logout',
  'proxy-example',
  'completion',
  'listen',
  'help',
]

/** Commands of the machine they run on, and those that change a login. */
const WITHOUT_LOGIN: ReadonlySet<string | undefined> = new Set([
  'serve',
  'dispatch',
  'doctor',
  'backup',
  'upgrade',
  'outbox',
  'proxy-example',
  'completion',
  'login',
  'logout',
])

function knownCommands({ specs }: Commands): ReadonlySet<string | undefined> {
  return new Set([...OWN_COMMANDS, ...specs.map(({ group }) => group)])
}

function askOf({ env }: Terminal): Ask {
  return async (request, account) => {
    const config = readConfig(env)
    const remote = remoteOf(config)
    if (remote !== undefined) return askRemote(remote, request, account)
    // What a store logs when it opens belongs in a daemon's log; a command prints its response.
    const { createLog } = await import('../telemetry/log.ts')
    const log = createLog(config.logLevel === 'info' ? 'warn' : config.logLevel)
    const { askDaemon } = await import('./ask.ts')
    return askDaemon(config, log, request, account)
  }
}

function askRunningOf({ env }: Terminal): Ask {
  return async (request, account) => {
    const config = readConfig(env)
    const remote = remoteOf(config)
    if (remote !== undefined) return askRemote(remote, request, account)
    const { askSocket } = await import('./ask.ts')
    const answer = await askSocket(config, request, account)
    if (answer !== undefined) return answer
    throw new ConfigError(
      'KEYHOOK_DATA_DIR has no running daemon: start it with `keyhook serve`, or name another with KEYHOOK_URL',
    )
  }
}

/** Prints a refusal as one line; the stack of a defect only on request. */
function printFailure(cause: unknown, env: Terminal['env']): string {
  const message = cause instanceof Error ? cause.message : String(cause)
  const expected = cause instanceof ConfigError || cause instanceof KeyhookError
  const debug = env['KEYHOOK_LOG_LEVEL'] === 'debug'
  const stack = !expected && debug && cause instanceof Error ? `${cause.stack}\n` : ''
  return `keyhook: ${message}\n${stack}`
}

function createProgram(specs: readonly CommandSpec[], ports: CommandPorts): Command {
  const { terminal } = ports
  const program = addShared(new Command('keyhook'))
    .exitOverride()
    .enablePositionalOptions()
    .version(ownVersion(), '--version')
    .configureOutput({
      writeOut: (text) => {
        terminal.out(text)
      },
      writeErr: (text) => {
        terminal.err(text)
      },
      outputError: printMisuse('keyhook --help'),
    })
  addServing(program, terminal)
  addDoctor(program, ports)
  addAgent(program, ports)
  addOutbox(program, terminal)
  addBackup(program, terminal)
  addStatus(program, terminal)
  addUpgrade(program, ports)
  addLogin(program, terminal)
  addProxyExample(program, terminal)
  addCompletion(program, terminal)
  const own = program.commands.map((one) => ({ name: one.name(), summary: one.description() }))
  addGroups(program, specs, ports)
  const events = program.commands.find((one) => one.name() === 'event')
  if (events !== undefined) addTail(events, ports)
  addListen(program, ports)
  // Last, because commands inherit the help configuration when they are added.
  program.configureHelp({ formatHelp: () => printOverview(own, specs) })
  return program
}

/** Prints one line that names the command with the full help. */
function printMisuse(help: string): (text: string, write: (text: string) => void) => void {
  return (text, write) => {
    const line = text
      .replace(/^error: /, '')
      .trim()
      .replaceAll('\n', ' ')
    write(`keyhook: ${line.replace(/([^.?)])$/, '$1.')} See \`${help}\`\n`)
  }
}

function addDoctor(program: Command, { terminal, exit }: CommandPorts): void {
  program
    .command('doctor')
    .description('Check the configuration, the data folder, the database and the master key')
    .addOption(
      new Option('--live', 'ask only whether the running daemon answers').conflicts('ready'),
    )
    .option('--ready', 'ask only whether it can write, and is not stopping')
    .option('--json', 'print JSON')
    .action(async (_: unknown, command: Command) => {
      const { json, ...asked } = command.optsWithGlobals<DoctorOptions>()
      const checks = await checksOf(asked, terminal.env)
      const ok = checks.every((check) => check.ok)
      terminal.out(json === true ? `${JSON.stringify({ ok, checks })}\n` : printChecks(checks))
      if (!ok) exit(1)
    })
}

interface DoctorOptions {
  readonly json?: boolean
  readonly live?: boolean
  readonly ready?: boolean
}

/** A probe loads nothing of what the other checks need. */
async function checksOf(
  { live, ready }: DoctorOptions,
  env: Terminal['env'],
): Promise<readonly Check[]> {
  if (live === true || ready === true) {
    const { probe } = await import('./probe.ts')
    return [await probe(ready === true ? 'ready' : 'live', env)]
  }
  const { examine } = await import('./doctor.ts')
  return examine(env)
}

function addGroups(program: Command, specs: readonly CommandSpec[], ports: CommandPorts): void {
  for (const { group, commands } of groupsOf(specs)) {
    const parent = program.command(group).usage('<command> [options]')
    for (const spec of commands) {
      const command = operationCommand(spec, ports).copyInheritedSettings(parent)
      const help = `keyhook ${group} ${spec.verb} --help`
      parent.addCommand(command.configureOutput({ outputError: printMisuse(help) }))
    }
  }
}
