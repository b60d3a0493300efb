import { readFileSync } from 'node:fs'
import { chmod, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import type { SqliteConnection } from '../../plugins/registry.ts'
import { openSqliteFile } from '../../plugins/registry.ts'
import { ConfigError } from '../config/config.ts'

/** What a lock protects, for the refusal. */
export interface Held {
  /** Such as `KEYHOOK_DATA_DIR /srv/keyhook-data`. */
  readonly name: string
  /** The remedy besides stopping the holder: `set KEYHOOK_DATA_DIR to another folder`. */
  readonly otherwise: string
}

/**
 * Locks a file for this process, and returns its release. `<file>.pid` beside it names the process.
 *
 * @throws ConfigError when another process holds it
 */
export async function holdFile(file: string, what: Held): Promise<() => Promise<void>> {
  const lock = await openLock(file, what)
  await chmod(file, 0o600)
  const named = holderFileOf(file)
  // Only the refusal's message needs it, so a full disk does not prevent the lock.
  await writeFile(named, printHolder(), { mode: 0o600 }).catch(() => undefined)
  return async () => {
    await rm(named, { force: true }).catch(() => undefined)
    await lock.close().catch(() => undefined)
  }
}

async function openLock(file: string, { name, otherwise }: Held): Promise<SqliteConnection> {
  const lock = await openSqliteFile(file, 'create').catch((cause: unknown) => {
    throw new ConfigError(`${name} cannot be used: ${(cause as Error).message}`, { cause })
  })
  try {
    await lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    return lock
  } catch (cause) {
    await lock.close()
    const holder = readHolder(holderFileOf(file))
    throw new ConfigError(refusalOf(name, otherwise, holder), { cause })
  }
}

/**
 * Not in the lock file itself: SQLite blocks reading it, and a holder that opens and closes it loses the
 * lock.
 */
function holderFileOf(file: string): string {
  return `${file}.pid`
}

function printHolder(): string {
  return `${process.pid} ${hostname()}\n`
}

interface Holder {
  readonly pid: string
  readonly host: string
}

function refusalOf(name: string, otherwise: string, holder: Holder | undefined): string {
  const isHere = holder?.host === hostname()
  if (isHere && holder?.pid === String(process.pid)) {
    return `${name} is held by this process already. Call createKeyhook once and share what it returns, or ${otherwise}`
  }
  const who = holder === undefined ? 'another process' : `process ${holder.pid}`
  const where = holder === undefined || isHere ? '' : ` of ${holder.host}`
  const how = isHere ? ` (Ctrl-C where it runs, or kill ${holder.pid})` : ''
  return `${name} is held by ${who}${where}, and one process works with it at a time. Stop it${how}, or ${otherwise}`
}

/**
 * Undefined when unknown: a killed process leaves its name, and the next one writes its own after locking.
 */
function readHolder(file: string): Holder | undefined {
  let text = ''
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
  const [, pid = '', host = ''] = /^(\d{1,10}) (\S{1,255})\n$/.exec(text) ?? []
  const isGone = host === hostname() && !isAlive(Number(pid))
  return pid === '' || isGone ? undefined : { pid, host }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    // A process of another user.
    return (cause as NodeJS.ErrnoException).code === 'EPERM'
  }
}
