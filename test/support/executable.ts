/**
 * The single executable in an empty root: nothing is there but the libraries that it links, and a folder for its data.
 */
import type { ChildProcess } from 'node:child_process'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { ROOT } from '../arch/source.ts'
import type { Ran } from './backups.ts'
import type { Env } from './daemon.ts'

const exec = promisify(execFile)

/** Changes the root, as root or in a namespace where this user is root. */
const CHROOT: readonly [string, ...string[]] =
  process.getuid?.() === 0
    ? ['/usr/sbin/chroot']
    : ['/usr/bin/unshare', '--user', '--map-root-user', '/usr/sbin/chroot']

export interface RunningExecutable {
  readonly url: string
  readonly child: ChildProcess
  output(): string
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>
}

/** A root with the executable. Paths of its files are seen from outside. */
export interface EmptyRoot {
  readonly folder: string
  /** Names of the libraries in it. */
  readonly libraries: readonly string[]
  serve(env: Env): Promise<RunningExecutable>
  run(args: readonly string[], env: Env, input?: string): Promise<Ran>
  remove(): Promise<void>
}

/** Builds the executable of what was compiled, and returns what the build printed. */
export async function buildExecutable(output: string): Promise<string> {
  const program = join(ROOT, 'dist/daemon/executable/build.js')
  const { stdout } = await exec(process.execPath, [program, '--output', output], { cwd: ROOT })
  return stdout
}

export async function makeEmptyRoot(executable: string): Promise<EmptyRoot> {
  const folder = await mkdtemp(join(tmpdir(), 'keyhook-root-'))
  const { stdout } = await exec('ldd', [executable])
  const libraries = [...stdout.matchAll(/(\/\S+)/g)].map(([, path = '']) => path)
  for (const path of libraries) {
    await mkdir(join(folder, dirname(path)), { recursive: true })
    await copyFile(path, join(folder, path))
  }
  await copyFile(executable, join(folder, 'keyhook'))
  await mkdir(join(folder, 'data'))
  const commandOf = (args: readonly string[]): readonly [string, ...string[]] => [
    ...CHROOT,
    folder,
    '/keyhook',
    ...args,
  ]
  return {
    folder,
    libraries: libraries.map((path) => basename(path)).toSorted(),
    serve: (env) => serve(commandOf(['serve', '--dev']), env),
    async run(args, env, input = '') {
      const [command, ...rest] = commandOf(args)
      return new Promise((resolve) => {
        const child = execFile(command, rest, { env }, (failed, out, err) => {
          resolve({ code: failed === null ? 0 : Number(failed.code ?? 1), out, err })
        })
        child.stdin?.end(input)
      })
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

async function serve(
  [command, ...args]: readonly [string, ...string[]],
  env: Env,
): Promise<RunningExecutable> {
  const all = { KEYHOOK_PORT: '0', KEYHOOK_APPS_PORT: '0', ...env }
  const child = spawn(command, args, { env: all, stdio: ['ignore', 'pipe', 'pipe'] })
  const lines: string[] = []
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stderr).on('line', (line) => lines.push(line))
    createInterface(child.stdout).on('line', (line) => {
      lines.push(line)
      const [found] = /http:\/\/[\w.-]+:\d+/.exec(line) ?? []
      if (found !== undefined) resolve(found)
    })
    child.once('exit', (code) => {
      reject(new Error(`the executable ended with ${String(code)}: ${lines.join('\n')}`))
    })
  })
  return {
    url,
    child,
    output: () => lines.join('\n'),
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
      const exited = once(child, 'exit') as Promise<[number | null]>
      child.kill(signal)
      return (await exited)[0]
    },
  }
}
