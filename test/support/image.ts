/** The container image, built by buildah and run without a container runtime: `--isolation chroot` needs no cgroups. */
import type { ChildProcess } from 'node:child_process'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { ROOT } from '../arch/source.ts'
import type { Ran } from './backups.ts'
import type { Env } from './daemon.ts'
import { buildExecutable } from './executable.ts'

const exec = promisify(execFile)

export interface RunningImage {
  readonly child: ChildProcess
  output(): string
  /** Sends a signal to the daemon itself, and resolves with the exit code. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>
}

export interface Image {
  /** The files of a container of it, seen from outside. */
  readonly root: string
  /** As `docker inspect` shows it. */
  readonly config: ImageConfig
  /** The volume, seen from outside; it is there once something ran. */
  volume(): Promise<string>
  serve(env: Env): Promise<RunningImage>
  /** Serves with a root that cannot be written to. */
  serveReadOnly(env: Env): Promise<RunningImage>
  run(command: readonly string[], env?: Env): Promise<Ran>
  remove(): Promise<void>
}

interface ImageConfig {
  readonly User: string
  readonly Volumes: object
  readonly Entrypoint: readonly string[]
  readonly Cmd: readonly string[]
  readonly Env: readonly string[]
  readonly Labels: Readonly<Record<string, string>>
  readonly Healthcheck: { readonly Test: readonly string[] }
}

const NAME = 'keyhook-test'

/** $0 is the root, $1 the volume. The names of hosts are mounted, as every runtime does. */
const READ_ONLY =
  'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && mount --bind "$1" "$0/data" && ' +
  'mount --bind /etc/hosts "$0/etc/hosts" && ' +
  'exec chroot --userspec=65532:65532 "$0" /keyhook serve'

/** Builds the executable, the context, and the image of it. */
export async function buildImage(): Promise<Image> {
  const folder = await mkdtemp(join(tmpdir(), 'keyhook-image-'))
  // A storage of its own, so that nothing of this machine's is used, or left there.
  const storage = join(folder, 'storage')
  const places = ['--root', storage, '--runroot', join(folder, 'run')]
  const buildah = ['--storage-driver', 'vfs', ...places]
  const call = async (...args: readonly string[]): Promise<string> =>
    (await exec('buildah', [...buildah, ...args])).stdout.trim()
  const context = await layOut(folder)
  // The form of Docker: that of OCI has no health checks.
  const chosen = ['--format', 'docker', '--isolation', 'chroot', '--pull-never']
  await call('build', ...chosen, '--build-arg', 'VERSION=1.2.3', '--tag', NAME, context)
  await rm(context, { recursive: true })
  const inspected = await call('inspect', '--type', 'image', NAME)
  const { Docker } = JSON.parse(inspected) as { readonly Docker: { readonly config: ImageConfig } }
  await call('from', '--pull-never', '--name', NAME, NAME)
  const root = await call('mount', NAME)
  const commandOf = (command: readonly string[], env: Env): readonly string[] =>
    buildah.concat(
      ['run', '--isolation', 'chroot'],
      Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
      [NAME, '--', ...command],
    )
  const volume = async (): Promise<string> => {
    const names = await readdir(storage, { recursive: true })
    const found = names.find((name) => /\/buildah-volumes\/\w+$/.test(name))
    return join(storage, found ?? 'no volume')
  }
  return {
    root,
    config: Docker.config,
    volume,
    serve: (env) => serve(spawn('buildah', commandOf(['/keyhook', 'serve'], env)), volume),
    async serveReadOnly(env) {
      const own = Object.fromEntries(Docker.config.Env.map((one) => one.split(/=(.*)/, 2)))
      const args = ['--mount', 'sh', '-c', READ_ONLY, root, await volume()]
      return serve(spawn('unshare', args, { env: { ...own, ...env } }), volume)
    },
    run: (command, env = {}) =>
      new Promise((resolve) => {
        execFile('buildah', commandOf(command, env), (failed, out, err) => {
          resolve({ code: failed === null ? 0 : Number(failed.code ?? 1), out, err })
        })
      }),
    async remove() {
      await call('rm', NAME)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function layOut(folder: string): Promise<string> {
  const executable = join(folder, 'keyhook')
  const context = join(folder, 'context')
  await buildExecutable(executable)
  const program = join(ROOT, 'dist/daemon/executable/image.js')
  await exec(process.execPath, [program, '--executable', executable, '--output', context])
  await rm(executable)
  return context
}

/** Waits until the daemon says where it listens. */
async function serve(child: ChildProcess, volume: () => Promise<string>): Promise<RunningImage> {
  const lines: string[] = []
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue
      createInterface(stream).on('line', (line) => {
        lines.push(line)
        if (line.startsWith('Keyhook serves')) resolve()
      })
    }
    child.once('exit', (code) => {
      reject(new Error(`the image ended with ${String(code)}: ${lines.join('\n')}`))
    })
  })
  return {
    child,
    output: () => lines.join('\n'),
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
      const exited = once(child, 'exit') as Promise<[number | null]>
      // buildah does not pass signals on.
      const [pid] = (await readFile(join(await volume(), 'lock.pid'), 'utf8')).split(' ')
      process.kill(Number(pid), signal)
      return (await exited)[0]
    },
  }
}
