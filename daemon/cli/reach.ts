import { ConfigError, readConfig } from '../config/config.ts'
import type { Answer } from './ask.ts'
import { askDaemon, askSocket } from './ask.ts'
import { askRemote, brandOf, remoteOf } from './remote.ts'
import type { CommandRequest } from './request.ts'

type Env = Readonly<NodeJS.ProcessEnv>

/** Asks the daemon that the settings name: one elsewhere, that of the data folder, else its store. */
export async function ask(
  env: Env,
  request: CommandRequest,
  account: string | undefined,
): Promise<Answer> {
  const config = readConfig(env)
  const remote = remoteOf(config)
  if (remote !== undefined) return askRemote(remote, request, account)
  return askDaemon(config, request, account)
}

/**
 * As `ask`, of a daemon that runs.
 *
 * @throws ConfigError when none does
 */
export async function askRunning(
  env: Env,
  request: CommandRequest,
  account: string | undefined,
): Promise<Answer> {
  const config = readConfig(env)
  const remote = remoteOf(config)
  if (remote !== undefined) return askRemote(remote, request, account)
  const answer = await askSocket(config, request, account)
  if (answer !== undefined) return answer
  throw new ConfigError(
    'KEYHOOK_DATA_DIR has no running daemon: start it with `keyhook serve`, or name another with KEYHOOK_URL',
  )
}

/** The brand of that daemon, which names headers. */
export function brandIn(env: Env): string {
  return brandOf(readConfig(env))
}
