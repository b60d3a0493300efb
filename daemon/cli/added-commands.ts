import { ConfigError, readConfig } from '../config/config.ts'
import { COMMANDS_PATH, readCommands } from '../operations/described-commands.ts'
import type { Operation } from '../operations/operation.ts'
import type { Terminal } from './terminal.ts'

/** Options after which the next argument is a value. */
const WITH_VALUE = new Set(['--account'])

/**
 * The operations of families that plugins bring to the running daemon, where a command line may mean one of them.
 * Every other command starts without asking for them.
 *
 * @param known first words of the commands that are here
 * @throws ConfigError for a command that is not here, while nothing answers that may have it
 */
export async function addedOperations(
  args: readonly string[],
  { env }: Pick<Terminal, 'env'>,
  known: ReadonlySet<string | undefined>,
): Promise<readonly Operation[]> {
  const word = firstWord(args)
  if (word === undefined ? args.includes('--version') : known.has(word)) return []
  // The help is there whatever the settings are.
  if (word === undefined) return (await read(env).catch(() => undefined)) ?? []
  const operations = await read(env)
  if (operations !== undefined) return operations
  if (await hasFamilies(readConfig(env))) {
    throw new ConfigError(
      `${word} is no command of its own. Those of families that plugins bring need the running daemon`,
    )
  }
  return []
}

/** Undefined when no daemon runs. */
async function read(env: Terminal['env']): Promise<readonly Operation[] | undefined> {
  const { askSocket } = await import('./ask.ts')
  const request = { method: 'GET', path: COMMANDS_PATH, body: undefined }
  const answer = await askSocket(readConfig(env), request)
  if (answer === undefined) return undefined
  return answer.status === 200 ? readCommands(answer.text) : []
}

function firstWord(args: readonly string[]): string | undefined {
  return args.find((one, at) => !one.startsWith('-') && !WITH_VALUE.has(args[at - 1] ?? ''))
}

async function hasFamilies(config: ReturnType<typeof readConfig>): Promise<boolean> {
  const { namedPlugins } = await import('../composition/extensions/named.ts')
  const named = await namedPlugins(config, config.dataDir)
  return named.some(({ contract }) => contract === 'families')
}
