import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Millis } from '../../lib/time.ts'
import { MINUTE } from '../../lib/time.ts'
import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/setting.ts'
import { controlSocketIn, socketPath } from '../listener/control-socket.ts'
import type { DataFolder } from '../machine/data-folder.ts'
import { exchange } from './exchange.ts'
import type { CommandRequest } from './request.ts'

/** A response, its body as the exact text. */
export interface Answer {
  readonly status: number
  readonly text: string
}

/** Attempts on a data folder that another process holds for a moment. */
const ROUNDS = 5
const BETWEEN_ROUNDS = 100
const ANSWER_WITHIN = 2 * MINUTE

/**
 * Sends a request to the daemon that holds the data folder; without a daemon, opens the store for this one
 * request.
 *
 * The process that holds the folder answers on its control socket, so there is never a second writer. A
 * folder that is held while nobody answers is being opened or closed, and is tried again.
 *
 * @throws ConfigError when the folder is missing, or stays taken without an answer
 */
export async function askDaemon(
  config: Config,
  request: CommandRequest,
  account: string | undefined,
): Promise<Answer> {
  for (let round = 1; ; round++) {
    const answer = await askSocket(config, request, account)
    if (answer !== undefined) return answer
    await requirePackages(config)
    const { takeDataFolder } = await import('../machine/data-folder.ts')
    const folder = await takeDataFolder(config.dataDir, 'must exist').catch((cause: unknown) => {
      if (round < ROUNDS && existsSync(config.dataDir)) return undefined
      throw cause
    })
    if (folder !== undefined) return askHere(config, folder, request, account)
    await pause(BETWEEN_ROUNDS)
  }
}

async function requirePackages(config: Config): Promise<void> {
  const { daemonNeeds, requireInstalled } = await import('../composition/packages.ts')
  await requireInstalled(await daemonNeeds(config))
}

async function askHere(
  config: Config,
  folder: DataFolder,
  request: CommandRequest,
  account: string | undefined,
): Promise<Answer> {
  try {
    const own = `${config.host}:${config.port}`
    // Imported only here: a command is fast while a daemon runs.
    const { createLog } = await import('../telemetry/log.ts')
    const { openLocal } = await import('../composition/local.ts')
    // What a store logs when it opens belongs in a daemon's log; a command prints its response.
    const log = createLog(config.logLevel === 'info' ? 'warn' : config.logLevel)
    const local = await openLocal(config, log, folder, config.baseUrl ?? `http://${own}`, [own])
    try {
      const answer = await askSocket(config, request, account)
      if (answer === undefined) throw new Error('the control socket went away')
      return answer
    } finally {
      await local.close()
    }
  } finally {
    await folder.release()
  }
}

/** Error codes of a socket that nobody listens on; the last one means that its folder is a file. */
const NOBODY: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTDIR'])

/** Resolves to undefined when nobody listens on the control socket; no request was sent then. */
export async function askSocket(
  config: Config,
  request: CommandRequest,
  account?: string,
  within: Millis = ANSWER_WITHIN,
): Promise<Answer | undefined> {
  // A long path is reached through its folder, which must then be there.
  if (!existsSync(config.dataDir)) return undefined
  const target = { socketPath: socketPath(controlSocketIn(resolve(config.dataDir))) }
  try {
    const { status, text } = await exchange(target, request, { account, within })
    return { status, text }
  } catch (cause) {
    if (NOBODY.has((cause as NodeJS.ErrnoException).code)) return undefined
    throw explained(cause as NodeJS.ErrnoException)
  }
}

function explained(cause: NodeJS.ErrnoException): Error {
  if (cause.code === 'EACCES') {
    return new ConfigError('KEYHOOK_DATA_DIR belongs to another user. Run this as that user', {
      cause,
    })
  }
  if (cause.code === 'ECONNRESET') {
    return new Error('the daemon went away before it answered; what it did is not known', { cause })
  }
  return cause
}
