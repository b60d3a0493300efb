import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { environmentOfPostgres } from '../../plugins/registry.ts'
import { ConfigError } from '../config/config.ts'

/** A PostgreSQL database, and the programs that come with it. */
export interface PostgresPrograms {
  readonly url: string
  /** Their folder; undefined: those in PATH. */
  readonly programs: string | undefined
}

type Program = 'pg_dump' | 'pg_restore' | 'psql'

interface Running {
  readonly child: ChildProcess
  /** @throws ConfigError with what it said */
  readonly done: Promise<void>
}

/** @throws ConfigError when `pg_dump` is missing or fails */
export async function dumpTo(
  file: string,
  snapshot: string,
  { url, programs }: PostgresPrograms,
): Promise<void> {
  const args = ['--format=custom', '--no-owner', '--no-privileges', '--no-password']
  const asked = [...args, `--snapshot=${snapshot}`, `--file=${file}`]
  await start('pg_dump', asked, programs, await environmentOfPostgres(url)).done
}

/**
 * Restores a dump into an empty database, in one transaction that `end` ends: when this process or one of its
 * children dies, nothing was restored.
 *
 * @param end statements, the last of which commits
 * @throws ConfigError when a program is missing or fails
 */
export async function restoreFrom(
  file: string,
  end: string,
  { url, programs }: PostgresPrograms,
): Promise<void> {
  const env = await environmentOfPostgres(url)
  // Without an environment of its own: it reads a file, and connects to nothing.
  const reading = ['--no-owner', '--no-privileges', '--file=-', file]
  const dump = start('pg_restore', reading, programs, {})
  const running = ['--no-psqlrc', '--quiet', '--no-password', '--set=ON_ERROR_STOP=1', '--file=-']
  const target = start('psql', running, programs, env)
  // The first that fails ends the other, whose own failure says nothing then.
  const failed = Promise.race([dump.done, target.done].map((done) => done.then(never)))
  failed.catch(() => undefined)
  try {
    await Promise.race([feed(dump, target, end), failed])
    await Promise.race([target.done, failed])
  } finally {
    dump.child.kill()
    target.child.kill()
    await Promise.allSettled([dump.done, target.done])
  }
}

const never = (): Promise<never> => new Promise(() => undefined)

async function feed(dump: Running, target: Running, end: string): Promise<void> {
  const { stdin } = target.child
  const { stdout } = dump.child
  if (stdin === null || stdout === null) return
  stdin.write('BEGIN;\n')
  await pipeline(stdout, stdin, { end: false })
  await dump.done
  stdin.end(end)
}

/** Lines of what a program said that are repeated. */
const SHOWN = 5

function start(
  program: Program,
  args: readonly string[],
  folder: string | undefined,
  env: Readonly<Record<string, string>>,
): Running {
  const command = folder === undefined ? program : join(folder, program)
  const child = spawn(command, args, {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    stdio: ['pipe', program === 'pg_restore' ? 'pipe' : 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text))
  // A program that ends before it has read everything is reported by its exit.
  child.stdin?.on('error', () => undefined)
  if (program !== 'psql') child.stdin?.end()
  const done = ended(child, program, () => said)
  done.catch(() => undefined)
  return { child, done }
}

async function ended(child: ChildProcess, program: Program, said: () => string): Promise<void> {
  const [code] = (await once(child, 'close').catch((cause: unknown) => {
    throw new ConfigError(
      `${program} cannot be started (${(cause as NodeJS.ErrnoException).code ?? String(cause)}). Install ` +
        "PostgreSQL's client programs, of the server's version or newer, or name their folder with " +
        '--postgres-programs',
      { cause },
    )
  })) as [number | null]
  if (code === 0) return
  const lines = said().trim().split('\n').slice(0, SHOWN)
  throw new ConfigError(`${program} failed: ${lines.join('; ')}`)
}
