import { Command, CommanderError } from 'commander'
import { KeyhookError } from '../../lib/errors.ts'
import { ConfigError } from '../config/setting.ts'
import type { CommandSpec, Commands } from '../operations/command.ts'
import { ownVersion } from '../machine/own-version.ts'
import { addedCommands } from './added-commands.ts'
import { addShared, groupsOf, namingHelp } from './command.ts'
import { withLogin } from './credentials.ts'
import type { Ask, CommandPorts } from './operation-command.ts'
import { printOverview } from './overview.ts'
import { BESIDE_OPERATIONS, OWN_COMMANDS } from './own-commands.ts'
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
    const ports = { terminal, ...reaching(terminal, ask), commands, exit }
    const program = createProgram([...commands.specs, ...added], ports)
    await program.parseAsync(withHelpAsOption(args, program), { from: 'user' })
    return code
  } catch (cause) {
    if (cause instanceof CommanderError) return cause.exitCode === 0 ? 0 : MISUSE
    terminal.err(printFailure(cause, terminal.env))
    return 1
  }
}

/** First words of lines that read no login. */
const WITHOUT_LOGIN: ReadonlySet<string | undefined> = new Set([
  '--version',
  ...OWN_COMMANDS.filter(({ withoutLogin }) => withoutLogin).map(({ name }) => name),
])

function knownCommands({ specs }: Commands): ReadonlySet<string | undefined> {
  return new Set([
    'help',
    ...OWN_COMMANDS.map(({ name }) => name),
    ...specs.map(({ group }) => group),
  ])
}

/** What the settings and both ways to a daemon need is loaded by the first request. */
function reaching(
  { env }: Terminal,
  given: Ask | undefined,
): Pick<CommandPorts, 'ask' | 'askRunning' | 'brand'> {
  return {
    ask: given ?? (async (...asked) => (await import('./reach.ts')).ask(env, ...asked)),
    askRunning:
      given ?? (async (...asked) => (await import('./reach.ts')).askRunning(env, ...asked)),
    brand: async () => (await import('./reach.ts')).brandIn(env),
  }
}

/** `help key create` as `key create --help`: a command is loaded when a line leads to it. */
function withHelpAsOption(args: readonly string[], { commands }: Command): readonly string[] {
  const [first, ...words] = args
  const isKnown = commands.some((one) => one.name() === words[0])
  return first === 'help' && isKnown ? [...words, '--help'] : args
}

/** Prints a refusal as one line; the stack of a defect only on request. */
function printFailure(cause: unknown, env: Terminal['env']): string {
  const message = cause instanceof Error ? cause.message : String(cause)
  const expected = cause instanceof ConfigError || cause instanceof KeyhookError
  const debug = env['KEYHOOK_LOG_LEVEL'] === 'debug'
  const stack = !expected && debug && cause instanceof Error ? `${cause.stack}\n` : ''
  return `keyhook: ${message}\n${stack}`
}

/** Every command by its name; what defines one is loaded when a line leads to it. */
function createProgram(specs: readonly CommandSpec[], ports: CommandPorts): Command {
  const { terminal } = ports
  const program = namingHelp(addShared(new Command('keyhook')), 'keyhook')
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
    })
  const definitions = new Map([...ownCommands(program, ports), ...groups(program, specs, ports)])
  program.hook('preSubcommand', async (_, command) => {
    const needed = DESCRIBING_ALL.has(command.name()) ? program.commands : [command]
    for (const one of needed) await definitions.get(one)?.()
  })
  // Last, because commands inherit the help configuration when they are added.
  program.configureHelp({ formatHelp: () => printOverview(OWN_COMMANDS, specs) })
  return program
}

const DESCRIBING_ALL: ReadonlySet<string> = new Set(
  OWN_COMMANDS.filter(({ describesAll }) => describesAll).map(({ name }) => name),
)

/** Commands, each with what defines it. */
type Definitions = readonly (readonly [command: Command, define: () => Promise<void>])[]

function ownCommands(program: Command, ports: CommandPorts): Definitions {
  return OWN_COMMANDS.map(({ name, summary, load }) => {
    const command = addNamed(program, name).description(summary)
    const define = async (): Promise<void> => {
      const defineOwn = await load()
      defineOwn(command, ports)
    }
    return [command, define]
  })
}

function groups(program: Command, specs: readonly CommandSpec[], ports: CommandPorts): Definitions {
  return groupsOf(specs).map(({ group, commands }) => {
    const command = addNamed(program, group).usage('<command> [options]')
    const define = async (): Promise<void> => {
      const { addOperations } = await import('./operation-command.ts')
      addOperations(command, commands, ports)
      const addOthers = await BESIDE_OPERATIONS.get(group)?.()
      addOthers?.(command, ports)
    }
    return [command, define]
  })
}

function addNamed(program: Command, name: string): Command {
  return namingHelp(program.command(name), `keyhook ${name}`)
}
