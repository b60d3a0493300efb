import { ConfigError } from '../config/setting.ts'
import type { CommandSpec } from '../operations/command.ts'
import { COMMANDS_PATH } from '../operations/command.ts'
import { ownVersion } from '../machine/own-version.ts'
import type { Terminal } from './terminal.ts'

/** Options after which the next argument is a value. */
const WITH_VALUE = new Set(['--account'])

/**
 * The commands of families that plugins bring to the running daemon, where a command line may mean one of them.
 * Every other command starts without asking for them.
 *
 * @param known first words of the commands that are here
 * @throws ConfigError for a command that is not here, while nothing answers that may have it
 */
export async function addedCommands(
  args: readonly string[],
  { env }: Pick<Terminal, 'env'>,
  known: ReadonlySet<string | undefined>,
): Promise<readonly CommandSpec[]> {
  const word = firstWord(args)
  if (word === undefined ? args.includes('--version') : known.has(word)) return []
  // The help is there whatever the settings are.
  if (word === undefined) return (await read(env).catch(() => undefined)) ?? []
  const commands = await read(env)
  if (commands !== undefined) return commands
  if (await hasFamilies(env)) {
    throw new ConfigError(
      `${word} is no command of its own. Those of families that plugins bring need the running daemon`,
    )
  }
  return []
}

/** Undefined when no daemon runs. */
async function read(env: Terminal['env']): Promise<readonly CommandSpec[] | undefined> {
  const { readConfig } = await import('../config/config.ts')
  const config = readConfig(env)
  // One elsewhere describes them to its own machine alone.
  if (config.url !== undefined) return []
  const { askSocket } = await import('./ask.ts')
  const request = { method: 'GET', path: COMMANDS_PATH, body: undefined }
  const answer = await askSocket(config, request)
  if (answer === undefined) return undefined
  return answer.status === 200 ? specsIn(answer.text) : []
}

/** None of a daemon of another version, whose form may be another. */
function specsIn(text: string): readonly CommandSpec[] {
  const { version, specs } = JSON.parse(text) as {
    readonly version?: string
    readonly specs?: readonly CommandSpec[]
  }
  return version === ownVersion() ? (specs ?? []) : []
}

function firstWord(args: readonly string[]): string | undefined {
  return args.find((one, at) => !one.startsWith('-') && !WITH_VALUE.has(args[at - 1] ?? ''))
}

async function hasFamilies(env: Terminal['env']): Promise<boolean> {
  const { readConfig } = await import('../config/config.ts')
  const config = readConfig(env)
  const { namedPlugins } = await import('../composition/extensions/named.ts')
  const named = await namedPlugins(config, config.dataDir)
  return named.some(({ contract }) => contract === 'families')
}
