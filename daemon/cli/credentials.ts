import { readFileSync, statSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ConfigError } from '../config/setting.ts'
import type { Remote } from './remote.ts'

type Env = Readonly<NodeJS.ProcessEnv>

/** The file of a login, in the user's folder of configurations; undefined where the user has no folder. */
function credentialsFile({ XDG_CONFIG_HOME: given, HOME: home }: Env): string | undefined {
  const folder = given || (home ? join(home, '.config') : undefined)
  return folder === undefined ? undefined : join(folder, 'keyhook', 'credentials.json')
}

/** Settings that say which daemon is meant, and win over a login. */
const NAMED = ['KEYHOOK_URL', 'KEYHOOK_KEY', 'KEYHOOK_DATA_DIR', 'KEYHOOK_DATABASE_URL']

/**
 * The environment of a command: that of the process, and the login where no setting names a daemon.
 *
 * @throws ConfigError for a file that others may read
 */
export function withLogin(env: Env): Env {
  if (NAMED.some((name) => env[name] || env[`${name}_FILE`])) return env
  const login = readLogin(env)
  return login === undefined ? env : { ...env, KEYHOOK_URL: login.url, KEYHOOK_KEY: login.key }
}

/** Others: the group and everybody. */
const OTHERS = 0o077

function readLogin(env: Env): Remote | undefined {
  const file = credentialsFile(env)
  const found = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false })
  if (file === undefined || found === undefined) return undefined
  if (process.platform !== 'win32' && (found.mode & OTHERS) !== 0) {
    throw new ConfigError(`${file} holds a key and can be read by others: chmod 600 ${file}`)
  }
  const login = parseLogin(readFileSync(file, 'utf8'))
  if (login !== undefined) return login
  throw new ConfigError(`${file} cannot be read: \`keyhook login\` writes it anew`)
}

function parseLogin(text: string): Remote | undefined {
  try {
    const { url, key } = JSON.parse(text) as Partial<Record<keyof Remote, unknown>>
    return typeof url === 'string' && typeof key === 'string' ? { url, key } : undefined
  } catch {
    return undefined
  }
}

/** @throws ConfigError where the user has no folder */
export async function keepLogin(env: Env, login: Remote): Promise<string> {
  const file = credentialsFile(env)
  if (file === undefined) throw new ConfigError('HOME is not set: set KEYHOOK_URL and KEYHOOK_KEY')
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  // Renamed when it is whole, with the mode of a file that never had another.
  const unfinished = `${file}.${process.pid}`
  await writeFile(unfinished, `${JSON.stringify(login)}\n`, { mode: 0o600, flush: true })
  await rename(unfinished, file)
  return file
}

/** Whether there was a login. */
export async function removeLogin(env: Env): Promise<boolean> {
  const file = credentialsFile(env)
  if (file === undefined || statSync(file, { throwIfNoEntry: false }) === undefined) return false
  await rm(file)
  return true
}
